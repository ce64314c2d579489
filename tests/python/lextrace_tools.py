"""Helpers of the Python-facing tests: run a program under lextrace, and read what was recorded.

The reader here is a second, independent reading of include/lextrace/format.h: it takes the tables of event kinds,
losses and packet fields from the header and everything else from its comments. The tests compare it, event by event,
with `lextrace view --json` and with the babeltrace2 program.
"""
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
PYTHON = sys.executable
BABELTRACE = shutil.which("babeltrace2")

# `more`, of long events: RUN, INT, FLOAT: the number; TEXT: a Text; SPAN: (begin, duration, arguments); POINT: arguments.
Event = namedtuple("Event", "ticks kind value thread tid stream more", defaults=(None,))
Text = namedtuple("Text", "form more bytes")
Lexgion = namedtuple("Lexgion", "name file line domain flags")
Packet = namedtuple("Packet", "fields words open stream")
Row = namedtuple("Row", "thread lexgion calls inclusive exclusive seen recorded ended opened")


def lextrace_binary():
    found = os.environ.get("LEXTRACE_BIN") or str(ROOT / ".venv" / "bin" / "lextrace")
    if not os.access(found, os.X_OK):
        raise RuntimeError("no lextrace program at %s: run `make build` or set LEXTRACE_BIN" % found)
    return found


def package_parent():
    """A folder that holds nothing but the Python package lextrace, for PYTHONPATH: no other package leaks in."""
    named = os.environ.get("LEXTRACE_PACKAGE")
    places = [named] if named else sorted(glob.glob(str(Path(lextrace_binary()).parent.parent /
                                                        "lib/python3*/site-packages/lextrace")))
    places = [place for place in places if place and os.path.exists(os.path.join(place, "__init__.py"))]
    if not places:
        raise RuntimeError("no package lextrace beside %s: run `make build` or set LEXTRACE_PACKAGE" % lextrace_binary())
    folder = Path(tempfile.gettempdir()) / ("lextrace-package-%d" % os.getpid())
    folder.mkdir(exist_ok=True)
    link = folder / "lextrace"
    if not link.is_symlink():
        link.symlink_to(places[0])
    return str(folder)


# ---- The tables of format.h ----

def _table(name, text):
    """The rows of one X-macro of the header, each a tuple of its words."""
    body = re.search(r"#define %s\(X\)((?:[^\n]*\\\n)*[^\n]*)" % name, text).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [tuple(word.strip().strip('"') for word in row.split(",")) for row in re.findall(r"X\(([^()]*)\)", body)]


_HEADER = (ROOT / "include/lextrace/format.h").read_text()
DOMAINS = {int(row[0]): row for row in _table("LX_DOMAINS", _HEADER)}
_PREFIX = {row[1]: row[3] for row in DOMAINS.values()}
KINDS = {int(row[0]): _PREFIX[row[2]] + ":" + row[3] for row in _table("LX_EVENT_KINDS", _HEADER)}
ROLES = {int(row[0]): row[4] for row in _table("LX_EVENT_KINDS", _HEADER)}
PAYLOADS = {int(row[0]): row[5] for row in _table("LX_EVENT_KINDS", _HEADER)}
MODES = {int(row[0]): row[1] for row in _table("LX_MODES", _HEADER)}
KIND_IDS = {name: number for number, name in KINDS.items()}
LOSSES = [row[2] for row in _table("LX_LOSSES", _HEADER)]
PROCESS_KEYS = [row[0] for row in _table("LX_PROCESS_KEYS", _HEADER)]
PACKET_FIELDS = _table("LX_PACKET_FIELDS", _HEADER)

_FORMATS = {"u32": "I", "u64": "Q", "ticks": "Q", "u8x16": "16s", "losses": "%dQ" % len(LOSSES), "name64": "64s"}
_PACKET = struct.Struct("<" + "".join(_FORMATS[kind] for kind, _ in PACKET_FIELDS))
_DEFINITION = struct.Struct("<8I")
_STATE = struct.Struct("<4I16sIIiIQ3Q3QQQ%dQ%dQ5Q8I4IQ" % (len(LOSSES), len(LOSSES)))
_ROW = struct.Struct("<2I7Q")
_EXTENDED = 31
_VERSION = int(re.search(r"#define LX_FORMAT_VERSION (\d+)", _HEADER).group(1))
_FIRST_LONG = min(number for number, payload in PAYLOADS.items() if payload not in ("LEXGION", "STACK", "MODE"))
FORMS = ["string", "number", "json"]
_MASK = (1 << 27) - 1


# ---- Reading a run ----

def unescape(text):
    """Undoes lx_escape: \\XX of upper-case hexadecimal digits after \\x, and \\\\ for the backslash."""
    return re.sub(rb"\\(?:\\|x([0-9A-F]{2}))", lambda found: bytes([int(found.group(1), 16)]) if found.group(1) else b"\\",
                  text)


class Process:
    """One process folder, read as it lies there: whole, killed or still running."""

    def __init__(self, folder):
        self.folder = Path(folder)
        side = self.folder / "lextrace"
        self.state = self._read_state((side / "state").read_bytes())
        self.info = {}
        for line in (side / "process").read_bytes().splitlines():
            key, _, value = line.partition(b" ")
            self.info[key.decode()] = unescape(value).decode("utf-8", "surrogateescape")
        self.streams = {}
        self.torn = set()
        for path in sorted(self.folder.glob("stream-*")):
            self._read_stream(int(path.name.rpartition("-")[2]), path.read_bytes())
        for path in sorted(side.glob("packet-*")):
            try:
                self._read_open_packet(int(path.name.rpartition("-")[2]), path.read_bytes())
            except FileNotFoundError:
                pass  # the program ended meanwhile
        self.rows = [Row(*row) for row in _ROW.iter_unpack(self._beside("rows")) if row[1]]
        self.journal = [(int(ticks), what) for ticks, _, what in
                        (line.partition(" ") for line in self._beside("journal").decode("utf-8", "replace").splitlines())]
        path, _, self.config = self._beside("config").partition(b"\n")
        self.config_path = None if path in (b"", b"-") else unescape(path).decode("utf-8", "surrogateescape")
        # Last: a place is defined before the first event that names it.
        self.lexgions = dict(self._read_definitions((side / "lexgions").read_bytes()))

    def _beside(self, name):
        """A file that need not be there; rows end with the last whole one."""
        try:
            data = (self.folder / "lextrace" / name).read_bytes()
        except FileNotFoundError:
            return b""
        return data[:len(data) - len(data) % _ROW.size] if name == "rows" else data

    @staticmethod
    def _read_state(data):
        values = _STATE.unpack_from(data)
        names = ("magic version pid parent_pid uuid clock_kind ended exit_status threads clock_frequency "
                 "start_ticks start_monotonic start_realtime end_ticks end_monotonic end_realtime events bytes").split()
        state = dict(zip(names, values))
        rest = values[len(names):]
        count = len(LOSSES)
        state["lost"] = dict(zip(LOSSES, rest[:count]))
        state["lost_at"] = dict(zip(LOSSES, rest[count:2 * count]))
        rest = rest[2 * count:]
        state.update(zip("lexgions unmatched_ends unnamed bounded rows".split(), rest))
        state["modes"] = {DOMAINS[i][2]: MODES.get(mode) for i, mode in enumerate(rest[5:13]) if i in DOMAINS and i < 6}
        state.update(zip("reloads attention signal paused request".split(), rest[13:]))
        assert state["magic"] == 0x45545854, "state of an unknown kind"
        assert 1 <= state["version"] <= _VERSION
        return state

    @staticmethod
    def _read_definitions(data):
        at = 0
        while at + _DEFINITION.size <= len(data):
            size, number, line, domain, flags, name_size, file_size, _ = _DEFINITION.unpack_from(data, at)
            if size == 0 or at + size > len(data):
                return
            if number != 0xFFFFFFFF:
                start = at + _DEFINITION.size
                assert size % 8 == 0 and _DEFINITION.size + name_size + file_size <= size
                name = data[start:start + name_size].decode("utf-8", "surrogatepass")
                file = data[start + name_size:start + name_size + file_size].decode("utf-8", "surrogatepass")
                yield number, Lexgion(name, file, line, domain, flags)
            at += size

    @staticmethod
    def _fields(data, at):
        values = list(_PACKET.unpack_from(data, at))
        fields = {}
        for kind, name in PACKET_FIELDS:
            fields[name] = [values.pop(0) for _ in LOSSES] if kind == "losses" else values.pop(0)
        fields["thread_name"] = fields["thread_name"].split(b"\0")[0].decode("utf-8")
        return fields

    def _packet(self, data, at, stream, is_open):
        """The packet at `at`, or None when the bytes there are no whole packet."""
        if at + _PACKET.size > len(data):
            return None
        fields = self._fields(data, at)
        content, size = fields["content_size"] // 8, fields["packet_size"] // 8
        if fields["magic"] != 0xC1FC1FC1 or not _PACKET.size <= content <= size or at + size > len(data):
            return None
        words = memoryview(data)[at + _PACKET.size:at + content].cast("Q")
        return Packet(fields, words, is_open, stream)

    def _read_stream(self, number, data):
        packets, at = [], 0
        while at < len(data):
            packet = self._packet(data, at, number, False)
            if packet is None:
                self.torn.add(number)
                break
            packets.append(packet)
            at += packet.fields["packet_size"] // 8
        self.streams[number] = packets

    def _read_open_packet(self, number, data):
        packet = self._packet(data, 0, number, True)
        if packet is None:
            return
        before = self.streams.setdefault(number, [])
        if not before or packet.fields["packet_seq_num"] > before[-1].fields["packet_seq_num"]:
            before.append(packet)

    def packets(self):
        for number in sorted(self.streams):
            yield from self.streams[number]

    def events(self):
        """All events, stream by stream; those of one thread are in order."""
        for packet in self.packets():
            yield from packet_events(packet)

    def by_thread(self):
        """{thread number: its packets in order}"""
        threads = {}
        for packet in self.packets():
            threads.setdefault(packet.fields["thread"], []).append(packet)
        for packets in threads.values():
            packets.sort(key=lambda packet: (packet.fields["timestamp_begin"], packet.fields["packet_seq_num"]))
        return threads

    def lexgion(self, number):
        return self.lexgions.get(number) or Lexgion("<unknown>", "", 0, 0, 0)

    def counted(self, file=None):
        """Calls that MONITORING counted, by qualified name."""
        found = Counter()
        for row in self.rows:
            if row.calls and wanted(self.lexgion(row.lexgion), file):
                found[self.lexgion(row.lexgion).name] += row.calls
        return found

    @property
    def chunks(self):
        """The process folders that snapshots made, in their order."""
        return sorted((self.folder / "lextrace" / "chunks").glob("*"), key=lambda path: int(path.name))

    @property
    def thread_names(self):
        """{number: (kernel id, name)} of the threads that have rows."""
        lines = [line.split(b" ", 2) for line in self._beside("threads").splitlines()]
        return {int(number): (int(tid), unescape(name).decode("utf-8", "surrogateescape")) for number, tid, name in lines}

    def stops(self):
        """(ticks, domain) of each mode event: the moments at which a domain stopped recording."""
        number = KIND_IDS["lextrace:mode"]
        packets = [packet for packet in self.packets() if {word & 31 for word in packet.words} & {number, _EXTENDED}]
        return sorted((event.ticks, event.value & 0xFFFF) for packet in packets for event in packet_events(packet)
                      if event.kind == number)

    @property
    def lost(self):
        """Lost events by cause: the newest counters of each stream, or those of the state if they are higher."""
        total = Counter()
        for packets in self.streams.values():
            if packets:
                total.update(dict(zip(LOSSES, packets[-1].fields["lost"])))
        return {name: max(total[name], self.state["lost"][name]) for name in LOSSES}

    @property
    def threads(self):
        """{thread number: set of names it had}"""
        names = {}
        for packet in self.packets():
            names.setdefault(packet.fields["thread"], set()).add(packet.fields["thread_name"])
        return names

    @property
    def tids(self):
        return {packet.fields["thread"]: packet.fields["tid"] for packet in self.packets()}


def _behind(kind, words, at):
    """What stands behind the header of a long event, and the place after it; None for one that is cut off."""
    payload, left = PAYLOADS[kind], len(words) - at
    if payload == "TEXT":
        size = words[at] >> 32 if left else 0
        count = 1 + (size + 7) // 8
    else:
        count = 3 if payload == "SPAN" else 1
    if count > left:
        return None, len(words)
    raw = words[at:at + count].tobytes()
    if payload == "TEXT":
        flags = words[at] & 0xFFFFFFFF
        more = Text(flags & 255, bool(flags & 256), raw[8:8 + max(0, size - (flags >> 16 & 7))])
    elif payload == "SPAN":
        more = struct.unpack("<qQI", raw[:20])
    elif payload == "POINT":
        more = struct.unpack("<I", raw[:4])[0]
    else:
        more = struct.unpack({"RUN": "<Q", "INT": "<q", "FLOAT": "<d"}[payload], raw)[0]
    return more, at + count


def packet_events(packet):
    ticks = packet.fields["timestamp_begin"]
    thread, tid, stream = packet.fields["thread"], packet.fields["tid"], packet.stream
    words, at = packet.words, 0
    while at < len(words):
        word, at = words[at], at + 1
        kind, payload, more = word & 31, word >> 32, None
        if kind != _EXTENDED:
            ticks += ((word >> 5) - ticks) & _MASK
        else:
            if at == len(words):
                return
            high, at = words[at], at + 1
            kind = (word >> 5) & _MASK
            ticks = (word >> 32) | ((high & 0xFFFFFFFF) << 32)
            payload = high >> 32
        if PAYLOADS.get(kind) not in ("STACK", "MODE"):
            payload = ((payload & 0xFFFF) << 8) | ((payload >> 16) & 0xFF)
        if kind >= _FIRST_LONG and kind in PAYLOADS:
            more, at = _behind(kind, words, at)
            if more is None:
                return
        yield Event(ticks, kind, payload, thread, tid, stream, more)


class Run:
    def __init__(self, path):
        self.path = Path(path)
        # A state of zeros is that of a process that is about to begin.
        states = [found for found in self.path.glob("*/lextrace/state") if any(found.read_bytes()[:4])]
        self.processes = sorted((Process(found.parent.parent) for found in states),
                                key=lambda process: process.state["start_realtime"])

    @property
    def notes(self):
        path = self.path / "notes"
        return path.read_text() if path.exists() else ""

    @property
    def main(self):
        assert self.processes, "no process in %s: %s" % (self.path, os.listdir(self.path) if self.path.exists() else "-")
        return self.processes[0]

    @property
    def lost(self):
        return sum(sum(process.lost.values()) for process in self.processes)


def _run(run):
    return run if isinstance(run, Run) else Run(run)


def wanted(lexgion, file):
    return file is None or os.path.basename(lexgion.file) == file


def counts(run, file=None, kind="python:function_begin", process=None):
    """Counter of begins by qualified name; `file`: only of code in a file of that name."""
    number = KIND_IDS[kind]
    found = Counter()
    for one in [process] if process else _run(run).processes:
        values = Counter()
        for packet in one.packets():
            # Most events are one word: count equal (kind, payload) pairs, then resolve each pair once.
            if any(word & 31 >= _FIRST_LONG for word in packet.words):
                values.update(event.value for event in packet_events(packet) if event.kind == number)
            else:
                for word, count in Counter([word & ~0xFFFFFFE0 for word in packet.words]).items():
                    if word & 31 == number:
                        values[(((word >> 32) & 0xFFFF) << 8) | (word >> 48)] += count
        for value, count in values.items():
            lexgion = one.lexgion(value)
            if wanted(lexgion, file):
                found[lexgion.name] += count
    return found


class Slice:
    """One slice of a call: from begin or resume to end, yield or unwind."""

    __slots__ = ("name", "file", "line", "begin", "end", "how", "opened", "parent", "depth", "thread", "stack", "lexgion")

    def __repr__(self):
        return "<%s %s..%s depth %d thread %d>" % (self.name, self.opened, self.how, self.depth, self.thread)


class NotBalanced(AssertionError):
    pass


def _stop(stacks, process, ticks, domain):
    """A domain stops: its calls end on all stacks of a thread. Others inside them go on in slices of their own, returned."""
    new = []
    for stack in stacks.values():
        first = next((i for i, one in enumerate(stack) if process.lexgion(one.lexgion).domain == domain), len(stack))
        inner = stack[first:]
        del stack[first:]
        for one in inner:
            one.end, one.how = ticks, "lextrace:mode"
            if process.lexgion(one.lexgion).domain != domain:
                again = Slice()
                for name in "name file line lexgion thread stack".split():
                    setattr(again, name, getattr(one, name))
                again.begin, again.end, again.how, again.opened = ticks, None, None, "lextrace:mode"
                again.parent, again.depth = stack[-1] if stack else None, len(stack)
                stack.append(again)
                new.append(again)
    return new


def _stop_before(ticks, due, stacks, process):
    """All of the stops that are due before that time."""
    new = []
    while due and due[0][0] < ticks:
        new += _stop(stacks, process, *due.pop(0))
    return new


def slices(process, keep=True):
    """All slices of a process in order of their begin; raises NotBalanced where an end does not match the open call.

    Returns (slices, open slices by (thread, stack)). With keep=False only the open ones are returned.
    """
    done, still_open = [], {}
    stops = process.stops()
    for thread, packets in process.by_thread().items():
        stacks, due = {}, list(stops)
        for packet in packets:
            current = packet.fields["stack"]
            for event in packet_events(packet):
                role = ROLES[event.kind]
                if due:
                    done += _stop_before(event.ticks + (KINDS[event.kind] == "lextrace:mode"), due, stacks, process)
                if KINDS[event.kind] == "lextrace:stack_switch":
                    current = event.value
                    continue
                stack = stacks.setdefault(current, [])
                if role in ("BEGIN", "RESUME"):
                    one = Slice()
                    lexgion = process.lexgion(event.value)
                    one.name, one.file, one.line, one.lexgion = lexgion.name, lexgion.file, lexgion.line, event.value
                    one.begin, one.end, one.how, one.opened = event.ticks, None, None, KINDS[event.kind]
                    one.parent = stack[-1] if stack else None
                    one.depth, one.thread, one.stack = len(stack), thread, current
                    stack.append(one)
                    if keep:
                        done.append(one)
                elif role in ("END", "SUSPEND", "UNWIND"):
                    what = "%s of %s on thread %d stack %d" % (KINDS[event.kind], process.lexgion(event.value).name,
                                                              thread, current)
                    if not stack:
                        raise NotBalanced("%s: nothing is open" % what)
                    if stack[-1].lexgion != event.value:
                        raise NotBalanced("%s: open is %r" % (what, [one.name for one in stack[-5:]]))
                    one = stack.pop()
                    one.end, one.how = event.ticks, KINDS[event.kind]
                    if one.end < one.begin:
                        raise NotBalanced("%s ends before it begins" % what)
        done += _stop_before(float("inf"), due, stacks, process)
        for number, stack in stacks.items():
            if stack:
                still_open[thread, number] = stack
    return done, still_open


def balance(run):
    """Checks that begins and ends nest in every thread and every begin has at most one end.

    Returns the names still open at the end: {(process folder, thread, stack): [names, outermost first]}.
    """
    left = {}
    for process in _run(run).processes:
        for (thread, stack), names in slices(process, keep=False)[1].items():
            left[process.folder.name, thread, stack] = [one.name for one in names]
    return left


def left_open(run):
    """As balance(), without the frames of the package lextrace itself: those that called stop() are open at a stop."""
    left = {}
    for process in _run(run).processes:
        for key, stack in slices(process, keep=False)[1].items():
            names = [one.name for one in stack if not one.file.endswith("lextrace/__init__.py")]
            if names:
                left[(process.folder.name, *key)] = names
    return left


def check_streams(process):
    """The rules of packets: numbers without a gap, times that rise, counts that are right, only known lexgions."""
    for number, packets in process.streams.items():
        last = 0
        for index, packet in enumerate(packets):
            fields = packet.fields
            assert fields["packet_seq_num"] == index, (number, index, fields)
            assert fields["stream_id"] == 0 and fields["uuid"] == process.state["uuid"]
            assert fields["events_discarded"] == sum(fields["lost"])
            assert fields["content_size"] % 64 == 0 and fields["packet_size"] <= 262144 * 8
            assert fields["timestamp_begin"] >= last, (number, index)
            last, count = fields["timestamp_begin"], 0
            for event in packet_events(packet):
                assert event.ticks >= last, (number, index, count)
                assert event.kind in KINDS
                if PAYLOADS[event.kind] not in ("STACK", "MODE"):
                    assert event.value in process.lexgions, "event of an undefined lexgion %d" % event.value
                last, count = event.ticks, count + 1
            assert fields["timestamp_end"] >= last, (number, index)
            if not packet.open:
                assert fields["events"] == count, (number, index, count)
                last = fields["timestamp_end"]


# ---- The same trace by other readers ----

def label(lexgion):
    """What the CTF label of a lexgion says, before escaping: NAME FILE:LINE, or NAME for C code."""
    return lexgion.name if not lexgion.file else "%s %s:%d" % (lexgion.name, lexgion.file, lexgion.line)


_BT_LINE = re.compile(r"^\[(\d+)\] (?:\S+ )?(\w+:\w+): (.*)$")


def babeltrace_lines(path):
    """The trace through babeltrace2: a list of (ticks, event name, rest of the line). Any complaint is an error."""
    done = subprocess.run([BABELTRACE, "--clock-cycles", "--no-delta", "--color=never", "--fields=loglevel",
                           str(path)], capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=240)
    complaints = [line for line in done.stderr.splitlines() if "discarded" not in line.lower()]
    assert done.returncode == 0 and not complaints, "babeltrace2: %d\n%s" % (done.returncode, done.stderr[-3000:])
    lines = []
    for line in done.stdout.splitlines():
        found = _BT_LINE.match(line)
        assert found, "babeltrace2 line not understood: %r" % line
        lines.append((int(found.group(1)), found.group(2), found.group(3)))
    return lines


def check_with_babeltrace(run):
    """babeltrace2 shows the same events: number, order, times and names, thread by thread."""
    run = _run(run)
    for process in run.processes:
        ours = {}
        for thread, packets in process.by_thread().items():
            ours[thread] = [event for packet in packets for event in packet_events(packet)]
        theirs = {}
        for ticks, name, rest in babeltrace_lines(process.folder):
            thread = int(re.search(r"\bthread = (\d+)", rest).group(1))
            theirs.setdefault(thread, []).append((ticks, name, rest))
        assert {thread: len(events) for thread, events in ours.items() if events} == \
            {thread: len(events) for thread, events in theirs.items()}
        for thread, events in theirs.items():
            for event, (ticks, name, rest) in zip(ours[thread], events):
                assert (ticks, name) == (event.ticks, KINDS[event.kind]), (thread, event, rest)
                if PAYLOADS[event.kind] not in ("STACK", "MODE"):
                    shown = label(process.lexgion(event.value)).strip()
                    if shown.isascii() and shown.isprintable() and '"' not in shown and "\\" not in shown:
                        assert shown in rest, (shown, rest)


def check_with_view(run, view):
    """`lextrace view --json` shows the same events: number, order, times, names, places. `view`: see view_events."""
    run = _run(run)
    shown = {}
    for before, event in zip([None, *view], view):
        assert before is None or before["time_ns"] <= event["time_ns"], "all events of a run are in order of time"
        shown.setdefault((event["pid"], event["thread"], event["name"] == "lextrace:stack_switch"), []).append(event)
    ours = {}
    for process in run.processes:
        for event in process.events():
            key = process.state["pid"], event.thread, KINDS[event.kind] == "lextrace:stack_switch"
            ours.setdefault(key, []).append((process, event))
    assert {key: len(events) for key, events in shown.items()} == {key: len(events) for key, events in ours.items()}
    for key, events in ours.items():
        # Several processes may have had one pid, one after the other.
        events.sort(key=lambda one: (one[0].state["start_realtime"], one[1].ticks))
        start_ticks, start_ns, of = 0, 0, None
        for (process, event), theirs in zip(events, shown[key]):
            if process is not of:
                of, start_ticks, start_ns = process, event.ticks, theirs["time_ns"]
            assert theirs["name"] == KINDS[event.kind], (key, event, theirs)
            passed = (event.ticks - start_ticks) * 1e9 / process.state["clock_frequency"]
            assert abs(theirs["time_ns"] - start_ns - passed) <= 5000 + passed / 1000, (key, event, theirs)
            if PAYLOADS[event.kind] == "MODE":
                assert (theirs["domain"], theirs["mode"]) == (DOMAINS[event.value & 0xFFFF][2], MODES[event.value >> 16])
            if PAYLOADS[event.kind] not in ("STACK", "MODE"):
                lexgion = process.lexgion(event.value)
                if lexgion.name.isprintable() and not any("\ud800" <= c <= "\udfff" for c in lexgion.name):
                    assert theirs["qualname"] == lexgion.name
                if lexgion.file.isprintable() and not any("\ud800" <= c <= "\udfff" for c in lexgion.file):
                    assert (theirs.get("filename") or "") == lexgion.file and (theirs.get("lineno") or 0) == lexgion.line


# ---- Running ----

class Result:
    """How a program went: status, its own output, what lextrace said, and the run folder."""

    def __init__(self, done, folder=None):
        self.returncode = done.returncode
        self.stdout = done.stdout
        lines = done.stderr.splitlines(keepends=True)
        self.stderr = "".join(line for line in lines if not line.startswith("lextrace: "))
        self.said = [line.rstrip("\n") for line in lines if line.startswith("lextrace: ")]
        self.folder = folder
        self._run = None

    @property
    def run(self):
        if self._run is None:
            self._run = Run(self.folder)
        return self._run

    def counts(self, file=None, **more):
        return counts(self.run, file, **more)

    def outcome(self):
        return self.returncode, self.stdout, self.stderr


def clean_environment(**more):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("LEXTRACE", "PYTEST", "COV_")) and key not in ("PYTHONPATH", "PYTHONHASHSEED")}
    env.update({key: str(value) for key, value in more.items() if value is not None})
    for key, value in more.items():
        if value is None:
            env.pop(key, None)
    return env


def execute(command, folder=None, env=None, cwd=None, timeout=60, stdin="", **more):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          encoding="utf-8", errors="surrogateescape", cwd=cwd, start_new_session=True,
                          env=clean_environment() if env is None else env, **more) as process:
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError("%r did not end in %d s\n%s\n%s" % (command, timeout, out[-2000:], err[-2000:])) from None
        return Result(subprocess.CompletedProcess(command, process.returncode, out, err), folder)


def lextrace(*words, **more):
    """Any lextrace command."""
    return execute([lextrace_binary(), *map(str, words)], **more)


def view_events(path):
    """`lextrace view --json`, each event as {"pid", "thread", "name", "qualname", ...}."""
    done = subprocess.run([lextrace_binary(), "view", "--json", str(path)], capture_output=True, timeout=240,
                          env=clean_environment())
    assert done.returncode == 0, done.stderr[-2000:]
    text = done.stdout.decode("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]
