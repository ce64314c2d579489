"""The programs in examples/ do what their pages say."""
import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import lextrace_tools as tools

INTROSPECT = tools.ROOT / "examples" / "introspect"
STEPS, BODIES, LOOK = 400, 12, 20
ALL = {"World.step": STEPS, "World.attract": STEPS * BODIES, "Body.move": STEPS * BODIES,
       "distance": STEPS * BODIES * (BODIES - 1)}


def reported(folder, env):
    done = tools.lextrace("report", "--json", "--top", "0", folder, env=env)
    assert done.returncode == 0, done.said
    counts = Counter()
    for one in json.loads(done.stdout)["functions"]:
        counts[one["name"]] += one["calls"]
    return counts


def test_introspect(trace, tmp_path):
    """The program pauses after 20 steps, analyze.py tightens its configuration, and one hot call in ten is recorded."""
    place = tmp_path / "introspect"
    shutil.copytree(INTROSPECT, place, ignore=shutil.ignore_patterns("trace.conf*", "lextrace-*", "__pycache__"))
    shutil.copy(place / "first.conf", place / "trace.conf")
    env = tools.clean_environment(PATH="%s:%s" % (Path(tools.lextrace_binary()).parent, os.environ["PATH"]))
    result = trace(place / "simulate.py", [STEPS], options=["-c", "trace.conf"], cwd=place, env=env, timeout=120)
    assert (result.returncode, result.stderr) == (0, "") and result.stdout.startswith("%d steps" % STEPS)

    side = result.run.main.folder / "lextrace"
    assert len(result.run.processes) == 1, "analyze.py is not traced"
    first = reported(next((side / "chunks").iterdir()), env)
    share = LOOK / STEPS
    assert {name: first[name] for name in ALL} == {name: count * share for name, count in ALL.items()}

    hot = set(re.findall(r"^\[Lexgion\(Python:simulate\.py:(.*)\)\]$", (place / "trace.conf").read_text(), re.M))
    assert hot & set(ALL) and set(ALL) - hot, "some are hot and some are not: %s" % hot
    assert hot == {line.split(None, 1)[1] for line in (side / "introspect.log").read_text().splitlines()}

    whole = reported(result.folder, env)
    for name in ALL:
        after = (ALL[name] - first[name]) // 10 if name in hot else 0
        assert whole[name] - first[name] == after, name
    assert {name for name in whole if whole[name] > first[name]} <= hot
    assert tools.balance(result.run) == {}
