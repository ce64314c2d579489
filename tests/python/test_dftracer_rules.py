"""The annotation rules as they are written, each in a program of its own."""
import warnings

import pytest
from dftracer_tools import NAME, Program, own


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "work")


def test_rule_1_decorator(program):
    program("""
        from dftracer.logger import dftracer_fn, dft_fn, DFTracer

        @dftracer_fn(cat="IO")            # cat groups functions in the trace viewer
        def my_read(path: str, size: int) -> bytes:
            "Reads."
            with open(path, "rb") as f:
                return f.read(size)

        @dft_fn(cat="Compute")
        def work(n=3, *, factor=2):
            return n * factor

        DFTracer.initialize_log(log_file="../traces/my_app", data_dir="/data", process_id=0)
        assert my_read(__file__, size=4) == b"\\nfro"
        assert work() == 6 and work(4, factor=1) == 4
        DFTracer.finalize_log()

        import inspect, pickle
        assert my_read.__name__ == "my_read" and my_read.__doc__ == "Reads."
        assert str(inspect.signature(my_read)) == "(path: str, size: int) -> bytes"
        assert inspect.isfunction(my_read.__wrapped__)
        assert pickle.loads(pickle.dumps(my_read)) is my_read
    """)
    trace = program.trace()
    assert trace.names() == ["my_read", "work", "work"]
    assert trace.one("my_read")["cat"] == "IO" and trace.named("work")[0]["cat"] == "Compute"
    assert all(isinstance(span["ts"], int) and span["dur"] >= 0 for span in trace.spans)
    assert list(program.cwd.iterdir()) == []


@pytest.mark.parametrize("call", ["dftracer_fn()", "dft_fn()", "dftracer_fn(comp='io')"])
def test_rule_1_category_is_required(program, call):
    done = program(f"""
        from dftracer.logger import dftracer_fn, dft_fn
        try:
            {call}
        except TypeError as error:
            print(error)
    """)
    assert "missing 1 required positional argument: 'cat'" in done.stdout


def test_rule_1_category_is_required_without_parentheses(program):
    done = program("""
        from dftracer.logger import dftracer_fn
        try:
            @dftracer_fn
            def f(): pass
        except TypeError as error:
            print(error)
    """)
    assert "missing 1 required positional argument: 'cat'" in done.stdout


@pytest.mark.parametrize("call", [
    "log_file='../traces/my_app', data_dir='/data', process_id=0",
    "log_file='../traces/my_app', data_dir=None, process_id=None",
    "log_file='../traces/my_app.pfw'",
    "log_file='../traces/my_app.pfw.gz', process_id=-1",
    "logfile='../traces/my_app', data_dir='all'",
    "'../traces/my_app', '/data', 5",
    "log_file=__import__('pathlib').Path('../traces/my_app')",
    "log_file=b'../traces/my_app'",
    "data_dir=None, process_id=None, log_file=None",
])
def test_rule_2_initialize_and_finalize(program, call):
    program(f"""
        from dftracer.logger import DFTracer, dftracer_fn

        @dftracer_fn(cat="IO")
        def read(): pass

        tracer = DFTracer.initialize_log({call})
        assert tracer is DFTracer.get_instance()
        read()
        DFTracer.finalize_log()
    """, DFTRACER_LOG_FILE="../traces/my_app")
    trace = program.trace()
    assert NAME.match(trace.path.name)["prefix"] == "my_app" and trace.path.suffix == ".gz"
    assert trace.path.parent == program.folder / "traces"
    assert trace.names() == ["read"]
    assert list(program.cwd.iterdir()) == []


def test_rule_2_the_rank_stands_in_the_trace(program):
    program("""
        from dftracer.logger import DFTracer
        tracer = DFTracer.initialize_log(log_file="../t/app", process_id=3)
        tracer.finalize()
    """)
    assert str(program.trace().metadata["rank"]) == "3"


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK"])
def test_rule_2_the_rank_of_the_launcher(program, name):
    program("""
        from dftracer.logger import DFTracer
        DFTracer.initialize_log(log_file="../t/app", process_id=None)
    """, **{name: "7"})
    assert str(program.trace().metadata["rank"]) == "7"


RULE_3 = """
    from dftracer.logger import dftracer_fn, DFTracer

    @dftracer_fn(cat="IO")
    def read():
        return 1

    assert read() + read() == 2
    with DFTracer.get_instance().get_time("IO", "loop"):
        pass
"""


def test_rule_3_environment_alone(program, tmp_path):
    program(RULE_3, DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=tmp_path / "traces/my_app", DFTRACER_DATA_DIR="/data")
    trace = program.trace(tmp_path / "traces")
    assert trace.names() == ["loop", "read", "read"]
    assert list(program.cwd.iterdir()) == []


@pytest.mark.parametrize("value", ["true", "on", "YES"])
def test_rule_3_words_for_on(program, tmp_path, value):
    program(RULE_3, DFTRACER_ENABLE=value, DFTRACER_LOG_FILE=tmp_path / "traces/my_app")
    assert len(program.trace(tmp_path / "traces").spans) == 3


def test_rule_3_without_a_file_name(program):
    program(RULE_3, DFTRACER_ENABLE=1)
    assert NAME.match(program.trace().path.name)["prefix"] == "trace" and program.trace().path.parent == program.cwd


@pytest.mark.parametrize("value", [None, "0", "false", "no", "off", ""])
def test_rule_3_nothing_without_it(program, tmp_path, value):
    program(RULE_3, **({} if value is None else {"DFTRACER_ENABLE": value}), DFTRACER_LOG_FILE=tmp_path / "traces/my_app")
    assert program.files(tmp_path) == []


def test_rule_3_a_region_comes_first(program, tmp_path):
    program("""
        from dftracer.logger import DFTracer
        with DFTracer.get_instance().get_time("IO", "first"):
            pass
    """, DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=tmp_path / "t/x")
    assert program.trace(tmp_path / "t").names() == ["first"]


def test_rule_3_what_the_program_says_names_the_file(program, tmp_path):
    program("""
        from dftracer.logger import dftracer_fn, DFTracer

        @dftracer_fn(cat="IO")
        def read(): pass

        read()
        DFTracer.initialize_log(log_file="../mine/app")
        read()
    """, DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=tmp_path / "t/x")
    trace = program.trace(tmp_path)
    assert trace.path.parent.name == "mine" and trace.names() == ["read", "read"]


@pytest.mark.parametrize("value", ["0", "false", "no", "off"])
def test_rule_3_off_wins_over_initialize(program, tmp_path, value):
    program("""
        from dftracer.logger import dftracer_fn, DFTracer

        @dftracer_fn(cat="IO")
        def read(): return 5

        DFTracer.initialize_log(log_file="../t/app")
        assert read() == 5
        DFTracer.finalize_log()
    """, DFTRACER_ENABLE=value)
    assert program.files(tmp_path) == []


def test_rule_4_region(program):
    program("""
        from dftracer.logger import DFTracer

        DFTracer.initialize_log(log_file="../t/app")
        tracer = DFTracer.get_instance()
        data, seen = [1, 2, 3], []
        with tracer.get_time("IO", "read_loop"):
            for chunk in data:
                seen.append(chunk)
        try:
            with tracer.get_time("IO", "failing"):
                raise KeyError("x")
        except KeyError:
            pass
        assert seen == data
        before = tracer.get_time()
        assert isinstance(before, int) and 0 < before <= tracer.get_time()
        with tracer.get_time("IO", "outer"):
            with tracer.get_time("IO", "inner"):
                pass
    """)
    trace = program.trace()
    assert trace.names() == ["failing", "inner", "outer", "read_loop"]
    assert trace.one("read_loop")["cat"] == "IO"
    inner, outer = trace.one("inner"), trace.one("outer")
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


def test_rule_5_comp(program):
    program("""
        import warnings
        warnings.simplefilter("error")
        from dftracer.logger import dftracer_fn, DFTracer

        @dftracer_fn(cat="IO", comp="io")
        def read_checkpoint(path: str) -> dict: ...

        @dftracer_fn(cat="COMM", comp="comm")
        def broadcast_weights(tensor, comm): ...

        @dftracer_fn(cat="CPU", comp="cpu")
        def compute_checksum(data: bytes) -> str: ...

        @dftracer_fn(cat="MEM", comp="mem")
        def copy_batch(src, dst) -> None: ...

        @dftracer_fn(cat="IO")
        def fallback(path: str) -> dict:
            DFTracer.get_instance().update("comp", "io")   # fallback

        DFTracer.initialize_log(log_file="../t/app")
        read_checkpoint("x"), broadcast_weights(1, 2), compute_checksum(b""), copy_batch(1, 2), fallback("x")
        DFTracer.finalize_log()
    """)
    trace = program.trace()
    wanted = {"read_checkpoint": ("IO", "io"), "broadcast_weights": ("COMM", "comm"), "compute_checksum": ("CPU", "cpu"),
              "copy_batch": ("MEM", "mem"), "fallback": ("IO", "io")}
    assert {span["name"]: (span["cat"], span["args"]["comp"]) for span in trace.spans} == wanted


def test_rule_5_another_comp_is_warned_of_once_and_recorded(program):
    done = program("""
        import warnings
        from dftracer.logger import dftracer_fn, DFTracer
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            @dftracer_fn(cat="IO", comp="disk")
            def f(): pass
            @dftracer_fn(cat="IO", comp="disk")
            def g(): pass
        print(len(seen), seen[0].filename == __file__, seen[0].message)
        DFTracer.initialize_log(log_file="../t/app")
        f()
    """)
    assert done.stdout.startswith("1 True ") and "'disk'" in done.stdout
    assert program.trace().args("f") == {"comp": "disk"}


def test_rule_6_what_is_not_annotated_is_not_recorded(program):
    program("""
        import pickle
        from pathlib import Path
        from dftracer.logger import dftracer_fn, DFTracer

        class Worker:
            _rank = 4

            @dftracer_fn(cat="IO")
            def read_checkpoint(self, path: str, rank: int) -> dict:
                with open(path, "rb") as f:
                    return pickle.load(f)

            @property
            def rank(self) -> int:
                return self._rank

            def _fmt_path(self, p: str) -> str:
                return str(Path(p).resolve())

        DFTracer.initialize_log(log_file="../t/app")
        Path("../checkpoint").write_bytes(pickle.dumps({"a": 1}))
        worker = Worker()
        assert worker.read_checkpoint(worker._fmt_path("../checkpoint"), worker.rank) == {"a": 1}
    """)
    assert [span["name"] for span in program.trace().spans if span["cat"] == "IO"] == ["Worker.read_checkpoint"]


def test_rule_7_methods(program):
    program("""
        from dftracer.logger import dftracer_fn, DFTracer

        class DataLoader:
            @dftracer_fn(cat="IO")
            def load(self, path: str, batch_size: int) -> list:
                return [path] * batch_size

            @dftracer_fn(cat="IO")
            def write(self, path: str, data: bytes) -> None:
                self.written = data

            def _validate(self, x):      # skip
                return x is not None

            @dftracer_fn(cat="IO")
            @classmethod
            def below(cls): return cls

            @classmethod
            @dftracer_fn(cat="IO")
            def above(cls): return cls

            @dftracer_fn(cat="IO")
            @staticmethod
            def under(x): return x

            @staticmethod
            @dftracer_fn(cat="IO")
            def over(x): return x

            @dftracer_fn(cat="IO")
            @property
            def size(self): return 9

            @property
            @dftracer_fn(cat="IO")
            def width(self): return 8

        class Child(DataLoader):
            pass

        DFTracer.initialize_log(log_file="../t/app")
        loader = Child()
        assert loader.load("x", batch_size=2) == ["x", "x"]
        loader.write("x", b"d")
        assert loader.written == b"d" and loader._validate(1)
        assert loader.below() is Child and Child.above() is Child
        assert loader.under(1) == 1 and Child.over(2) == 2 and DataLoader.over(3) == 3
        assert (loader.size, loader.width) == (9, 8)
    """)
    assert [name.rpartition(".")[2] for name in program.trace().names()] == sorted(
        ["load", "write", "below", "above", "under", "over", "over", "size", "width"])


def test_checklist_a_whole_program(program):
    """All calls of the checklist in one program, with both spellings of the category's argument."""
    program("""
        import functools
        from dftracer.logger import dftracer_fn, DFTracer

        @dftracer_fn("IO", comp="io")
        def read(): return step()

        @dftracer_fn(cat="Compute", comp="cpu")
        @functools.cache
        def cached(x): return x

        @functools.lru_cache
        @dftracer_fn(cat="Compute")
        def inside(x): return x

        @dftracer_fn(cat="Init")
        class Model:
            def __init__(self, width): self.width = width

        @dftracer_fn(cat="Compute")
        def step():
            DFTracer.get_instance().update(epoch=1, step=2, image_size=3, args={"k": "v"})

        def main():
            DFTracer.initialize_log(log_file="../t/app", data_dir=None, process_id=None)
            read()
            assert cached(1) + cached(1) == 2 and cached.cache_info().hits == 1
            assert inside(1) + inside(1) == 2
            assert Model(3).width == 3 and isinstance(Model, type)
            DFTracer.finalize_log()

        main()
    """)
    trace = program.trace()
    assert trace.args("step") == {"epoch": 1, "step": 2, "image_size": 3.0, "k": "v"}
    assert trace.args("read") == {"comp": "io"}
    assert len(trace.named("cached")) == 2 and len(trace.named("inside")) == 1
    assert len(trace.named("Model")) == 1


def test_generators_and_coroutines_are_one_run_each(program):
    done = program("""
        import asyncio, inspect, time
        from dftracer.logger import dftracer_fn, DFTracer

        @dftracer_fn(cat="Data")
        def items(n):
            for i in range(n):
                yield i

        @dftracer_fn(cat="Data")
        async def fetch(x):
            await asyncio.sleep(0.01)
            return x

        @dftracer_fn(cat="Data")
        async def stream(n):
            for i in range(n):
                await asyncio.sleep(0)
                yield i

        assert inspect.isgeneratorfunction(items) and inspect.iscoroutinefunction(fetch) and inspect.isasyncgenfunction(stream)
        assert asyncio.iscoroutinefunction(fetch)

        async def main():
            assert await asyncio.gather(fetch(1), fetch(2)) == [1, 2]
            assert [x async for x in stream(3)] == [0, 1, 2]

        DFTracer.initialize_log(log_file="../t/app")
        assert list(items(3)) == [0, 1, 2]
        asyncio.run(main())
    """)
    trace = program.trace()
    assert {span["name"] for span in trace.spans} == {"items", "fetch", "stream"}
    assert done.stdout == ""


def test_exceptions_end_spans(program):
    program("""
        from dftracer.logger import dftracer_fn, DFTracer

        @dftracer_fn(cat="IO")
        def fails(): raise OSError("no")

        DFTracer.initialize_log(log_file="../t/app")
        for _ in range(2):
            try:
                fails()
            except OSError as error:
                assert str(error) == "no"
    """)
    assert len(program.trace().named("fails")) == 2


def test_own_removes_only_what_is_the_formats():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert own({"args": {"hhash": "x", "a": 1}}) == {"a": 1}
