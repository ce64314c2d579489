"""Names and values of every kind, and traces of every size, in the package dftracer."""
import gzip
import textwrap

import pytest
from dftracer_tools import Program, own

HEAD = """
from dftracer.logger import dftracer_fn, dft_fn, DFTracer
from dftracer.python import dftracer, TagValue
tracer = DFTracer.initialize_log(log_file="../t/app")

"""


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "work")


def run(program, text, **more):
    return program(HEAD + textwrap.dedent(text), **more)


HOSTILE = [
    'a "quote"', "back\\slash", "line\nbreak\r\t", "\x00nul\x00", "\x01\x1f\x7f", "naïve 数据 🎉", "</script>",
    "a/b/c", "{}[],:", " ", "%s%n",
    "x" * 40_000,
]


@pytest.mark.parametrize("where", ["name", "category", "key", "value"])
def test_hostile_strings(program, where):
    run(program, f"""
        strings = {HOSTILE!r}
        for s in strings:
            name, cat, key, value = [s if part == {where!r} else part for part in ("name", "category", "key", "value")]
            with tracer.get_time(cat, name):
                tracer.update(key, value)
            with dft_fn(cat, name) as f:
                f.update(args={{key: value}})
            @dftracer_fn(cat=cat, name=name)
            def decorated():
                tracer.update(key, value)
            decorated()
            tracer.log_event(name, cat, tracer.get_time(), 1, string_args={{key: (0, value)}})
            tracer.log_metadata_event(key, value)
    """)
    trace = program.trace()
    assert len(trace.spans) == 4 * len(HOSTILE)
    found = {"name": [span["name"] for span in trace.spans], "category": [span["cat"] for span in trace.spans],
             "key": [key for span in trace.spans for key in own(span)],
             "value": [value for span in trace.spans for value in own(span).values()]}[where]
    short = [text for text in HOSTILE if len(text) < 1000]
    for text in short:
        assert found.count(text) == 4, text
    if where == "value":
        assert found.count(HOSTILE[-1]) == 4


def test_surrogates_and_bytes(program):
    run(program, r"""
        with tracer.get_time("IO\udc80", "x\ud800"):
            tracer.update("k\udcff", "v\udfff")
            tracer.update("b", b"\xff\xfe")
    """)
    assert len(program.trace().spans) == 1


def test_values(program):
    run(program, """
        import enum, decimal
        class Odd:
            def __str__(self): raise RuntimeError("no")
            __repr__ = __str__
        class Liar(str): pass
        class E(enum.IntEnum): A = 7
        values = {
            "zero": 0, "big": 2**31, "bigger": 2**63, "huge": 10**100, "negative": -2**70, "yes": True, "none": None,
            "float": 0.1, "tiny": 5e-324, "nan": float("nan"), "inf": float("-inf"), "list": [1, "a", None], "tuple": (1, 2),
            "dict": {"a": {"b": [1]}}, "set": {1}, "odd": Odd(), "liar": Liar("x"), "enum": E.A, "decimal": decimal.Decimal("1.5"),
            "complex": 1j, "type": int, "bytes": b"abc", "empty": "",
        }
        with tracer.get_time("IO", "update"):
            for key, value in values.items():
                tracer.update(key, value)
        with dft_fn("IO", "with") as f:
            f.update(args=values)
        tracer.log_event("told", "IO", tracer.get_time(), 1, string_args=values)
    """)
    trace = program.trace()
    update = trace.args("update")
    assert {key: update[key] for key in ("zero", "big", "bigger", "huge", "negative", "yes", "none", "float", "tiny", "list", "tuple",
                                         "dict", "liar", "enum", "decimal", "bytes", "empty")} == {
        "zero": 0, "big": 2 ** 31, "bigger": 2 ** 63, "huge": str(10 ** 100), "negative": str(-2 ** 70), "yes": 1, "none": None,
        "float": 0.1,
        "tiny": 5e-324, "list": [1, "a", None], "tuple": [1, 2], "dict": {"a": {"b": [1]}}, "liar": "x", "enum": 7, "decimal": "1.5",
        "bytes": "abc", "empty": ""}
    assert len(update) == len(trace.args("with")) == 23
    assert trace.args("told")["huge"] == str(10 ** 100)


@pytest.mark.parametrize("start, duration", [
    ("2**31", "2**31"), ("now", "-5"), ("now", "2**80"), ("2**90", "1"), ("-1", "1"), ("None", "None"), ("'x'", "'y'"), ("1.5", "2.5"),
    ("float('nan')", "float('inf')"), ("object()", "[]"),
])
def test_times_that_are_none(program, start, duration):
    run(program, f"""
        now = tracer.get_time()
        tracer.log_event("told", "IO", {start}, {duration})
        dftracer.get_instance().log_event("told", "IO", {start}, {duration})
    """)
    spans = program.trace().named("told")
    assert len(spans) == 2 and all(isinstance(span["ts"], int) and span["dur"] >= 0 for span in spans)


def test_what_is_named_by_no_str(program):
    run(program, """
        import pathlib
        for odd in (1, None, b"x", pathlib.Path("p"), 2.5):
            with tracer.get_time(str(odd), "x"): pass
            if odd is not None:
                with dft_fn(odd, odd): pass
            tracer.log_event(odd, odd, tracer.get_time(), 1)
            tracer.log_metadata_event(odd, odd)
            tracer.update(odd, odd)
            tracer.get_config(odd)
        DFTracer.initialize_log(log_file=5, data_dir=object(), process_id=object())
    """)
    assert len(program.trace().spans) == 5 + 4 + 5


@pytest.mark.parametrize("call", [
    "log_file=5", "log_file=object()", "log_file='../t/x', data_dir=['/a', '/b']", "log_file='../t/x', process_id=[1]",
    "log_file='../t/x', process_id=2**70", "log_file='../t/x', process_id='3'", r"log_file='../t/n\udcff'", "log_file='../t/a\\0b'",
    "log_file='../t/'",
])
def test_odd_words_for_initialize(program, call):
    program(f"""
        from dftracer.logger import DFTracer
        DFTracer.initialize_log({call})
        with DFTracer.get_instance().get_time("IO", "x"): pass
        DFTracer.finalize_log()
    """)
    assert len(program.files()) == 1 and program.traces()[0].names() == ["x"]


def test_a_million_spans(program):
    run(program, """
        @dftracer_fn(cat="IO", comp="io")
        def f(): pass
        for _ in range(1_000_000):
            f()
    """, timeout=200)
    trace_file, = program.files()
    with gzip.open(trace_file, "rb") as file:
        assert sum(b'"name":"f"' in line for line in file) == 1_000_000


def test_three_spans(program):
    run(program, """
        for name in "abc":
            with tracer.get_time("IO", name): pass
    """)
    assert program.trace().names() == ["a", "b", "c"]


def test_deep_nesting_and_recursion(program):
    run(program, """
        import sys
        sys.setrecursionlimit(10_000)
        @dftracer_fn(cat="IO")
        def down(n): return down(n - 1) if n else 0
        assert down(500) == 0
        with tracer.get_time("A", "a") as region:
            with region, region:
                pass
    """)
    trace = program.trace()
    assert len(trace.named("down")) == 501 and len(trace.named("a")) == 3
    spans = sorted(trace.named("down"), key=lambda span: -span["dur"])
    for outer, inner in zip(spans, spans[1:]):
        assert outer["ts"] <= inner["ts"]


def test_decorated_things_stay_what_they_are(program):
    run(program, """
        import asyncio, copy, functools, inspect, pickle, threading, unittest.mock, weakref

        @dftracer_fn(cat="IO")
        def f(a: int, /, b: str = "x", *args, c=3, **kw) -> int:
            "Doc."
            return a
        original = f.__wrapped__
        assert inspect.signature(f) == inspect.signature(original)
        assert (f.__name__, f.__qualname__, f.__module__, f.__doc__) == ("f", "f", "__main__", "Doc.")
        assert f.__code__ is original.__code__ and f.__defaults__ == ("x",) and f.__kwdefaults__ == {"c": 3}
        assert f.__annotations__ == {"a": int, "b": str, "return": int}
        assert pickle.loads(pickle.dumps(f)) is f and copy.copy(f) is f and copy.deepcopy(f) is f
        assert weakref.ref(f)() is f
        f.attribute = 1
        assert f.attribute == 1 and inspect.unwrap(f) is original
        assert functools.partial(f, 2)() == 2 and list(map(f, [1])) == [1]
        try:
            f()
        except TypeError as error:
            assert "f()" in str(error)
        else:
            assert False
        class K:
            @dftracer_fn(cat="IO")
            def m(self): return self
        k = K()
        assert k.m() is k and K.m(k) is k and inspect.ismethod(k.m) and pickle.loads(pickle.dumps(K.m)) is K.m
        class L(K):
            def m(self): return super().m()
        assert isinstance(L().m(), L)
    """)


def test_generators_keep_their_protocol(program):
    run(program, """
        import inspect, types

        @dftracer_fn(cat="IO")
        def g():
            try:
                got = yield 1
                while True:
                    got = yield got
            except KeyError:
                yield "caught"
                return "end"

        it = g()
        assert inspect.isgenerator(it) or isinstance(it, types.GeneratorType)
        assert next(it) == 1 and it.send(5) == 5 and it.throw(KeyError) == "caught"
        try:
            next(it)
        except StopIteration as stop:
            assert stop.value == "end"
        def outer():
            return (yield from g())
        o = outer()
        assert next(o) == 1 and o.throw(KeyError()) == "caught"
        o.close()
        abandoned = g()
        next(abandoned)
        del abandoned
    """)
    assert {span["name"] for span in program.trace().spans} == {"g"}
