"""Readers of what `lextrace export` writes, and what should be in it, worked out from the trace by itself.

Each reader gives {(pid, thread's name): [Slice, …]} in the order of the begins; times are ns since the run's start.
"""
import gzip
import json
import re
import struct
from collections import namedtuple
from pathlib import Path

import lextrace_tools as tools

Slice = namedtuple("Slice", "name begin end depth ended")
ENDED = {"SUSPEND": "yield", "UNWIND": "exception", "END": None}
MOMENT = "lost |[A-Z][A-Za-z]+ [A-Z]+$"  # of a process: losses, or a domain that stops recording
FORMATS = ["perfetto", "chrome", "pfw", "speedscope", "folded", "pstats"]


def export(run, path, *options, check=True):
    """Runs `lextrace export`; gives the result, whose .said are our lines."""
    done = tools.lextrace("export", run, "-o", path, *options)
    if check:
        assert done.returncode == 0, done.said
    return done


def content(path):
    data = Path(path).read_bytes()
    return gzip.decompress(data) if str(path).endswith(".gz") else data


def strict_json(text):
    """JSON without what only Python's reader takes; every string is Unicode without lone surrogates."""
    def refuse(word):
        raise ValueError("not JSON: " + word)
    if isinstance(text, bytes):
        text = text.decode("utf-8")  # strictly
    value = json.loads(text, parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


# ---- What should be there ----

class Process(tools.Process):
    """One whose names may hold any byte: what is no UTF-8 is U+FFFD for each byte, as JSON shows it."""

    @staticmethod
    def _read_definitions(data):
        at = 0
        while data[at:at + 4].strip(b"\0"):
            size, number, line, domain, flags, name_size, file_size, _ = struct.unpack_from("<8I", data, at)
            name, file = data[at + 32:at + 32 + name_size], data[at + 32 + name_size:at + 32 + name_size + file_size]
            yield number, tools.Lexgion(shown(name), shown(file), line, domain, flags)
            at += size


def shown(name):
    return "".join("\ufffd" if 0xDC80 <= ord(char) < 0xDD00 else char for char in name.decode("utf-8", "surrogateescape"))


class Clock:
    """Realtime ns of ticks, as in the trace's state file, less `base`: so that they fit into a float."""

    def __init__(self, process, base):
        state = process.state
        self.ticks, self.real = state["start_ticks"], state["start_realtime"] - base
        self.ns = 1e9 / state["clock_frequency"]
        if state["end_monotonic"] > state["start_monotonic"] + 10**6:
            self.ns = (state["end_monotonic"] - state["start_monotonic"]) / (state["end_ticks"] - self.ticks)

    def __call__(self, ticks):
        return self.real + (ticks - self.ticks) * self.ns


def split(lexgion):
    """The category and name of a region; others have their name alone."""
    size = lexgion.flags >> 16 or lexgion.name.find("/")
    if lexgion.domain != 1 or size <= 0 or lexgion.name[size:size + 1] != "/":
        return None, lexgion.name
    return lexgion.name[:size], lexgion.name[size + 1:]


def reference(path, whole=False):
    """
    {(pid, thread's name): [Slice]} of a run by a plain reading of its events; ns since the first process's start. whole: a
    region has its category in its name.
    """
    result = {}
    processes = [Process(found.parent.parent) for found in Path(path).glob("*/lextrace/state")]
    base = min(process.state["start_realtime"] for process in processes)
    for process in processes:
        clock = Clock(process, base)
        for packets in process.by_thread().values():
            slices = _thread(process, clock, packets, whole)
            if slices:
                key = process.state["pid"], packets[-1].fields["thread_name"]
                assert key not in result, "the test's threads need names of their own"
                result[key] = slices
    return result


def _thread(process, clock, packets, whole):
    slices, running, parked, last = [], [], {}, 0
    number = packets[0].fields["stack"]

    def enter(lexgion, ticks):
        running.append((lexgion, len(slices)))
        place = process.lexgion(lexgion)
        slices.append(Slice(place.name if whole else split(place)[1], clock(ticks), None, len(running) - 1, None))

    def leave(ticks, ended):
        lexgion, index = running.pop()
        slices[index] = slices[index]._replace(end=clock(ticks), ended=ended)

    def switch(to, ticks):
        nonlocal number
        if to == number:
            return
        parked[number] = [lexgion for lexgion, _ in running]
        while running:
            leave(ticks, "switch")
        number = to
        for lexgion in parked.pop(to, []):
            enter(lexgion, ticks)

    for packet in packets:
        last = max(last, packet.fields["timestamp_begin"])
        switch(packet.fields["stack"], last)
        for event in tools.packet_events(packet):
            last, role = event.ticks, tools.ROLES[event.kind]
            if role in ("BEGIN", "RESUME"):
                enter(event.value, last)
            elif role in ENDED:
                if any(lexgion == event.value for lexgion, _ in running):
                    while running[-1][0] != event.value:
                        leave(last, "lost")
                    leave(last, ENDED[role])
            elif tools.KINDS[event.kind] == "lextrace:stack_switch":
                switch(event.value, last)
    if process.state["ended"]:
        last = max(last, process.state["end_ticks"])  # open until recording stopped
    while running:
        leave(last, "open")
    return slices


def compare(found, wanted):
    """Names, depths and reasons ("?": not told) are the same, times within the ns that rounding may take."""
    assert {key: len(slices) for key, slices in found.items()} == {key: len(slices) for key, slices in wanted.items()}
    origin = min(slices[0].begin for slices in wanted.values())
    start = min(slices[0].begin for slices in found.values())
    for key, slices in found.items():
        for mine, other in zip(slices, wanted[key]):
            assert mine.name.replace("\0", "\ufffd") == other.name.replace("\0", "\ufffd"), (key, mine, other)
            assert mine.depth == other.depth, (key, mine, other)
            if mine.ended != "?":
                assert mine.ended == other.ended, (key, mine, other)
            assert abs((mine.begin - start) - (other.begin - origin)) <= 2, (key, mine, other)
            assert abs((mine.end - start) - (other.end - origin)) <= 2, (key, mine, other)


class Stack:
    """Begins and ends of one thread to slices; raises where they do not nest or time runs backwards."""

    def __init__(self):
        self.slices, self.open, self.now = [], [], 0

    def begin(self, name, at):
        assert at >= self.now
        self.now = at
        self.open.append(len(self.slices))
        self.slices.append(Slice(name, at, None, len(self.open) - 1, None))

    def end(self, at, ended=None, name=None):
        assert at >= self.now and self.open
        self.now = at
        index = self.open.pop()
        assert name is None or self.slices[index].name == name
        self.slices[index] = self.slices[index]._replace(end=at, ended=ended)


# ---- Readers ----

def read_perfetto(path):
    """Also checks that every packet is in a sequence with valid state, and all names are interned in it."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    trace = protos.Trace()
    trace.ParseFromString(content(path))
    sequences, processes, threads, stacks = {}, {}, {}, {}
    kinds = protos.TrackEvent
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id
        if packet.sequence_flags & protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            assert clocks[64].is_incremental and clocks[1].timestamp > 0
            assert packet.trace_packet_defaults.timestamp_clock_id == 64
            sequences[packet.trusted_packet_sequence_id] = state = {
                "now": clocks[64].timestamp, "names": {}, "categories": {}, "places": {}, "keys": {}, "values": {},
                "track": packet.trace_packet_defaults.track_event_defaults.track_uuid}
        state = sequences[packet.trusted_packet_sequence_id]
        for table, field in (("names", "event_names"), ("categories", "event_categories"),
                             ("places", "source_locations"), ("keys", "debug_annotation_names"),
                             ("values", "debug_annotation_string_values")):
            for item in getattr(packet.interned_data, field):
                assert item.iid and item.iid not in state[table]
                state[table][item.iid] = item
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            if descriptor.name:
                assert descriptor.parent_uuid in processes
            elif descriptor.HasField("process"):
                assert descriptor.process.process_name
                processes[descriptor.uuid] = descriptor.process
            else:
                assert descriptor.parent_uuid in processes
                assert descriptor.thread.pid == processes[descriptor.parent_uuid].pid
                threads[descriptor.uuid] = descriptor.thread
        if packet.HasField("track_event"):
            assert packet.sequence_flags & protos.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            state["now"] += packet.timestamp if not packet.timestamp_clock_id else 0
            if packet.track_event.track_uuid or packet.track_event.type == kinds.TYPE_INSTANT and packet.track_event.categories:
                continue  # see test_annotations.py
            event, stack = packet.track_event, stacks.setdefault(state["track"], Stack())
            if event.type == kinds.TYPE_SLICE_BEGIN:
                assert [state["categories"][iid].name for iid in event.category_iids][0]
                if event.source_location_iid:
                    assert state["places"][event.source_location_iid].file_name
                stack.begin(state["names"][event.name_iid].name, state["now"])
            elif event.type == kinds.TYPE_SLICE_END:
                ended = None
                for annotation in event.debug_annotations:
                    if annotation.name:
                        continue
                    assert state["keys"][annotation.name_iid].name == "ended"
                    ended = state["values"][annotation.string_value_iid].str.decode()
                stack.end(state["now"], ended)
            else:
                assert event.type == kinds.TYPE_INSTANT and re.match(MOMENT, event.name)
    result = {}
    for track, stack in stacks.items():
        assert not stack.open
        if stack.slices:
            key = threads[track].pid, threads[track].thread_name
            assert key not in result
            result[key] = stack.slices
    return result


def read_chrome(path):
    whole = strict_json(content(path))
    assert whole["displayTimeUnit"] == "ns"
    processes, names, stacks = {}, {}, {}
    for event in whole["traceEvents"]:
        key = event["pid"], event["tid"]
        assert 0 < event["pid"] < 2**31 and 0 < event["tid"] < 2**31
        if event["ph"] in "beCi" and event.get("s") != "p":
            assert names[key] and event["cat"] and event["name"]  # see test_annotations.py
            continue
        if event["ph"] == "M":
            if event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                names[key] = event["args"]["name"]
            continue
        at = round(event["ts"] * 1000)
        if event["ph"] == "B":
            assert event["cat"]
            stacks.setdefault(key, Stack()).begin(event["name"], at)
        elif event["ph"] == "E":
            stacks[key].end(at, event.get("args", {}).get("ended"))
        else:
            assert event["ph"] == "i" and re.match(MOMENT, event["name"])
    assert not any(stack.open for stack in stacks.values())
    assert all(pid in processes for pid, _ in stacks)
    return {(pid, names[pid, tid]): stack.slices for (pid, tid), stack in stacks.items()}


def pfw_lines(path):
    text = content(path).decode("utf-8")
    assert text.endswith("\n")
    return [strict_json(line) for line in text[:-1].split("\n")]


def read_pfw(path):
    """Depths by containment, as DFTracer's tools find them; begin and end are us since the epoch."""
    names, spans, events, numbers = {}, {}, {}, {}
    for line in pfw_lines(path):
        key = line["pid"], line["tid"]
        if "id" in line:
            numbers[line["pid"]] = numbers.get(line["pid"], 0) + 1
            assert line["id"] == numbers[line["pid"]]
        events[line["pid"]] = events.get(line["pid"], 0) + (line["ph"] != 4)
        if line["name"] == "thread_name" and line["ph"] == 4:
            names[key] = line["args"]["name"]
        elif line["cat"] != "dftracer":
            if line["ph"] == 2:
                continue  # counters: see test_annotations.py
            assert line["ph"] == 1 and line["type"] in (3, 6) and line["dur"] >= 0
            spans.setdefault(key, []).append((line["name"], line["ts"], line["ts"] + line["dur"],
                                              line["args"].get("ended")))
        elif line["name"] == "end":
            assert line["args"]["num_events"] == events[line["pid"]] - 1
    return {(pid, names[pid, tid]): list_of for (pid, tid), list_of in spans.items()}


def read_speedscope(path):
    whole = strict_json(content(path))
    frames = whole["shared"]["frames"]
    result = {}
    for profile in whole["profiles"]:
        stack = Stack()
        for event in profile["events"]:
            name = frames[event["frame"]]["name"]
            assert profile["startValue"] <= event["at"] <= profile["endValue"]
            if event["type"] == "O":
                stack.begin(name, event["at"])
            else:
                stack.end(event["at"], "?", name)
        assert not stack.open
        _, pid, thread = re.fullmatch(r"(.*?) (\d+) (.*)", profile["name"], re.S).groups()
        assert (int(pid), thread) not in result
        result[int(pid), thread] = stack.slices
    return result


def read_folded(path):
    """{(frames): ns}"""
    result = {}
    for line in content(path).decode("utf-8").split("\n")[:-1]:
        stack, ns = line.rsplit(" ", 1)
        result[tuple(stack.split(";"))] = result.get(tuple(stack.split(";")), 0) + int(ns)
    return result


READERS = {"perfetto": read_perfetto, "chrome": read_chrome, "speedscope": read_speedscope}


def exclusive(slices):
    """Sum of the time that each slice does not share with slices below it."""
    total, ends = 0, []
    for one in slices:
        del ends[one.depth:]
        total += one.end - one.begin
        if ends:
            total -= one.end - one.begin
        ends.append(one)
    return total
