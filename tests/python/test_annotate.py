"""Annotations: decorated functions of all kinds, regions, arguments, moments, counters, steps; alone and under a trace."""
import json
import math
import os
import subprocess

import lextrace_tools as tools
import pytest

HEAD = """
import asyncio, contextlib, functools, inspect, json, os, pickle, sys, threading, types, weakref
import lextrace
from lextrace import fn, region, update
"""
ALONE = """
from lextrace import _core
_core.start(annotations=True, run=os.fsencode(sys.argv[1]), program=b"app", executable=b"x", python=b"3", argv=b"app")
"""


def values(event):
    """What a long event says, as Python has it."""
    if tools.KINDS[event.kind] in ("user:arg_text", "user:metadata"):
        try:
            text = event.more.bytes.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = event.more.bytes.decode("utf-8", "surrogateescape")
        return text if tools.FORMS[event.more.form] == "string" else json.loads(text)
    return event.more


class Spans:
    """The regions of a process, call by call, read from its events: {name: [call]}; each call is a dict."""

    def __init__(self, process):
        self.process = process
        self.calls, self.told, self.open_at_end = {}, [], []
        for packets in process.by_thread().values():
            self._thread([event for packet in packets for event in tools.packet_events(packet)])

    def name(self, event):
        return self.process.lexgion(event.value).name

    def _thread(self, events):
        stack, runs, waiting, target, left, text = [], {}, {}, None, 0, ""

        def told_of(call):
            """A slice that has no number is that of the call of its name which waits since last."""
            return waiting[call["name"]].pop() if call.get("resumes") else call

        for event in events:
            kind = tools.KINDS[event.kind].partition(":")
            role = tools.ROLES[event.kind]
            if kind[0] != "user":
                continue
            if role == "BEGIN":
                call = {"name": self.name(event), "args": {}, "slices": 1, "unwound": False, "depth": len(stack),
                        "ticks": [event.ticks], "lexgion": self.process.lexgion(event.value), "run": None}
                self.calls.setdefault(call["name"], []).append(call)
                stack.append(call)
            elif role == "RESUME":
                stack.append({"name": self.name(event), "resumes": True, "ticks": [event.ticks]})
            elif kind[2] == "region_run":
                if stack[-1].get("resumes"):
                    number = event.more
                    stack[-1] = runs.pop(number) if number in runs else told_of(stack[-1])
                    stack[-1]["slices"] += 1
                stack[-1]["run"] = event.more
            elif role in ("END", "UNWIND", "SUSPEND"):
                call = told_of(stack.pop())
                assert call["name"] == self.name(event), (call, event)
                call["ticks"].append(event.ticks)
                if role == "SUSPEND" and call["run"]:
                    runs[call["run"]] = call
                elif role == "SUSPEND":
                    waiting.setdefault(call["name"], []).append(call)
                else:
                    call["unwound"] = role == "UNWIND"
            elif kind[2] in ("span", "point", "counter", "metadata"):
                more = values(event)
                one = {"what": kind[2], "name": self.name(event), "value": more, "args": {}}
                self.told.append(one)
                target, left = one["args"], more[2] if kind[2] == "span" else more if kind[2] == "point" else 0
            else:
                if kind[2] == "arg_text" and event.more.more:
                    text += event.more.bytes.decode()
                    continue
                value = text + values(event) if text else values(event)
                text = ""
                if left:
                    left -= 1
                    target[self.name(event)] = value
                else:
                    stack[-1] = told_of(stack[-1])
                    stack[-1]["args"][self.name(event)] = value
        self.open_at_end += stack

    def args(self, name):
        return [call["args"] for call in self.calls[name]]

    def count(self):
        return {name: len(calls) for name, calls in self.calls.items()}


class Outcome:
    def __init__(self, done, folder):
        self.stdout, self.stderr, self.returncode = done.stdout, done.stderr, done.returncode
        self.run = tools.Run(folder)
        self.spans = Spans(self.run.main)


@pytest.fixture(params=["alone", "traced"])
def annotated(request, tmp_path, trace):
    """Runs a program: with its annotations alone recorded, and under `lextrace run`."""
    def run(program, status=0):
        text = HEAD + (ALONE if request.param == "alone" else "") + "\n" + program
        environment = {"PYTHONPATH": tools.package_parent()}
        if request.param == "traced":
            result = trace(trace.program(text), env=dict(os.environ, **environment))
            assert result.returncode == status, result.stderr
            return Outcome(result, result.folder)
        path = tmp_path / "app.py"
        path.write_text(text)
        folder = tmp_path / "run"
        done = subprocess.run([tools.PYTHON, path, folder], capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, **environment))
        assert done.returncode == status, done.stderr
        return Outcome(done, folder)
    return run


# ---- What a decorated function is ----

def test_a_decorated_function_is_the_function(annotated):
    result = annotated('''
@fn(cat="IO", comp="io", args=["path"])
def load(path: str, size: int = 3, *, deep=False) -> bytes:
    """Loads."""
    return path * size
load.own = 1
assert load("a") == "aaa" and load(path="b", size=1, deep=True) == "b"
assert (load.__name__, load.__qualname__, load.__doc__, load.__module__) == ("load", "load", "Loads.", "__main__")
assert str(inspect.signature(load)) == "(path: str, size: int = 3, *, deep=False) -> bytes"
assert load.__annotations__ == {"path": str, "size": int, "return": bytes}
assert load.__defaults__ == (3,) and load.__kwdefaults__ == {"deep": False} and load.__code__.co_name == "load"
assert load.__wrapped__("x", 1) == "x" and load.own == 1 and inspect.unwrap(load) is load.__wrapped__
assert pickle.loads(pickle.dumps(load)) is load and weakref.ref(load)() is load and callable(load)
assert inspect.getsourcelines(load)[1] == inspect.getsourcelines(load.__wrapped__)[1] and inspect.isroutine(load)
assert inspect.getsource(load).startswith("@fn") and inspect.isfunction(load) and isinstance(load, types.FunctionType)
assert functools.wraps(load)(lambda: 0).own == 1 and load.__dict__["own"] == 1
assert functools.partial(load, "p")(2) == "pp" and list(map(load, "ab", [1, 2])) == ["a", "bb"]
load.__defaults__ = (1,)
assert load("z") == "z"
import copy
assert copy.copy(load) is load and copy.deepcopy(load) is load
try: load()
except TypeError as error: assert "load() missing 1 required positional argument: 'path'" in str(error), error
else: assert False
''')
    calls = result.spans.calls["IO/load"]
    assert [call["args"] for call in calls] == [{"path": each} for each in ("a", "b", "p", "a", "b", "z")] + [{}]
    assert [call["unwound"] for call in calls] == [False] * 6 + [True]
    lexgion = calls[0]["lexgion"]
    assert lexgion.file.endswith("app.py") and lexgion.line > 0
    assert lexgion.flags >> 8 & 15 == 1 and lexgion.flags >> 16 == len("IO")


def test_kinds_of_functions(annotated):
    annotated('''
@fn
async def coroutine(): pass
@fn
def generator(): yield
@fn
async def async_generator(): yield
@fn
def plain(): pass
one = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction, asyncio.iscoroutinefunction)
assert [[test(function) for test in one] for function in (coroutine, generator, async_generator, plain)] == [
    [True, False, False, True], [False, True, False, False], [False, False, True, False], [False] * 4]
made = coroutine(), generator(), async_generator()
assert inspect.iscoroutine(made[0]) and inspect.isawaitable(made[0]) and asyncio.iscoroutine(made[0])
assert inspect.isgenerator(made[1]) and inspect.isasyncgen(made[2])
from collections.abc import AsyncGenerator, Coroutine, Generator
assert isinstance(made[0], Coroutine) and isinstance(made[1], Generator) and isinstance(made[2], AsyncGenerator)
assert inspect.getcoroutinestate(made[0]) == "CORO_CREATED" and inspect.getgeneratorstate(made[1]) == "GEN_CREATED"
assert made[1].gi_code.co_name == "generator" and repr(made[1]).startswith("<generator object generator")
made[0].close()
''')


def test_methods_and_what_else_stands_in_a_class(annotated):
    result = annotated('''
class Loader:
    def __init__(self, n): self.n = n
    @fn(cat="K", args=["z"])
    def method(self, z): return self.n + z
    @fn(cat="K")
    @staticmethod
    def static(x): return x
    @staticmethod
    @fn(cat="K")
    def static2(x): return x
    @fn(cat="K")
    @classmethod
    def klass(cls, x): return cls.__name__, x
    @classmethod
    @fn(cat="K")
    def klass2(cls, x): return cls.__name__, x
    @fn(cat="K")
    @property
    def prop(self): return self.n
    @prop.setter
    def prop(self, n): self.n = n
    @property
    @fn(cat="K")
    def prop2(self): return self.n
    @fn(cat="K")
    @functools.cached_property
    def lazy(self): return [self.n]
    @fn(cat="K")
    @functools.lru_cache
    def cached(self): return 5
    @functools.lru_cache
    @fn(cat="K")
    def cached2(self): return 6
    @fn(cat="K")
    def __enter__(self): return self
    @fn(cat="K")
    def __exit__(self, *exception): return True
    @fn(cat="K")
    def __len__(self): return 7
    piece = fn(functools.partial(max, 3), cat="K", name="piece")
    part = fn(functools.partialmethod(method, 10), cat="K", name="part")
class Child(Loader):
    @fn(cat="K")
    def method(self, z): return super().method(z) * 2
loader = Loader(3)
assert loader.method(4) == 7 and Loader.method(loader, 1) == 4 and loader.static(1) == Loader.static(2) - 1 == 1
assert loader.static2(3) == 3 and loader.klass(1) == ("Loader", 1) and Child.klass2(2) == ("Child", 2)
assert loader.prop == 3 == loader.prop2
loader.prop = 4
assert loader.prop == 4 and loader.lazy is loader.lazy
assert loader.cached() == 5 and loader.cached() == 5 and loader.cached.cache_info().hits == 1
assert loader.cached2() == 6 and loader.cached2() == 6
with loader: 1 / 0
assert len(loader) == 7 and Child(1).method(1) == 4 and loader.piece(9) == 9 and loader.part() == 14
bound = loader.method
assert bound.__self__ is loader and bound.__func__ is Loader.__dict__["method"] and bound(0) == 4
assert str(inspect.signature(bound)) == "(z)"
''')
    assert result.spans.count() == {
        "K/Loader.method": 5, "K/part": 1, "K/Child.method": 1, "K/Loader.static": 2, "K/Loader.static2": 1, "K/Loader.klass": 1,
        "K/Loader.klass2": 1, "K/Loader.prop": 2, "K/Loader.prop2": 1, "K/Loader.lazy": 1, "K/Loader.cached": 2,
        "K/Loader.cached2": 1, "K/Loader.__enter__": 1, "K/Loader.__exit__": 1, "K/Loader.__len__": 1, "K/piece": 1}
    assert result.spans.args("K/Loader.method") == [{"z": 4}, {"z": 1}, {"z": 1}, {"z": 10}, {"z": 0}]


def test_classes_stay_classes(annotated):
    result = annotated('''
import dataclasses
@fn(cat="C", args=["n"])
class Plain:
    def __init__(self, n, m=2): self.n = n
@fn(cat="C")
@dataclasses.dataclass
class Data:
    a: int
@fn(cat="C")
class Empty: pass
@fn(cat="C")
class New:
    def __new__(cls, n):
        self = super().__new__(cls)
        self.n = n
        return self
class Child(Plain): pass
class Other:
    def __init__(self, v): self.v = v
@fn(cat="C")
class Mixin: pass
class Both(Mixin, Other): pass
assert Both(5).v == 5
@dataclasses.dataclass(slots=True, frozen=True)
@fn(cat="C")
class Late: x: int
assert Late(1).x == 1
class Base:
    def __init_subclass__(cls, tag=None): cls.tag = tag
class Own(Base):
    @fn(cat="C")
    def __init_subclass__(cls, **more): super().__init_subclass__(**more)
    @fn(cat="C")
    def __class_getitem__(cls, item): return item
class Tagged(Own, tag="t"): pass
assert Tagged.tag == "t" and Own[3] == 3
assert isinstance(Plain(1), Plain) and Child(n=2).n == 2 and issubclass(Child, Plain)
assert Data(3) == Data(3) and isinstance(Empty(), Empty) and New(4).n == 4
class Calls:
    @fn(cat="C")
    def __call__(self, x): return x
assert Calls()(5) == 5
class Thing:
    def __call__(self, x): return x + 1
thing = fn(Thing(), cat="C", name="thing")
assert thing(1) == 2
try: Empty(1)
except TypeError: pass
else: assert False
try: fn(5)
except TypeError as error: assert "int" in str(error)
else: assert False
''')
    assert result.spans.count() == {"C/Plain": 2, "C/Data": 2, "C/New": 1, "C/Own.__init_subclass__": 1, "C/Own.__class_getitem__": 1,
                                    "C/Calls.__call__": 1, "C/thing": 1}
    assert result.spans.args("C/Plain") == [{"n": 1}, {"n": 2}]


# ---- Runs ----

def test_generators(annotated):
    result = annotated('''
seen = []
@fn(cat="G", args=["n"])
def numbers(n):
    try:
        for i in range(n):
            got = yield i
            seen.append(got)
        return "end"
    except KeyError:
        yield "caught"
    finally:
        seen.append("finally")
def outer():
    return (yield from numbers(2))
assert list(numbers(3)) == [0, 1, 2]
g = outer(); assert next(g) == 0 and g.send("x") == 1
try: next(g)
except StopIteration as stop: assert stop.value == "end"
else: assert False
g = numbers(5); assert next(g) == 0 and g.throw(KeyError()) == "caught"; g.close(); g.close()
g = numbers(6); next(g)
try: g.throw(ValueError("v"))
except ValueError: pass
g = numbers(7); next(g); del g
g = numbers(8); g.close()
g = numbers(8)
for wrong in (lambda: g.send(5), lambda: g.throw(OSError())):
    try: wrong()
    except (TypeError, OSError): pass
    else: assert False
g = numbers(9)
import gc; gc.collect()
a, b = numbers(2), numbers(2)
assert [next(a), next(b), next(a), next(b)] == [0, 0, 1, 1]
a.close(), b.close()
@fn(cat="G")
@contextlib.contextmanager
def managed(): yield 1
with managed(): pass
@contextlib.contextmanager
@fn(cat="G")
def managed2():
    with region("G", "inside"): yield 1
with managed2(): pass
try:
    with managed2(): raise OSError
except OSError: pass
assert seen.count("finally") == 7, seen
''')
    runs = result.spans.calls["G/numbers"]
    assert [call["args"]["n"] for call in runs] == [3, 2, 5, 6, 7, 2, 2]
    assert [call["slices"] for call in runs] == [4, 3, 3, 2, 2, 3, 3]
    assert [call["unwound"] for call in runs] == [False, False, False, True, False, False, False]
    assert result.spans.count()["G/managed2"] == 2 == result.spans.count()["G/inside"]
    assert result.spans.open_at_end == []


def test_coroutines(annotated):
    result = annotated('''
@fn(cat="A", args=["i"])
async def job(i):
    with region("A", "wait"):
        await asyncio.sleep(0.001 * (5 - i))
    update("late", i * 10)
    if i == 3: raise ValueError(i)
    return i
@fn(cat="A")
async def everything():
    got = await asyncio.gather(*[job(i) for i in range(5)], return_exceptions=True)
    assert [each for each in got if not isinstance(each, ValueError)] == [0, 1, 2, 4]
    task = asyncio.create_task(forever())
    await asyncio.sleep(0.002)
    task.cancel()
    try: await task
    except asyncio.CancelledError: pass
    async with asyncio.timeout(5):
        await asyncio.wait_for(job(9 - 9), 1)
@fn(cat="A")
async def forever():
    await asyncio.sleep(1000)
asyncio.run(everything())
''')
    jobs = result.spans.calls["A/job"]
    assert [call["args"] for call in jobs] == [{"i": i, "late": i * 10} for i in (0, 1, 2, 3, 4, 0)]
    assert [call["slices"] for call in jobs] == [2] * 6
    assert [call["unwound"] for call in jobs] == [False, False, False, True, False, False]
    assert len(result.spans.calls["A/wait"]) == 6 and result.spans.calls["A/forever"][0]["unwound"]
    assert result.spans.count()["A/everything"] == 1 and result.spans.open_at_end == []


def test_async_generators(annotated):
    result = annotated('''
@fn(cat="A", args=["n"])
async def numbers(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            got = yield i
            if got: yield got
    except KeyError:
        yield "caught"
@contextlib.asynccontextmanager
@fn(cat="A")
async def managed():
    await asyncio.sleep(0)
    yield 5
async def main():
    assert [i async for i in numbers(3)] == [0, 1, 2]
    g = numbers(4)
    assert await anext(g) == 0 and await g.asend("x") == "x" and await g.athrow(KeyError) == "caught"
    await g.aclose()
    g = numbers(5)
    assert await g.__anext__() == 0
    try: await g.athrow(ValueError)
    except ValueError: pass
    async with managed() as five: assert five == 5
    try:
        async with managed(): raise OSError
    except OSError: pass
    async for i in numbers(6): break
    a, b = numbers(2), numbers(2)
    assert [await anext(a), await anext(b), await anext(a), await anext(b)] == [0, 0, 1, 1]
    assert await anext(a, "over") == "over"
    waits = asyncio.Event()
    @fn(cat="A", name="slow")
    async def slow():
        await waits.wait(); yield 1
        yield 2
    g = slow()
    first = asyncio.create_task(anext(g))
    await asyncio.sleep(0)
    try: await anext(g)
    except RuntimeError: pass
    else: assert False
    waits.set()
    assert await first == 1 and [x async for x in g] == [2]
asyncio.run(main())
''')
    runs = result.spans.calls["A/numbers"]
    assert [call["args"]["n"] for call in runs] == [3, 4, 5, 6, 2, 2]
    assert [call["unwound"] for call in runs[:3]] == [False, False, True]
    assert not result.spans.calls["A/slow"][0]["unwound"] and len(result.spans.calls["A/slow"]) == 1
    assert [call["unwound"] for call in result.spans.calls["A/managed"]] == [False, True]
    assert result.spans.open_at_end == []


def test_regions_of_coroutines_that_take_turns(annotated):
    result = annotated('''
async def job(i):
    with region("T", f"outer{i}"):
        await asyncio.sleep(0.01 * (3 - i))
        with region("T", f"inner{i}"):
            await asyncio.sleep(0.005)
async def main(): await asyncio.gather(*[job(i) for i in range(3)])
asyncio.run(main())
''')
    for i in range(3):
        for name in (f"T/outer{i}", f"T/inner{i}"):
            (call,) = result.spans.calls[name]
            assert not call["unwound"]
    assert result.spans.open_at_end == []


# ---- Values ----

def test_values_of_arguments(annotated):
    result = annotated('''
import enum
class Odd:
    def __str__(self): raise RuntimeError("no")
class Colour(enum.IntEnum): RED = 1
class Index:
    def __index__(self): return 12
everything = {
    "int": 5, "negative": -2**63, "big": 10**40, "huge": -10**6000, "bool": True, "float": 0.1, "nan": float("nan"), "inf": -math.inf,
    "text": "grün ✓ \\U0001f600", "quotes": '"\\\\\\n\\t\\x00\\x7f', "lone": "a\\udc80b", "empty": "", "bytes": b"raw \\xff",
    "none": None, "list": [1, [2, None], "x"], "dict": {"a": (1, 2), "b": {1.5: True}}, "odd": Odd(), "enum": Colour.RED,
    "path": __import__("pathlib").Path("/tmp/x"), "long": "ä" * 100_000, "longer": "x" * 3_000_000, "index": Index(), "": "no name",
    "key \\x00 \\"quoted\\"": 1, "set": {3},
}
with region("V", "all"):
    for key, value in everything.items(): assert update(key, value)
    assert update("int", 6)
assert not update("nobody", 1)
'''.replace("import enum", "import enum, math"))
    args = result.spans.args("V/all")[0]
    assert args["int"] == 6 and args["negative"] == -2**63 and args["big"] == 10**40 and args["bool"] == 1
    assert args["float"] == 0.1 and math.isnan(args["nan"]) and args["inf"] == -math.inf
    assert args["text"] == "grün ✓ \U0001f600" and args["quotes"] == '"\\\n\t\x00\x7f' and args["lone"] == "a\udc80b"
    assert args["empty"] == "" and args["bytes"] == "raw \udcff" and args["none"] is None and args["list"] == [1, [2, None], "x"]
    assert args["dict"] == {"a": [1, 2], "b": {"1.5": True}} and args["odd"] == "<Odd object>" and args["enum"] == 1
    assert args["path"] == "/tmp/x" and args["long"] == "ä" * 100_000 and args["index"] == 12 and args["set"] == "{3}"
    assert len(args["longer"]) == 1 << 20 and args["longer"].endswith("x...") and args[""] == "no name"
    assert args['key \x00 "quoted"'] == 1 and int(args["huge"], 16) == -10**6000


def test_interrupts_in_the_programs_methods_go_on(annotated):
    result = annotated('''
class Stops:
    def __str__(self): raise KeyboardInterrupt
@fn(args=True)
def f(x): pass
with region("a"):
    try: update("x", Stops())
    except KeyboardInterrupt: print("one")
try: f(Stops())
except KeyboardInterrupt: print("two")
@fn(args=True)
def g(x): yield 1
for made in (g(Stops()), g(Stops())):
    try: next(made)
    except KeyboardInterrupt: print("three")
@fn(args=True)
async def c(x): pass
try: asyncio.run(c(Stops()))
except KeyboardInterrupt: print("four")
''')
    assert result.stdout.split() == ["one", "two", "three", "three", "four"]
    assert result.spans.open_at_end == []


def test_reading_arguments_runs_nothing_again(annotated):
    result = annotated('''
@fn(cat="R", args=True)
def shown(o): return "A"
class A:
    def __str__(self): return shown(self) + shown(self)
    @fn(cat="R", args=True)
    def __index__(self): return 1
assert shown(A()) == "A"
from lextrace import _core
class B:
    ran = 0
    @property
    def step(self): B.ran += 1; return method(self)
    def __getattr__(self, name): B.ran += 1; raise AttributeError(name)
    def __init__(self): self.epoch = 7
    __slots__ = ("epoch", "__dict__")
def method(self): return 5
method = _core.decorate(method, "R", "method", "", (), ("epoch", "step", "image_idx"))
assert method(B()) == 5 and B.ran == 0
d = {"a": 1}
class Clears:
    def __str__(self): d.clear(); return "cleared"
class Scope(_core.scope):
    def _begin_arguments(self, cat): self._cat = cat
    def _end_arguments(self): return d
d.update(x=Clears(), y=2, z=3)
with Scope("scoped") as scope:
    scope._own = {}
    with scope: pass
''')
    assert result.spans.args("R/method") == [{"epoch": 7}] and len(result.spans.calls["scoped"]) == 2
    assert not result.spans.open_at_end


def test_moments_counters_spans_and_metadata(annotated):
    result = annotated('''
from lextrace import _core
lextrace.event("written", epoch=3, path="x")
lextrace.event("bare", cat="mine")
lextrace.counter("queue", 17); lextrace.counter("queue", 17.5, cat="q")
begin = _core.now_ns()
with region("S", "around"):
    _core.span("IO", "later", begin - 10**9, 5 * 10**8, {"n": 1, "s": "t", 5: None}, "io")
    update("after", 1)
_core.metadata("version", 3); _core.metadata("who", "me"); _core.metadata("big", 10**30)
for call in (lambda: lextrace.counter("q", "x"), lambda: lextrace.event(5), lambda: update(1, 2), lambda: _core.span("a", "b", "c", 1)):
    try: call()
    except TypeError: pass
    else: assert False
''')
    told = [(one["what"], one["name"], one["args"]) for one in result.spans.told]
    assert told == [("point", "event/written", {"epoch": 3, "path": "x"}), ("point", "mine/bare", {}), ("counter", "counter/queue", {}),
                    ("counter", "q/queue", {}), ("span", "IO/later", {"n": 1, "s": "t", "5": None}), ("metadata", "version", {}),
                    ("metadata", "who", {}), ("metadata", "big", {})]
    assert [one["value"] for one in result.spans.told if one["what"] in ("counter", "metadata")] == [17, 17.5, 3, "me", 10**30]
    assert result.spans.told[4]["value"][1:] == (5 * 10**8, 3) and result.spans.args("S/around") == [{"after": 1}]


def test_steps(annotated):
    result = annotated('''
def work(): pass
def loop():
    for number in lextrace.epoch(range(2)):
        for batch in lextrace.step("abc"):
            work()
            if batch == "b" and number: break
    try:
        for batch in lextrace.step([1, 2], name="failing"): raise OSError
    except OSError: pass
    def broken():
        yield 1
        raise ValueError
    try:
        for _ in lextrace.step(broken(), name="broken"): pass
    except ValueError: pass
    return [x for x in lextrace.step([5, 6], name="list")]
assert loop() == [5, 6]
async def main():
    for x in lextrace.step([1, 2], name="async"): await asyncio.sleep(0.001)
asyncio.run(main())
it = iter(lextrace.step([])); assert list(it) == [] == list(it)
try: lextrace.step(5)
except TypeError: pass
else: assert False
''')
    count = result.spans.count()
    assert count["loop/epoch"] == 2 and count["loop/epoch.fetch"] == 3
    assert result.spans.args("loop/step") == [{"step": i} for i in (1, 2, 3, 1, 2)]
    assert [call["unwound"] for call in result.spans.calls["loop/broken.fetch"]] == [False, True]
    assert count["loop/step.fetch"] == 4 + 2 + 2 and count["loop/failing"] == 1 and count["loop/broken"] == 1
    assert result.spans.args("loop/list") == [{"list": 1}, {"list": 2}] and count["loop/async"] == 2
    assert result.spans.open_at_end == []


# ---- Threads, processes, ends ----

def test_threads_and_recursion(annotated):
    result = annotated('''
@fn(cat="T", args=["n"])
def down(n):
    if n: down(n - 1)
def work():
    for _ in range(200): down(5)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
''')
    assert result.spans.count() == {"T/down": 8 * 200 * 6}
    assert sorted(call["args"]["n"] for call in result.spans.calls["T/down"]) == sorted(list(range(6)) * 1600)


def test_forks(annotated):
    result = annotated('''
@fn(cat="F", args=True)
def f(x): pass
f(1)
if (child := os.fork()) == 0:
    f(2); f(3); os._exit(0)
os.waitpid(child, 0)
f(4)
''')
    assert sorted([args["x"] for args in Spans(process).args("F/f")] for process in result.run.processes) == [[1, 4], [2, 3]]


def test_a_kill_keeps_all(annotated):
    result = annotated('''
@fn(cat="F", args=True)
def f(x): pass
for i in range(50_000): f(i)
with region("F", "open"):
    update("k", "v")
    os.kill(os.getpid(), 9)
''', status=-9)
    assert [args["x"] for args in result.spans.args("F/f")] == list(range(50_000))
    assert [call["args"] for call in result.spans.open_at_end] == [{"k": "v"}]


def test_nothing_is_recorded_without_a_session(tmp_path):
    path = tmp_path / "app.py"
    path.write_text(HEAD + '''
@fn(args=True)
def f(x): return x
@fn
def g(): yield 1
assert f(1) == 1 and type(g()) is types.GeneratorType
with region("a", "b") as r: assert not update("x", 1)
for i in lextrace.step(range(3)): pass
lextrace.event("e"); lextrace.counter("c", 1)
''')
    done = subprocess.run([tools.PYTHON, path], capture_output=True, text=True, cwd=tmp_path,
                          env=dict(os.environ, PYTHONPATH=tools.package_parent()))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and os.listdir(tmp_path) == ["app.py"]


# ---- Under a configuration ----

CONFIG = """
[Lexgion(User:IO/read)]
    max_num_traces = 3
[Lexgion(User:IO/gen)]
    tracing_rate = 2
[Lexgion(User:IO/never)]
    max_num_traces = 0
[Lexgion(User:event/*)]
    max_num_traces = 2
"""


def test_windows_apply_to_annotations(trace):
    (trace.tmp_path / "trace.conf").write_text(CONFIG)
    result = trace(trace.program(HEAD + '''
@fn(cat="IO", name="read", args=True)
def read(i): pass
@fn(cat="IO", name="gen", args=True)
def gen(i): yield; yield
@fn(cat="IO", name="never", args=True)
def never(i): pass
@fn(cat="IO", name="free", args=True)
def free(i): pass
for i in range(10):
    read(i); never(i); free(i); list(gen(i))
    lextrace.event("e", i=i)
'''), options=["-c", str(trace.tmp_path / "trace.conf")], env=dict(os.environ, PYTHONPATH=tools.package_parent()))
    spans = Spans(result.run.main)
    assert [args["i"] for args in spans.args("IO/read")] == [0, 1, 2] and "IO/never" not in spans.calls
    assert [args["i"] for args in spans.args("IO/gen")] == [1, 3, 5, 7, 9] and len(spans.calls["IO/free"]) == 10
    assert [call["slices"] for call in spans.calls["IO/gen"]] == [3] * 5
    assert [one["args"]["i"] for one in spans.told] == [0, 1]


def test_monitoring_counts_annotations(trace):
    (trace.tmp_path / "trace.conf").write_text("[User.default]\n    trace_mode = MONITORING\n")
    result = trace(trace.program(HEAD + '''
@fn(cat="IO", name="read", args=True)
def read(i): pass
@fn(cat="IO", name="gen")
def gen(): yield; yield
for i in range(10):
    read(i); list(gen()); lextrace.event("e", i=i)
lextrace.mode("User", "STANDBY")
read(1)
'''), options=["-c", str(trace.tmp_path / "trace.conf")], env=dict(os.environ, PYTHONPATH=tools.package_parent()))
    process = result.run.main
    rows = {process.lexgion(row.lexgion).name: row.calls for row in process.rows}
    assert (rows["IO/read"], rows["IO/gen"], rows["event/e"]) == (10, 10, 10)
    assert not Spans(process).calls


def test_a_mode_that_changes_while_runs_wait(trace):
    result = trace(trace.program(HEAD + '''
@fn(cat="IO", name="gen")
def gen():
    for i in range(6): yield i
one = gen(); next(one)
lextrace.mode("User", "STANDBY")
next(one)
lextrace.mode("User", "TRACING")
next(one); next(one)
two = gen(); next(two)
lextrace.mode("User", "OFF"); lextrace.mode("User", "TRACING")
list(two), list(one)
'''), env=dict(os.environ, PYTHONPATH=tools.package_parent()))
    assert result.returncode == 0, result.stderr
    tools.balance(result.run)
