"""Random programs under random windows: what is recorded is, in order, what a model of the rules admits."""
import json
import random
from collections import Counter

import lextrace_tools as tools
import pytest
from config_tools import run_config, window

FUNCTIONS, GENERATORS = range(5), range(3)
HEAD = """
import json, random, threading
class Oops(Exception): pass
log, pool, numbers = [], [], iter(range(1, 10 ** 9))
def note(what, name, number): log.append((what, name, threading.current_thread().name, number))
def maybe(r): return 0 <= r.random() < 0.15
def act(r, depth):
    try:
        kind = r.randrange(8)
        if kind < 4:
            functions[r.randrange(len(functions))](r, depth)
        elif kind < 6:
            for _ in generators[r.randrange(len(generators))](r, depth):
                if depth < 5 and maybe(r): act(r, depth + 1)
        elif kind == 6:
            one = generators[r.randrange(len(generators))](r, depth)
            if next(one, None): pool.append(one)
        elif pool:
            one = pool.pop()
            if next(one, None): pool.append(one)
    except Oops:
        if r.random() < 0.5: raise
def work(number):
    r = random.Random(SEED * 100 + number)
    for _ in range(40):
        try: act(r, 0)
        except Oops: pass
"""
FUNCTION = """
def f%d(r, depth):
    number = next(numbers)
    note("begin", "f%d", number)
    try:
        for _ in range(r.randrange(3)):
            if depth < 5: act(r, depth + 1)
        if maybe(r): raise Oops
        if r.random() < 0.5: return 1
        return 2
    finally:
        note("end", "f%d", number)
"""
GENERATOR = """
def g%d(r, depth):
    number = next(numbers)
    note("begin", "g%d", number)
    try:
        for _ in range(r.randrange(4)):
            note("end", "g%d", number)
            try: yield 1
            finally: note("begin", "g%d", -number)
            if depth < 5 and maybe(r): act(r, depth + 1)
        if maybe(r): raise Oops
    finally:
        note("end", "g%d", number)
"""
TAIL = """
functions, generators = [f0, f1, f2, f3, f4], [g0, g1, g2]
threads = [threading.Thread(target=work, args=(number,), name="T%d" % number) for number in range(1, 4)]
if TOGETHER:
    for thread in threads: thread.start()
    for thread in threads: thread.join()
else:
    for thread in threads: thread.start(); thread.join()
threading.current_thread().name = "T0"
work(0)
while pool: pool.pop().close()
print(json.dumps(log))
"""


def configuration(r, names):
    """A text, and what it means: {name: (start, most, rate, threads)}."""
    def numbers():
        return r.choice([0, 0, 1, 7]), r.choice([-1, 0, 1, 2, 5, 20]), r.choice([1, 1, 2, 3])

    text = "[Python.default]\npysysmon_c_start = off\npysysmon_c_return = off\n"
    rules = {}
    default = numbers()
    text += "[Lexgion(Python).default]\ntrace_starts_at = %d\nmax_num_traces = %d\ntracing_rate = %d\n" % default
    for name in names:
        kind = r.randrange(4)
        rules[name] = (*default, range(4))
        if kind:
            own, threads = numbers(), range(4) if kind < 3 else r.choice([[0], [1, 2], [3], [0, 1, 3]])
            tail = "" if kind < 3 else " : Python.default : Python.thread(%s)" % ",".join(map(str, threads))
            text += "[Lexgion(Python:%s)]%s\ntrace_starts_at = %d\nmax_num_traces = %d\ntracing_rate = %d\n" % (name, tail, *own)
            rules[name] = (*own, threads)
    return text, rules


def model(log, rules):
    """The begins and ends of admitted calls: {thread: [(what, name)]}."""
    calls, admitted, expected = Counter(), set(), {}
    for what, name, thread, number in log:
        start, most, rate, threads = rules[name]
        if what == "begin" and number >= 0 and int(thread[1:]) in threads:
            calls[name, thread] += 1
            if window(calls[name, thread], start, most, rate) > window(calls[name, thread] - 1, start, most, rate):
                admitted.add(number)
        if abs(number) in admitted:
            expected.setdefault(int(thread[1:]), []).append((what, name))
    return expected


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(trace, seed):
    r = random.Random(seed)
    names = ["f%d" % i for i in FUNCTIONS] + ["g%d" % i for i in GENERATORS]
    text, rules = configuration(r, names)
    program = HEAD + "".join(FUNCTION.replace("%d", str(i)) for i in FUNCTIONS) + \
        "".join(GENERATOR.replace("%d", str(i)) for i in GENERATORS) + TAIL
    program = program.replace("SEED", str(seed)).replace("TOGETHER", str(seed % 2))
    result = run_config(trace, text, trace.program(program))
    roles = {"begin": "begin", "resume": "begin", "end": "end", "yield": "end", "unwind": "end"}
    process, found = result.run.main, {}
    for thread, packets in process.by_thread().items():
        for event in (event for packet in packets for event in tools.packet_events(packet)):
            name = process.lexgion(event.value).name
            if name in rules:
                found.setdefault(thread, []).append((roles[tools.KINDS[event.kind].rpartition("_")[2]], name))
    expected = model(json.loads(result.stdout), rules)
    for thread in range(4):
        assert found.get(thread) == expected.get(thread), (thread, text)
