"""The package dftracer.python: the interface of DFTracer's releases, and what was wrong in it."""
import os
import textwrap

import pytest
from dftracer_tools import NAME, Program, extras, own

HEAD = """
from dftracer.python import dftracer, dft_fn, ai, TagValue, TagDType, TagType
log = dftracer.initialize_log(logfile="../t/app.pfw", data_dir=None, process_id=-1)
c = dft_fn("IO")

"""


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "work")


def run(program, text, **more):
    more.setdefault("DFTRACER_ENABLE", 1)
    return program(HEAD + textwrap.dedent(text), **more)


# ---- On and off ----

@pytest.mark.parametrize("value", [None, "0", "false", "no", "off", "2", ""])
def test_every_call_does_nothing_unless_enabled(program, value):
    done = program("""
        from dftracer.python import dftracer, dft_fn, compute, data, EntityRelation, NoOpProfiler, DFTRACER_ENABLE
        import dftracer.dftracer as native
        log = dftracer.initialize_log("../t/app", "/data", 12345)
        assert log is dftracer.get_instance() and type(log).__name__ == "dftracer"
        assert (log.get_time(), log.get_config("DFTRACER_LOG_FILE"), log.declare_entity("a", "b")) == (0, "", 0)
        log.enter_event(); log.exit_event()
        log.log_event("x", "y", 100, 50, {"a": "v"})
        log.log_metadata_event("a", "b")
        c = dft_fn("IO")
        @c.log
        def f(x): return x
        assert f(3) == 3 and list(c.iter([1, 2])) == [1, 2]
        with c as inside:
            inside.update(epoch=1).flush().reset()
        with compute.forward(epoch=1): pass
        native.initialize("../t/app")
        native.log_event("a", "b", 1, 2)
        native.finalize()
        log.finalize()
        print(DFTRACER_ENABLE)
    """, **({} if value is None else {"DFTRACER_ENABLE": value}))
    assert done.stdout == "False\n" and not (program.folder / "t").exists()


@pytest.mark.parametrize("value", ["1", "true", "ON", "yes"])
def test_enabled(program, value):
    run(program, """
        @c.log
        def f(): pass
        f()
        log.finalize()
    """, DFTRACER_ENABLE=value)
    assert NAME.match(program.trace().path.name)["prefix"] == "app" and program.trace().names() == ["f"]


def test_both_interfaces_make_one_trace(program):
    run(program, """
        from dftracer.logger import dftracer_fn, DFTracer
        import dftracer.dftracer as native

        @dftracer_fn(cat="IO", comp="io")
        def one(): pass

        @c.log
        def two(): pass

        one(), two()
        with DFTracer.get_instance().get_time("IO", "three"): pass
        native.log_event("four", "IO", native.get_time(), 5)
        DFTracer.finalize_log()
    """)
    assert program.trace().names() == ["four", "one", "three", "two"]


def test_versions_and_names(program):
    program("""
        import dftracer, dftracer.python as p
        assert dftracer.__version__.count(".") == 2 and p.__version__.count(".") == 2
        from dftracer.python.logger import dftracer as a
        from dftracer.python.dbg.logger import dftracer as b
        from dftracer.python.dbg import ai, dynamo
        from dftracer.python.dbg.ai import compute
        from dftracer.python.torch import trace_handler
        from dftracer.python.dbg.torch import trace_handler as again
        import dftracer.dftracer_dbg
        assert a is b is p.dftracer and trace_handler is again
        names = ("P R DFTRACER_ENABLE DFTRACER_INIT_PRELOAD DFTRACER_LOG_LEVEL NoOpProfiler capture_signal get_default_args "
                 "setup_logger get_time_scale TagType TagDType TagValue EntityStore EntityRole EntityRelation ProfileCategory "
                 "ComputeEvent DataEvent DataLoaderEvent CommunicationEvent DeviceEvent CheckpointEvent PipelineEvent IOEvent "
                 "INIT_NAME BLOCK_NAME ITER_NAME ITER_COUNT_NAME CTX_SEPARATOR get_iter_block_name get_iter_handle_name "
                 "compute data dataloader comm device checkpoint pipeline other ai dynamo create_backend Dynamo")
        for name in names.split():
            getattr(p, name)
        assert int(p.TagType.IGNORE) == 2 and int(p.TagDType.STRING) == 2
        assert p.TagValue("3", p.TagDType.INT).value() == (0, 3)
        assert p.TagValue(3, tag_type=p.TagType.VALUE).value() == (1, "3")
        assert p.EntityRelation.DEPENDS_ON == 22 and p.EntityStore.OTHER == 8 and p.EntityRole.REFERENCE == 5
        def f(a, b=2, *, c="x"): pass
        assert p.get_default_args(f) == {"b": 2, "c": "x"}
        import sys
        assert "torch" not in sys.modules and "yaml" not in sys.modules
    """)


# ---- The tracer ----

def test_log_event(program):
    run(program, """
        begin = log.get_time()
        log.enter_event()
        log.log_event("a", "cat", begin, 50, int_args={"i": (0, 2**40), "neg": (2, -5)}, float_args={"f": (1, 0.5)},
                      string_args={"s": TagValue("text").value()})
        log.exit_event()
        log.log_event(name="b", cat="cat", start_time=begin + 1, duration=-3)
        log.log_event("c", "cat", 100, 50, {"arg": "value"})
        print(begin)
    """)
    trace = program.trace()
    assert trace.one("a")["dur"] == 50 and trace.args("a") == {"i": 2 ** 40, "neg": -5, "f": 0.5, "s": "text"}
    assert trace.one("b")["dur"] == 0 and trace.one("b")["ts"] - trace.one("a")["ts"] == 1
    assert (trace.one("c")["ts"], trace.one("c")["dur"]) == (100, 50) and trace.args("c") == {"arg": "value"}


@pytest.mark.parametrize("metric, per_second", [("NS", 1e9), ("US", 1e6), ("MS", 1e3), ("SEC", 1), ("weeks", 1e6)])
def test_time_metric(program, metric, per_second):
    import time
    before = time.time()
    done = run(program, f"""
        from dftracer.python import get_time_scale
        assert get_time_scale() == {per_second}
        begin = log.get_time()
        log.log_event("a", "cat", begin, 7)
        print(begin, log.get_config("DFTRACER_TIME_METRIC"))
    """, DFTRACER_TIME_METRIC=metric, quiet=metric != "weeks")
    begin = int(done.stdout.split()[0])
    assert before - 2 <= begin / per_second <= time.time() + 2
    span = program.trace().one("a")
    assert (span["ts"], span["dur"]) == (begin, 7)
    if metric == "weeks":
        [line] = done.stderr.splitlines()
        assert "no such unit" in line


def test_metadata(program):
    run(program, """
        log.log_metadata_event("key", "value")
        c.log_metadata("other", "w")
        log.set_app_metadata_int("batch", 2**40)
        log.set_app_metadata_string("run", 'a "quoted" one')
        log.mark_used("ai")
    """)
    values = program.trace().metadata
    assert (values["key"], values["other"], int(values["batch"]), values["run"]) == ("value", "w", 2 ** 40, 'a "quoted" one')


def test_entities(program):
    run(program, """
        from dftracer.python import EntityRelation, EntityStore, EntityRole
        a = log.declare_entity("file", "/data/a", EntityStore.PARALLEL_FS, "file:///data/a")
        def fnv(data):
            value = 0xcbf29ce484222325
            for byte in data:
                value = (value ^ byte) * 0x100000001b3 % 2**64
            return value
        assert a == fnv(b"file\\x1f/data/a") == log.declare_entity("file", "/data/a")
        log.declare_entity_type("file", EntityRole.INPUT, "a file")
        b = log.declare_entity("batch", 7)
        log.relate_entities(EntityRelation.DERIVED_FROM, b, a)
        with dft_fn("IO", "load") as f:
            f.relate(EntityRelation.USED, a)
            assert f.uses("file", "/data/c", EntityStore.LOCAL_DISK) and f.generates("batch", 7) == b
        with dft_fn("IO", "none") as f:
            pass
        log.log_event("told", "IO", log.get_time(), 1, relations={EntityRelation.UPDATED: [a]})
        print(f"{a:016x} {b:016x}")
    """)
    trace = program.trace()
    a = next(key for key, value in trace.metadata.items() if key.startswith("entity.") and "/data/a" in str(value))[7:]
    relations = trace.args("load")["relations"]
    assert relations["used"][0] == a and len(relations["used"]) == 2 and len(relations["generated"]) == 1
    assert trace.args("none") == {} and trace.args("told") == {"relations": {"updated": [a]}}


# ---- dft_fn ----

def test_decorators(program):
    run(program, """
        @c.log
        def plain(epoch, step=2, *, image_idx=3, image_size="4"): return 1

        @c.log()
        def called(other): return 2

        @c.log(name="named")
        def some(): return 3

        class K:
            epoch, step, image_size = 5, 6, 7

            @c.log_init
            def __init__(self, epoch=None, step=None): self.given = epoch, step

            @c.log
            def method(self, step=8): return 4

            @c.log_static
            @staticmethod
            def under(x): return x

            @staticmethod
            @c.log_static(name="over")
            def over(x): return x

        assert (plain(1), called(9), some()) == (1, 2, 3)
        k = K(epoch=10)
        assert k.given == (10, None)
        assert k.method() == 4 and k.under(5) == 5 and K.under(6) == 6 and K.over(7) == 7
        assert plain.__name__ == "plain"
    """)
    trace = program.trace()
    assert trace.args("plain") == {"epoch": 1, "step": 2, "image_idx": 3, "image_size": 4.0}
    assert trace.args("called") == {} and trace.args("named") == {}
    assert trace.args("K.method") == {"step": 8, "epoch": 5, "image_size": 7.0}
    assert trace.args("K.__init__")["epoch"] == 10
    assert len(trace.named("K.under")) == 2 and len(trace.named("over")) == 1


def test_with_blocks(program):
    run(program, """
        def where():
            with dft_fn("IO") as f:
                f.update(epoch=1, step=2, image_idx=3, image_size=4,
                         args={"i": 1, "f": 0.5, "b": True, "s": "x", "t": TagValue(9, TagDType.INT)})
        where()
        with dft_fn("IO", "outer", epoch=9) as outer:
            with dft_fn("IO", "inner") as inner:
                outer.update(args={"for": "outer"})
                inner.update(args={"for": "inner"})
        d = dft_fn("IO", "again")
        for i in range(3):
            with d as f:
                if i != 1:
                    f.update(step=i)
        try:
            with dft_fn("IO", "failing") as f:
                f.update(step=4)
                raise KeyError
        except KeyError:
            pass
    """)
    trace = program.trace()
    assert trace.args("where") == {"epoch": 1, "step": 2, "image_idx": 3, "image_size": 4.0, "i": 1, "f": 0.5, "b": 1, "s": "x", "t": 9}
    assert trace.args("outer") == {"epoch": 9, "for": "outer"} and trace.args("inner") == {"for": "inner"}
    assert [own(span) for span in trace.named("again")] == [{"step": 0}, {}, {"step": 2}]  # no argument leaks
    assert own(trace.one("failing"))["step"] == 4


def test_update_inside_a_decorated_function(program):
    run(program, """
        @c.log
        def get(n):
            if n:
                c.update(image_size=n, args={"n": n})
        get(5), get(0), get(6)
    """)
    assert [own(span) for span in program.trace().named("get")] == [{"image_size": 5.0, "n": 5}, {}, {"image_size": 6.0, "n": 6}]


def test_flush_and_reset(program):
    run(program, """
        import time
        d = dft_fn("IO", "loose")
        time.sleep(0.02)
        d.update(step=1).flush().flush()
        with dft_fn("IO", "steps") as f:
            for i in range(3):
                f.update(step=i)
                f.flush()
                f.reset()
    """)
    trace = program.trace()
    assert trace.one("loose")["dur"] >= 20_000 and trace.args("loose") == {"step": 1}
    assert [own(span).get("step") for span in trace.named("steps")] == [0, 1, 2, None]


def test_iter(program):
    run(program, """
        assert list(c.iter(range(3))) == [0, 1, 2]
        for _ in c.iter("ab", name="epochs", iter_name="epoch"):
            break
        def failing():
            yield 1
            raise ValueError
        try:
            list(c.iter(failing(), name="bad"))
        except ValueError:
            pass
        assert list(dft_fn("IO", enable=False).iter([1], name="off")) == [1]
    """)
    trace = program.trace()
    assert [own(span) for span in trace.named("loop.iter")] == [own(span) for span in trace.named("loop.yield")] == \
        [{"step": 1}, {"step": 2}, {"step": 3}]
    assert [own(span) for span in trace.named("epochs.yield")] == [{"epoch": 1}]  # also of a loop that is left
    assert len(trace.named("bad.yield")) == 1 and trace.named("off.iter") == []


def test_disabled_objects(program):
    run(program, """
        off = dft_fn("IO", "off", enable=False)
        @off.log
        def f(): return 1
        assert f() == 1
        with off as inside:
            inside.update(step=1).flush().reset()
    """)
    assert program.trace().spans == []


# ---- ai ----

def test_ai(program):
    run(program, """
        from dftracer.python import compute, data, comm, pipeline, checkpoint, other, dataloader, get_iter_block_name

        @compute.forward
        def forward(x):
            "Doc."
            return x + 1

        @compute.forward(epoch=1, args={"k": "v"})
        def special(): pass

        class Model:
            @ai.checkpoint.init
            def __init__(self): self.x = 1

            @data.item
            def item(self): return self.x

        assert forward(1) == 2 and forward.__name__ == "forward" and forward.__doc__ == "Doc."
        special()
        assert Model().item() == 1
        with compute.backward:
            with comm.all_reduce(step=4):
                pass
            with comm.all_reduce(enable=False):
                pass
        pipeline.train.start(); pipeline.train.stop()
        pipeline.epoch.start(metadata=True); pipeline.epoch.stop(metadata=True)
        with data.io.read: pass
        with other.log: pass
        assert list(dataloader.fetch.iter(range(2))) == [0, 1]
        assert list(dataloader.fetch.iter(range(2), include_iter=False, block_name="own")) == [0, 1]
        assert compute.derive("x") is compute.derive("x") and compute.derive("x").name == "compute.x"
        assert (ai.cat, ai.name, data.io.read.name, data.io.read.cat) == ("ai_root", "ai_root", "data.io.read", "data")
    """)
    trace = program.trace()
    cats = {span["name"]: span["cat"] for span in trace.spans}
    assert cats["forward"] == cats["backward"] == "compute" and cats["checkpoint.init"] == "checkpoint" and cats["item"] == "data"
    assert [own(span) for span in trace.named("forward")] == [{}, {"epoch": 1, "k": "v"}]
    assert trace.args("all_reduce") == {"step": 4} and trace.one("train")["cat"] == "pipeline"
    assert {"data.io.read", "other.log"} <= set(trace.names())
    assert [own(span) for span in trace.named("fetch.iter")] == [{"count": 1}, {"count": 2}] and len(trace.named("fetch.block")) == 2
    assert len(trace.named("own")) == 2
    assert {"epoch.start", "epoch.end"} <= set(trace.metadata)


def test_ai_settings_reach_what_was_decorated_before(program):
    run(program, """
        from dftracer.python import compute

        @compute.forward
        def forward(): pass

        @compute.step
        def steps():
            yield 1

        forward()
        ai.update(epoch=3, args={"lr": 0.5})
        forward(), list(steps())
        with compute.backward: pass
        compute.disable()
        forward(), list(steps())
        with compute.backward: pass
        assert list(compute.iter([1])) == [1]
        ai.enable()
        ai.update(epoch=4)
        forward()
    """)
    trace = program.trace()
    assert [own(span) for span in trace.named("forward")] == [{}, {"epoch": 3, "lr": 0.5}, {"epoch": 4, "lr": 0.5}]
    assert {span["name"] for span in trace.spans} == {"forward", "step", "backward"}
    assert trace.args("backward") == {"epoch": 3, "lr": 0.5}


# ---- Environment ----

def test_no_arguments_where_they_are_not_wanted(program):
    run(program, """
        @c.log
        def f(epoch): c.update(step=1)
        f(3)
        with dft_fn("IO", "x", step=1) as inside:
            inside.update(epoch=3)
    """, DFTRACER_INC_METADATA=0)
    trace = program.trace()
    assert trace.args("f") == {} and trace.args("x") == {}


YAML = """
enable: true
tracer:
  init: FUNCTION
  log_file: {prefix}
  data_dirs: [/a, /b]
  log_level: ERROR
  time_metric: MS
  compression: false
features:
  metadata: true
  io: {{enable: false}}
"""


@pytest.mark.parametrize("key", ["tracer", "profiler"])
def test_configuration_file(program, tmp_path, key):
    python = extras() / "python"
    (tmp_path / "c.yaml").write_text(YAML.format(prefix=tmp_path / "y/app").replace("tracer:", key + ":"))
    program("""
        from dftracer.python import dftracer, dft_fn
        log = dftracer.initialize_log()
        config = {name: log.get_config("DFTRACER_" + name) for name in ("TIME_METRIC", "TRACE_COMPRESSION", "DATA_DIR", "DISABLE_IO")}
        assert config == dict(TIME_METRIC="US", TRACE_COMPRESSION="0", DATA_DIR="/a:/b", DISABLE_IO="1"), config
        with dft_fn("IO", "x"): pass
    """, DFTRACER_CONFIGURATION=tmp_path / "c.yaml", DFTRACER_TIME_METRIC="US", python=python)
    trace = program.trace(tmp_path / "y")
    assert trace.path.suffix == ".pfw" and trace.names() == ["x"]


def test_configuration_file_without_yaml(program, tmp_path):
    (tmp_path / "c.yaml").write_text("enable: true\n")
    done = program("""
        import sys
        sys.modules["yaml"] = None
        from dftracer.logger import DFTracer
        DFTracer.initialize_log(log_file="../t/app")
        print("lived")
    """, DFTRACER_CONFIGURATION=tmp_path / "c.yaml", quiet=False)
    [line] = done.stderr.splitlines()
    assert done.stdout == "lived\n" and "PyYAML" in line and str(tmp_path / "c.yaml") in line


@pytest.mark.parametrize("text", [None, "a: [", "just text", "- 1\n- 2\n"])
def test_configuration_file_that_is_wrong(program, tmp_path, text):
    if text is not None:
        (tmp_path / "c.yaml").write_text(text)
    done = program("""
        from dftracer.logger import DFTracer
        DFTracer.initialize_log(log_file="../t/app")
    """, DFTRACER_CONFIGURATION=tmp_path / "c.yaml", quiet=False, python=extras() / "python")
    assert len(done.stderr.splitlines()) == (1 if text in (None, "a: [") else 0)
    assert program.trace().spans == []


def test_all_variables_at_once(program):
    """Those that mean nothing here are taken, and change nothing."""
    run(program, """
        @c.log
        def f(): pass
        f()
    """, DFTRACER_INIT="PRELOAD", DFTRACER_DATA_DIR="all", DFTRACER_DISABLE_IO=1, DFTRACER_DISABLE_POSIX=1, DFTRACER_DISABLE_STDIO=1,
        DFTRACER_DISABLE_TIDS=0, DFTRACER_SET_CORE_AFFINITY=1, DFTRACER_GOTCHA_PRIORITY=1, DFTRACER_LOG_LEVEL="ERROR",
        DFTRACER_BIND_SIGNALS=1, DFTRACER_ERROR=1, DFTRACER_WRITE_BUFFER_SIZE=4096, DFTRACER_TRACE_INTERVAL_MS=10,
        DFTRACER_LIBUV_THREADS=1, DFTRACER_ENABLE_AGGREGATION=1, DFTRACER_AGGREGATION_TYPE="FULL", DFTRACER_AGGREGATION_FILE="/none")
    [span] = program.trace().spans
    assert span["name"] == "f" and span["tid"] == span["pid"]


def test_log_level(program):
    done = run(program, "", DFTRACER_LOG_LEVEL="INFO", quiet=False)
    assert str(program.trace().path) in done.stderr


def test_dialect_1(program):
    run(program, """
        with dft_fn("IO", "x", step=1): pass
        log.log_metadata_event("key", "value")
    """, DFTRACER_TRACE_DIALECT=1, DFTRACER_TRACE_COMPRESSION=0)
    trace = program.trace()
    assert trace.text.startswith("[\n") and trace.one("x")["ph"] == "X" and trace.args("x") == {"step": 1}
    assert all("id" in line for line in trace.lines) and trace.metadata["key"] == "value"
    assert os.listdir(program.cwd) == []


# ---- torch ----

def test_what_torch_measured(program):
    """With objects as torch.profiler gives them: PyTorch itself is not there."""
    run(program, """
        from types import SimpleNamespace as N
        from dftracer.python.torch import trace_handler
        start = log.get_time()
        event = N(key="aten::mm", time_range=N(start=100.4, elapsed_us=lambda: 7), device_type=N(value=0), cpu_memory_usage=64,
                  is_remote=False, device_memory_usage=0, input_shapes=[[2, 3], [3, 4]], total_cpu_percent=12.5)
        trace_handler(N(events=lambda: [event], profiler=N(kineto_results=N(trace_start_ns=lambda: start * 1000))))
        trace_handler(N(events=lambda: [event]))  # does not say when it began
        log.log_event("start", "mark", start, 0)
    """)
    trace = program.trace()
    first, second = trace.named("aten::mm")
    assert first["cat"] == "PP" and first["dur"] == 7 and first["ts"] - trace.one("start")["ts"] == 100
    assert abs(second["ts"] - first["ts"]) < 60_000_000
    assert own(first) == {"device": 0, "cpu_memory": 64, "is_remote": 0, "device_memory_usage": 0, "input_size": 4,
                          "total_cpu_percent": 12.5}


def test_dynamo_without_torch(program):
    done = program("""
        from dftracer.python.dynamo import TORCH_AVAILABLE, Dynamo, create_backend, dynamo
        if not TORCH_AVAILABLE:
            for call in (create_backend, dynamo.compile):
                try:
                    call()
                except RuntimeError as error:
                    print(error)
        assert dynamo.cat == "dynamo" and dynamo.count_parameters(3) is None
        from types import SimpleNamespace as N
        assert dynamo.count_parameters(N(parameters=lambda: [N(numel=lambda: 3), N(numel=lambda: 4)])) == 7
    """)
    assert "PyTorch" in done.stdout or done.stdout == ""


def test_dynamo_graph(program):
    """On a graph as torch.fx has it: PyTorch itself is not there."""
    run(program, """
        import contextlib, sys, types
        sys.modules["torch"] = types.SimpleNamespace(is_grad_enabled=lambda: True, __spec__=None)
        from dftracer.python import dynamo as module
        import dftracer.python.dynamo
        module = sys.modules["dftracer.python.dynamo"]
        module.TORCH_AVAILABLE = True

        class Graph:
            def __init__(self):
                self.nodes = [types.SimpleNamespace(op=op, target=target) for op, target in
                              (("placeholder", "x"), ("call_function", len), ("call_method", "view"), ("call_module", "fc.a"))]
                self.at, self.calls = None, []
            @contextlib.contextmanager
            def inserting_before(self, node): self.at = node; yield
            inserting_after = inserting_before
            def call_function(self, function, args=()): self.calls.append((function, args))

        tracer = module.Dynamo("model", epoch=1)
        gm = types.SimpleNamespace(graph=Graph(), recompile=lambda: None, get_submodule=lambda name: {}, forward=None)
        assert tracer.add_enhanced_timing_to_graph(gm) is gm
        for function, args in gm.graph.calls:
            function(*args)
        assert tracer.call_stack == []
    """)
    trace = program.trace()
    assert trace.names() == ["fc.a.dict_fc_a", "function.len", "method.view"]
    assert {span["cat"] for span in trace.spans} == {"dynamo"}
    assert own(trace.one("function.len")) == {"epoch": 1, "grad_enabled": 1}
