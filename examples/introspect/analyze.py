#!/usr/bin/env python3
"""analyze.py CHUNK PID CONFIGURATION: run by INTROSPECT while the program pauses.

Finds the functions that take the most time of their own, writes a configuration that records one call in ten of them
and nothing else, and lets the program go on with it.
"""
import json
import os
import signal
import subprocess
import sys

SHARE = 0.10  # of the time, from which on a function is hot

RULES = """\
# Written by analyze.py from {chunk}

[Python.default]
    pysysmon_c_start  = off
    pysysmon_c_return = off

[Lexgion(Python).default]
    max_num_traces = 0
"""

RULE = """
# {share:.0%} of the time, {calls} calls
[Lexgion(Python:{file}:{name})]
    tracing_rate = 10
"""


def hot_functions(chunk):
    """The functions above SHARE, hottest first, as `lextrace report --json` describes them."""
    done = subprocess.run(["lextrace", "report", "--json", chunk], stdout=subprocess.PIPE, check=True)
    functions = json.loads(done.stdout)["functions"]
    whole = sum(one["self_ns"] for one in functions)
    return [(one, one["self_ns"] / whole) for one in functions if one["self_ns"] > SHARE * whole]


def rules(chunk, hot):
    return RULES.format(chunk=chunk) + "".join(
        RULE.format(share=share, calls=one["calls"], file=os.path.basename(one["file"]), name=one["name"])
        for one, share in hot)


def replace(path, text):
    """The file changes at once: who reads it sees the old text or the new one, never a part."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main(chunk, pid, configuration):
    hot = hot_functions(chunk)
    for one, share in hot:
        print(f"{share:6.1%}  {one['name']}")
    replace(configuration, rules(chunk, hot))
    os.kill(int(pid), signal.SIGUSR1)


if __name__ == "__main__":
    main(*sys.argv[1:])
