"""The rows on annotations: lextrace's own face, the package `dftracer` on it, and DFTracer itself, in one run."""
import json
import shutil

import contest
from rows import Row, package

ROUNDS = {"lextrace": 300_000, "drop-in": 300_000, "dftracer": 20_000}
GOALS = {True: 250, False: 40}
FORMS = ("decorated function", "decorated function, one argument", "decorated method, one argument", "region")
ONLY = "[Python.default]\ntrace_mode = OFF\n"


def run(runner, bench, contestant, recorded):
    """The figures of one contestant; the package dftracer of the environment is DFTracer, that of `package` is ours."""
    keep = runner.work / "annotated"
    config = runner.work / "annotations-only.conf"
    config.write_text(ONLY)
    ours = None if contestant == "dftracer" else str(package(runner, "dftracer" if contestant == "drop-in" else None))
    outcome = runner.run([bench.python, contest.script("annotated"), "lextrace" if contestant == "lextrace" else "dftracer",
                          "1" if recorded else "0", "{out}/trace", str(round(ROUNDS[contestant] * runner.scale))],
                         keep=keep, floor=ours, more={"ANNOTATIONS_ONLY": str(config)})
    if outcome.status:
        raise SystemExit("bench: annotated.py failed, see %s" % (runner.work / "log"))
    found = json.loads((keep / "result").read_text())
    shutil.rmtree(keep)
    return found


def annotations(runner, bench):
    """Added to a call, recorded and switched off; and the end of the program, with its .pfw.gz where there is one."""
    for recorded in (True, False):
        found = {contestant: run(runner, bench, contestant, recorded) for contestant in ROUNDS}
        for form in FORMS:
            for contestant in ("lextrace", "drop-in"):
                value = found[contestant][form]
                goal = None if form == "region" and not recorded else GOALS[recorded]
                yield Row(bench.minor, "%s%s, %s" % (form, "" if contestant == "lextrace" else " (dftracer's API)",
                                                     "recorded" if recorded else "not recording"), "ns", value,
                          "<= %d ns" % goal if goal else "", value <= goal if goal else None,
                          peers={"DFTracer 2.2.0": found["dftracer"][form]})
        if recorded:
            for contestant in ("lextrace", "drop-in"):
                yield Row(bench.minor, "%d spans: end of recording%s" % (
                    found[contestant]["spans"], "" if contestant == "lextrace" else ", to a .pfw.gz"), "us a span",
                          1e6 * found[contestant]["end"] / found[contestant]["spans"], "<= 0.5" if contestant != "lextrace" else "",
                          1e6 * found[contestant]["end"] / found[contestant]["spans"] <= 0.5 if contestant != "lextrace" else None,
                          peers={"DFTracer 2.2.0": 1e6 * found["dftracer"]["end"] / found["dftracer"]["spans"]})
