"""Our Perfetto and Chrome files in the Perfetto UI, in a browser without a network: what a user sees after opening them."""
import os
import time

import exported
import mktrace
import pytest

viewer = pytest.importorskip("perfetto_ui")
pytestmark = pytest.mark.skipif(viewer.CHROMIUM is None, reason="no Chromium on this machine")

SLICES = """
    select coalesce(process.pid, 0), thread.name, slice.ts - (select min(ts) from slice), slice.dur, slice.depth, slice.name, slice.category
    from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) left join process using (upid)
    order by thread.utid, slice.ts, slice.depth, slice.dur desc"""
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "run"
    mktrace.main([str(path), "--processes", "2", "--threads", "3", "--calls", "200", "--generators", "0.3", "--c-calls", "0.2",
                  "--exceptions", "--greenlets", "2", "--gaps", "0", "--depth", "8"])
    return path


def check_slices(rows, run):
    """The viewer has every slice, at its time, on its thread, at its depth."""
    found = {}
    for pid, thread, begin, duration, depth, name, category in rows:
        assert category in ("python", "c")
        found.setdefault((pid, thread), []).append(exported.Slice(name, begin, begin + duration, depth, "?"))
    reference = exported.reference(run)
    for slices in [*found.values(), *reference.values()]:
        slices.sort(key=lambda one: (round(one.begin), one.depth, one.name))
    assert {key: sorted((one.name, one.depth) for one in slices) for key, slices in found.items()} == \
        {key: sorted((one.name, one.depth) for one in slices) for key, slices in reference.items()}
    for key, slices in found.items():
        start = min(one.begin for other in found.values() for one in other)
        origin = min(one.begin for other in reference.values() for one in other)
        for mine, other in zip(sorted(one.begin - start for one in slices),
                               sorted(one.begin - origin for one in reference[key])):
            assert abs(mine - other) <= 2


@pytest.mark.parametrize("name", ["out.perfetto-trace.gz", "out.json"])
def test_perfetto_ui(run, tmp_path, name):
    exported.export(run, tmp_path / name)
    with viewer.opened(tmp_path / name) as ui:
        assert ui.query(ERRORS) == []
        check_slices(ui.query(SLICES), run)
        pids = {pid for pid, _ in exported.reference(run)}
        for pid in pids:
            ui.page.get_by_text("app.py %d" % pid).first.click()
        end = time.monotonic() + 20
        while "Thread-2 (work)" not in ui.see() and time.monotonic() < end:
            time.sleep(0.2)
        text = ui.see()
        for thread in ("MainThread", "Thread-1 (work)", "Thread-2 (work)"):
            assert thread in text
        if os.environ.get("LEXTRACE_SCREENSHOTS"):
            time.sleep(2)
            ui.page.screenshot(path=os.path.join(os.environ["LEXTRACE_SCREENSHOTS"], name + ".png"))


def test_what_a_click_shows(tmp_path):
    """A slice's file, line and the reason of its end; the mark of lost events; a thread id that was given out twice."""
    made = mktrace.Process(str(tmp_path / "run"), 4711)
    f = made.lexgion('say "hi" \U0001f40d', "dir/app.py", 42)
    stream = made.stream(0)
    for number, name in enumerate(["first", "second"]):
        stream.begin_thread(number, 4800, name, made.start + number * 26_000)
        stream.event(made.start + number * 26_000, mktrace.FUNCTION_BEGIN, f)
        stream.event(made.start + number * 26_000 + 2600, mktrace.FUNCTION_UNWIND, f)
    stream.lose(0, 1204)
    made.end()
    for name in ("out.perfetto-trace", "out.json"):
        exported.export(tmp_path / "run", tmp_path / name)
        with viewer.opened(tmp_path / name) as ui:
            assert ui.query(ERRORS) == []
            assert ui.query("select name, dur from slice where dur > 0") == [('say "hi" \U0001f40d', 1000)] * 2
            assert ui.query("select name from slice where dur <= 0") == [("lost 1204 events: disk full 1204",)]
            args = dict(ui.query("select flat_key, display_value from args join slice using (arg_set_id) where dur > 0"))
            assert "dir/app.py" in args.values() and "42" in args.values() and "exception" in args.values()
            threads = ui.query("select name from thread where name in ('first', 'second')")
            assert len(threads) == (2 if name == "out.perfetto-trace" else 1)
