"""A program that calls at random and keeps count of who started whose body; the trace has to say the same."""
import json
from collections import Counter

import pytest

import lextrace_tools as tools


@pytest.mark.parametrize("options", [[], ["--c-calls"]], ids=["python", "c-calls"])
@pytest.mark.parametrize("seed", range(4))
def test_random_calls(trace, seed, options):
    path = trace.tmp_path / "pairs"
    result = trace("random_calls.py", args=[seed, path], options=options, compare=seed == 0 and not options)
    assert result.outcome() == (0, "", "")
    wanted = {(parent, child): count for parent, child, count in json.loads(path.read_text())}
    found = Counter()
    for one in tools.slices(result.run.main)[0]:
        if one.opened == "python:function_begin" and (one.file.endswith("random_calls.py") or one.name == "fresh"):
            # The caller is the next Python function: C calls lie between.
            parent = one.parent
            while parent and parent.opened == "python:c_call_begin":
                parent = parent.parent
            found[parent.name if parent else None, one.name] += 1
    ignored = {"<module>", "main", "work", "State.__init__", "State.started", "State.pick"}
    found = {pair: count for pair, count in found.items() if pair[1] not in ignored and "<" not in pair[1].replace("<locals>", "")
             and pair[1] not in ("Trouble", "State", "Thing")}
    wanted = {pair: count for pair, count in wanted.items() if "<" not in pair[1].replace("<locals>", "")}
    assert found == wanted
    assert tools.balance(result.run) == {}
