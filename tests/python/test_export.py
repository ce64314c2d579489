"""Real programs, traced and exported: every format tells the same story as the trace, on each interpreter."""
import marshal
import pstats
import subprocess
import sys

import lextrace_tools as tools
import pytest

sys.path.insert(0, str(tools.ROOT / "tests" / "export"))

import exported  # noqa: E402

SLICED = """
    import asyncio, threading

    def count(n):
        for i in range(n):
            yield i

    def consume():
        first, second = count(3), count(2)
        return [next(first), next(second), *second, *first]

    async def step(n):
        await asyncio.sleep(0)
        return n

    async def main():
        return await asyncio.gather(*(step(n) for n in range(3)))

    def fail():
        raise ValueError

    def work():
        consume()
        try:
            fail()
        except ValueError:
            pass

    thread = threading.Thread(target=work, name="worker \\N{SNAKE}")
    thread.start()
    thread.join()
    asyncio.run(main())
"""


def check_all(folder, tmp_path):
    """Each format against the trace; gives the Perfetto slices of all threads by name."""
    reference = exported.reference(folder)
    for name, reader in exported.READERS.items():
        exported.export(folder, tmp_path / "out", "--to", name)
        exported.compare(reader(tmp_path / "out"), reference)
    exported.export(folder, tmp_path / "out.pfw.gz")
    assert {key: len(spans) for key, spans in exported.read_pfw(tmp_path / "out.pfw.gz").items()} == \
        {key: len(slices) for key, slices in reference.items()}
    exported.export(folder, tmp_path / "out.pstats")
    pstats.Stats(str(tmp_path / "out.pstats"))
    exported.export(folder, tmp_path / "out.folded")
    assert exported.read_folded(tmp_path / "out.folded")
    return reference


def test_generators_coroutines_exceptions(trace, tmp_path):
    result = trace(SLICED)
    slices = check_all(result.folder, tmp_path)
    worker = [one for key, found in slices.items() if key[1] == "worker \U0001f40d" for one in found]
    assert [one.ended for one in worker if one.name == "count"].count("yield") == 5
    assert [one.ended for one in worker if one.name == "fail"] == ["exception"]
    main = [one for key, found in slices.items() if key[1] == "MainThread" for one in found]
    assert [one.ended for one in main if one.name == "step"].count("yield") == 3
    assert [one.ended for one in main if one.name == "step"].count(None) == 3


def test_greenlets(trace, tmp_path):
    pytest.importorskip("greenlet")
    result = trace("""
        import greenlet

        def ping():
            for _ in range(3):
                pong_let.switch()

        def pong():
            while True:
                inner()

        def inner():
            ping_let.switch()

        ping_let, pong_let = greenlet.greenlet(ping), greenlet.greenlet(pong)
        ping_let.switch()
    """)
    slices = check_all(result.folder, tmp_path)
    ended = [one.ended for found in slices.values() for one in found if one.name in ("ping", "pong", "inner")]
    assert "switch" in ended


def test_pstats_is_as_cprofile(trace, tmp_path):
    """The same counts as cProfile of the same code; the callers, too."""
    text = """
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        def main():
            fib(10)
            even(7)
            even(4)
    """
    path = trace.program(text + "\n        if __name__ == '__main__':\n            main()\n")
    result = trace([tools.PYTHON, path])
    exported.export(result.folder, tmp_path / "ours.pstats")
    subprocess.run([tools.PYTHON, "-c", "import cProfile, sys; sys.path.insert(0, %r); import app; "
                    "cProfile.run('app.main()', %r)" % (str(path.parent), str(tmp_path / "theirs.pstats"))], check=True)

    def counts(name):
        found = {}
        for (file, line, function), (primitive, calls, _, _, callers) in \
                marshal.loads((tmp_path / name).read_bytes()).items():
            if file.endswith("app.py") and function not in ("<module>", "main"):
                found[function, line] = primitive, calls, {key[2]: value[:2] for key, value in callers.items()}
        return found

    assert counts("ours.pstats") == counts("theirs.pstats")
    assert counts("ours.pstats")["fib", 2][1] == 177


def test_hostile_names(trace, tmp_path):
    result = trace("""
        names = ['say "hi"', "new\\nline", "nul\\0inside", "lone\\ud800", "\\N{SNAKE}", "a;b", "back\\\\slash"]

        def f():
            pass

        for name in names:
            f.__code__ = f.__code__.replace(co_name=name, co_qualname=name)
            f()
    """)
    slices = check_all(result.folder, tmp_path)
    found = [one.name for one in next(iter(slices.values()))]
    for name in ('say "hi"', "new\nline", "nul\0inside", "lone\ufffd\ufffd\ufffd", "\U0001f40d", "a;b", "back\\slash"):
        assert name in found
    names = [key[2] for key in marshal.loads((tmp_path / "out.pstats").read_bytes())]
    assert "lone\ud800" in names and "nul\0inside" in names


def test_killed(trace, tmp_path):
    result = trace("""
        import os, signal

        def last():
            os.kill(os.getpid(), signal.SIGKILL)

        def outer():
            last()

        outer()
    """)
    slices = check_all(result.folder, tmp_path)
    (found,) = slices.values()
    assert [one.name for one in found if one.ended == "open"] == ["<module>", "outer", "last"]


def test_processes(trace, tmp_path):
    result = trace("""
        import os

        def child():
            pass

        for _ in range(3):
            if os.fork() == 0:
                child()
                os._exit(0)
        for _ in range(3):
            os.wait()
    """)
    slices = check_all(result.folder, tmp_path)
    with_child = [key[0] for key, found in slices.items() if any(one.name == "child" for one in found)]
    assert len(set(with_child)) == 3
