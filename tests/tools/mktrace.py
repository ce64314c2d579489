#!/usr/bin/env python3
"""Makes run folders in the native trace format (include/lextrace/format.h) without the recorder.

As a program it simulates processes, threads and calls at random (same seed, same bytes) and can break the result in
the ways a real run breaks. As a module, Process and Stream write exactly the events a test asks for:

    process = Process("/tmp/run", pid=5000000)
    f = process.lexgion("f", "app.py", 3)
    stream = process.stream(0)
    stream.begin_thread(0, tid=5000000, name="MainThread", ticks=process.start)
    stream.event(process.start + 10, FUNCTION_BEGIN, f)
    stream.event(process.start + 90, FUNCTION_END, f)
    process.end()

The folders have no `metadata`: `lextrace repair` writes it.
"""

import argparse
import os
import random
import shutil
import struct
import sys

(FUNCTION_BEGIN, FUNCTION_END, FUNCTION_YIELD, FUNCTION_RESUME, FUNCTION_UNWIND, C_CALL_BEGIN, C_CALL_END, C_CALL_RAISE,
 REGION_BEGIN, REGION_END, REGION_SUSPEND, REGION_RESUME, REGION_UNWIND, STACK_SWITCH, MODE, IMPORT_BEGIN, IMPORT_END,
 IMPORT_UNWIND, REGION_RUN, ARG_INT, ARG_FLOAT, ARG_TEXT, SPAN, POINT, COUNTER, METADATA) = range(26)
NAMES = ["python:function_begin", "python:function_end", "python:function_yield", "python:function_resume",
         "python:function_unwind", "python:c_call_begin", "python:c_call_end", "python:c_call_raise",
         "user:region_begin", "user:region_end", "user:region_suspend", "user:region_resume", "user:region_unwind",
         "lextrace:stack_switch", "lextrace:mode", "python:import_begin", "python:import_end", "python:import_unwind",
         "user:region_run", "user:arg_int", "user:arg_float", "user:arg_text", "user:span", "user:point", "user:counter",
         "user:metadata"]
PYTHON, USER, IO, OPENMP, MPI, CUDA, LEXTRACE = range(7)
FLAG_C, FLAG_GENERATOR, FLAG_IMPORT, FLAG_KEY = 1, 2, 4, 8
STRING, NUMBER, JSON = range(3)  # forms of a text
TEXT_MORE, TEXT_PART_MAX = 0x100, 4096
COMPS = [None, "io", "mem", "cpu", "comm"]
VERSION = 2
OFF, STANDBY, MONITORING, TRACING = range(4)

FREQUENCY = 2_600_000_000
START_REAL = 1_790_000_000_000_000_000  # ns since the epoch
PACKET_MIN, PACKET_MAX = 16384, 262144
LOSSES = 6
HEADER = struct.Struct("<I16sI QQQQQQQQ IIII 6Q 64s".replace(" ", ""))
STATE = struct.Struct("<IIII16sIIiI Q 3Q 3Q QQ 6Q 6Q QQQQQ 8I IIIIQ".replace(" ", ""))
ROW = struct.Struct("<II7Q")
DEFINITION = struct.Struct("<8I")
WORD, TWO_WORDS = struct.Struct("<Q"), struct.Struct("<QQ")
STAMP = (1 << 27) - 1

HOSTILE = ['say "hi"', "new\nline\ttab", "nul\0inside", b"lone\xed\xa0\x80surrogate", "emoji \U0001f40d", "back\\slash\\",
           b"bad\xff\xfebytes", "", "<lambda>", "\x1b[31mred\x1b[0m", "$HOME;`rm`", "a" * 300, "{ } , = : /* */ //", "%s%n",
           "\u202eright to left", "</script><b>", "??/ trigraph", "\x7f\x80\u2028", "名前.関数", "'single'"]


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def escape(raw):
    """lx_escape of src/base/text.c."""
    out = []
    for char in as_bytes(raw).decode("utf-8", "surrogateescape"):
        code = ord(char)
        if char == "\\":
            out.append("\\\\")
        elif 0xDC80 <= code <= 0xDCFF:
            out.append("\\x%02X" % (code - 0xDC00))
        elif code < 0x20 or code == 0x7F:
            out.append("\\x%02X" % code)
        else:
            out.append(char)
    return "".join(out).encode()


class Stream:
    """One stream-K; threads use it one after the other."""

    def __init__(self, process, number):
        self.process, self.number = process, number
        self.path = os.path.join(process.folder, "stream-%d" % number)
        open(self.path, "wb").close()
        self.sequence = 0
        self.size = PACKET_MIN
        self.lost = [0] * LOSSES
        self.words = None
        self.last_packet = None
        self.thread = self.tid = self.stack = 0
        self.name = b""
        self.log = process.log

    def begin_thread(self, number, tid, name, ticks, stack=0):
        if self.words:
            self.flush()
        self.thread, self.tid, self.name, self.stack = number, tid, as_bytes(name)[:64], stack
        self._open(ticks)

    def _open(self, ticks):
        self.words = []
        self.used = HEADER.size
        self.begin = self.ticks = ticks
        self.packet_stack = self.stack

    def event(self, ticks, kind, value, extended=False, more=b""):
        """`more`: the bytes behind the header, a multiple of 8."""
        if ticks < self.ticks:
            raise ValueError("time runs backwards")
        extended = extended or ticks - self.ticks > STAMP or kind > 30
        need = (16 if extended else 8) + len(more)
        if self.used + need > self.size:
            self.flush()
            self._open(ticks)
            self.size = max(self.size, self.used + need)
        payload = value if kind in (STACK_SWITCH, MODE) else (value >> 8) | (value & 255) << 16
        if extended:
            header = TWO_WORDS.pack(31 | kind << 5 | (ticks & 0xFFFFFFFF) << 32, ticks >> 32 | payload << 32)
        else:
            header = WORD.pack(kind | (ticks & STAMP) << 5 | payload << 32)
        self.words.append(header + more)
        self.used += need
        self.ticks = ticks
        self.process.events += 1
        if kind == STACK_SWITCH:
            self.stack = value
        if self.log:
            name = NAMES[kind] if kind < len(NAMES) else "?"
            self.log.write("%s\t%d\t%d\t%d\t%s\t%d\n" % (self.process.name, self.number, self.thread, ticks, name, value))

    def text(self, ticks, kind, key, text, form=STRING):
        """ARG_TEXT or METADATA, in as many parts as it takes."""
        text = as_bytes(text)
        parts = [text[at:at + TEXT_PART_MAX] for at in range(0, len(text), TEXT_PART_MAX)] or [b""]
        for index, part in enumerate(parts):
            padding = -len(part) % 8
            flags = form | (TEXT_MORE if index + 1 < len(parts) else 0) | padding << 16
            self.event(ticks, kind, key, more=struct.pack("<II", flags, len(part) + padding) + part + bytes(padding))

    def argument(self, ticks, key, value, form=STRING):
        """One argument by the type of its value; `key` is its lexgion."""
        if isinstance(value, float):
            self.event(ticks, ARG_FLOAT, key, more=struct.pack("<d", value))
        elif isinstance(value, int) and -2**63 <= value < 2**63:
            self.event(ticks, ARG_INT, key, more=struct.pack("<q", value))
        elif isinstance(value, int):
            self.text(ticks, ARG_TEXT, key, str(value), NUMBER)
        else:
            self.text(ticks, ARG_TEXT, key, value, form)

    def run(self, ticks, lexgion, number):
        self.event(ticks, REGION_RUN, lexgion, more=WORD.pack(number))

    def span(self, ticks, lexgion, begin, duration, arguments=()):
        """`begin`: realtime ns; `arguments`: pairs of key lexgion and value."""
        self.event(ticks, SPAN, lexgion, more=struct.pack("<qQII", begin, duration, len(arguments), 0))
        for key, value in arguments:
            self.argument(ticks, key, value)

    def point(self, ticks, lexgion, arguments=()):
        self.event(ticks, POINT, lexgion, more=struct.pack("<II", len(arguments), 0))
        for key, value in arguments:
            self.argument(ticks, key, value)

    def counter(self, ticks, lexgion, value):
        self.event(ticks, COUNTER, lexgion, more=struct.pack("<d", value))

    def _packet(self, size, events):
        process = self.process
        header = HEADER.pack(0xC1FC1FC1, process.uuid, 0, self.begin, self.ticks, self.used * 8, size * 8,
                             self.sequence, sum(self.lost), process.monotonic(self.begin), process.realtime(self.begin),
                             self.thread, self.tid, self.packet_stack, events, *self.lost, self.name)
        return (header + b"".join(self.words)).ljust(size, b"\0")

    def flush(self, exact=True):
        """Appends the open packet; exact: without padding."""
        if self.words is None:
            return
        data = self._packet(self.used if exact else self.size, len(self.words))
        with open(self.path, "ab") as file:
            file.write(data)
        self.process.bytes += len(data)
        self.last_packet = data
        self.sequence += 1
        self.size = min(self.size * 4, self.process.packet_max)
        self.words = None

    def lose(self, cause, count=1):
        self.lost[cause] += count

    def leave_open(self, behind=0, ahead=0):
        """Leaves the packet as lextrace/packet-K; the kill came before (behind) or after (ahead) content_size moved."""
        if self.words is None:
            return
        data = bytearray(self._packet(self.size, 0))
        sizes = [len(event) for event in self.words]
        used = self.used - sum(sizes[len(sizes) - behind:]) + 8 * ahead
        struct.pack_into("<Q", data, 40, used * 8)
        self._write_open(bytes(data))
        self.words = None

    def leave_stale(self):
        """The kill came between the append and the reuse of the open packet."""
        if self.words is not None:
            self.flush()
        if self.last_packet is not None:
            self._write_open(self.last_packet.ljust(PACKET_MAX, b"\0"))

    def _write_open(self, data):
        with open(os.path.join(self.process.folder, "lextrace", "packet-%d" % self.number), "wb") as file:
            file.write(data)

    def tear(self, count):
        """Half a packet at the stream's end, as after a kill inside an append."""
        if self.last_packet is not None:
            with open(self.path, "ab") as file:
                file.write(self.last_packet[:max(1, min(count, len(self.last_packet) - 1))])


class Process:
    """One process folder of a run."""

    def __init__(self, run, pid=5_000_000, parent=1, host="testhost", start=10**15, start_real=START_REAL, argv=("app.py",),
                 program="app", packet_max=PACKET_MAX, log=None, c_calls=False, name=None):
        self.name = name or "%s-%d" % (host, pid)
        self.folder = os.path.join(run, self.name)
        os.makedirs(os.path.join(self.folder, "lextrace"))
        self.pid, self.parent, self.start, self.start_real = pid, parent, start, start_real
        self.uuid = struct.pack("<QQ", 0x1DEA000000000000 + pid, start)
        self.packet_max, self.log = packet_max, log
        self.lexgions, self.streams = [], {}
        self.events = self.bytes = self.threads = 0
        self.rows, self.bounded = [], 0
        self.modes = [TRACING] * 6
        self.lexgion("<unknown>", "", 0)
        values = [("host", host), ("system", "Linux 6.1 x86_64"), ("cpus", "2"), ("argv", b"\0".join(map(as_bytes, argv))),
                  ("cwd", "/home/user"), ("executable", "/usr/bin/python3"), ("python", "3.12.1"), ("program", program)]
        values += [("c_calls", "1")] if c_calls else []
        values += [("lextrace", "0.1.0")]
        with open(os.path.join(self.folder, "lextrace", "process"), "wb") as file:
            for key, value in values:
                file.write(key.encode() + b" " + escape(value) + b"\n")
        self.write_state()

    def monotonic(self, ticks):
        return 5 * 10**12 + (ticks - self.start) * 10**9 // FREQUENCY

    def realtime(self, ticks):
        return self.start_real + (ticks - self.start) * 10**9 // FREQUENCY

    def lexgion(self, name, file="", line=0, domain=PYTHON, flags=0, pad=0):
        """pad: a gap of that many times 8 bytes follows in the file."""
        number = len(self.lexgions)
        name, file = as_bytes(name), as_bytes(file)
        size = (DEFINITION.size + len(name) + len(file) + 7) & ~7
        record = DEFINITION.pack(size, number, line, domain, flags, len(name), len(file), 0) + name + file
        self.lexgions.append(record.ljust(size, b"\0"))
        if pad:
            self.lexgions[-1] += struct.pack("<II", 8 * pad, 0xFFFFFFFF) + bytes(8 * pad - 8)
        return number

    def row(self, thread, lexgion, calls=0, inclusive=0, exclusive=0, seen=0, recorded=0, ended=0, opened=0):
        """What MONITORING or a window knows of a thread and lexgion; times are ticks."""
        self.rows.append(ROW.pack(thread, lexgion, calls, inclusive, exclusive, seen or calls, recorded, ended, opened))
        with open(os.path.join(self.folder, "lextrace", "rows"), "wb") as file:
            file.write(b"".join(self.rows).ljust(65536, b"\0"))

    def name_thread(self, number, tid, name):
        """A thread that has rows."""
        with open(os.path.join(self.folder, "lextrace", "threads"), "ab") as file:
            file.write(b"%d %d %s\n" % (number, tid, escape(name)))

    def journal(self, ticks, text):
        with open(os.path.join(self.folder, "lextrace", "journal"), "ab") as file:
            file.write(b"%d %s\n" % (ticks, as_bytes(text)))

    def config(self, path, text):
        with open(os.path.join(self.folder, "lextrace", "config"), "wb") as file:
            file.write((escape(path) if path else b"-") + b"\n" + as_bytes(text))

    def earlier_config(self, number, path, text):
        with open(os.path.join(self.folder, "lextrace", "config-%d" % number), "wb") as file:
            file.write((escape(path) if path else b"-") + b"\n" + as_bytes(text))

    def stream(self, number):
        if number not in self.streams:
            self.streams[number] = Stream(self, number)
        return self.streams[number]

    def region(self, category, name, comp=None, file="", line=0):
        """A region's place; `category` may hold slashes."""
        flags = COMPS.index(comp) << 8 | len(as_bytes(category)) << 16
        return self.lexgion(as_bytes(category) + b"/" + as_bytes(name), file, line, USER, flags)

    def key(self, name):
        return self.lexgion(name, domain=USER, flags=FLAG_KEY)

    def write_lexgions(self):
        with open(os.path.join(self.folder, "lextrace", "lexgions"), "wb") as file:
            file.write(b"".join(self.lexgions) + bytes(4096))

    def write_state(self, ended=0, exit_status=0, end=None, frequency=FREQUENCY):
        lost = [sum(stream.lost[i] for stream in self.streams.values()) for i in range(LOSSES)]
        sample = (end, self.monotonic(end), self.realtime(end)) if end is not None else (0, 0, 0)
        data = STATE.pack(0x45545854, VERSION, self.pid, self.parent, self.uuid, 1, ended, exit_status, self.threads, frequency,
                          self.start, self.monotonic(self.start), self.start_real, *sample, self.events, self.bytes,
                          *lost, *[self.start + 1 if n else 0 for n in lost], len(self.lexgions), 0, 0, self.bounded,
                          len(self.rows), *self.modes, 0, 0, 0, 0, 0, 0, 0)
        with open(os.path.join(self.folder, "lextrace", "state"), "wb") as file:
            file.write(data.ljust(4096, b"\0"))

    def end(self, ended=1, exit_status=0):
        for stream in self.streams.values():
            stream.flush()
        self.write_lexgions()
        last = max([stream.ticks for stream in self.streams.values()] or [self.start])
        self.write_state(ended, exit_status, last + 1000)

    def kill(self, torn=False, stale=False, behind=0, ahead=0):
        for stream in self.streams.values():
            if stale:
                stream.leave_stale()
            else:
                stream.leave_open(behind, ahead)
            if torn:
                stream.tear(1000)
        self.write_lexgions()
        self.write_state(frequency=FREQUENCY + FREQUENCY // 100000)


class Simulation:
    """Random calls on one thread: what a program could do, with exactly one end for each begin of a function."""

    def __init__(self, options, process, functions, rng):
        self.options, self.process, self.functions, self.rng = options, process, functions, rng

    def run(self, stream, thread, tid, name, ticks):
        options, rng = self.options, self.rng
        self.stream, self.ticks = stream, ticks
        stream.begin_thread(thread, tid, name, ticks)
        self.stacks = {0: []}
        self.current = 0
        self.suspended = []
        for _ in range(options.calls):
            self.step()
            if options.discard and rng.random() < options.discard:
                stream.lose(rng.randrange(LOSSES), rng.randint(1, 5))
                self.drop_part()
        if not options.kill:
            for number in sorted(self.stacks):
                self.switch(number)
                while self.stacks[number]:
                    self.close()
        return self.ticks

    def emit(self, kind, value):
        self.ticks += int(self.rng.expovariate(1 / 900)) + 20
        if self.rng.random() < self.options.gaps:
            self.ticks += 1 << 27
        self.stream.event(self.ticks, kind, value)

    def drop_part(self):
        stack = self.stacks[self.current]  # events that were not recorded: some calls ended unseen
        del stack[len(stack) - self.rng.randint(0, min(3, len(stack))):]

    def switch(self, number):
        if number != self.current:
            self.current = number
            self.emit(STACK_SWITCH, number)

    def step(self):
        options, rng = self.options, self.rng
        if options.greenlets and rng.random() < 0.02:
            number = rng.randint(0, options.greenlets)
            self.stacks.setdefault(number, [])
            self.switch(number)
        stack = self.stacks[self.current]
        while stack and (len(stack) >= options.depth or rng.random() < 0.5):
            self.close()
        if self.suspended and rng.random() < 0.3:
            function = self.suspended.pop(rng.randrange(len(self.suspended)))
            self.emit(FUNCTION_RESUME, function)
            stack.append((FUNCTION_RESUME, function))
            return
        number, kind = rng.choice(self.functions)
        if kind == "c":
            self.emit(C_CALL_BEGIN, number)
            failed = options.exceptions and rng.random() < 0.05
            self.emit(C_CALL_RAISE if failed else C_CALL_END, number)
            return
        begin = REGION_BEGIN if kind == "region" else FUNCTION_BEGIN
        self.emit(begin, number)
        if kind == "region" and options.arguments:
            self.add_arguments()
        stack.append((begin if kind != "generator" else FUNCTION_RESUME, number))

    def add_arguments(self):
        """Some of each kind, to the region just begun and beside it."""
        rng, stream, keys = self.rng, self.stream, self.options.keys[self.process.name]
        for _ in range(rng.randint(0, 3)):
            value = rng.choice([rng.randint(-2**63, 2**63 - 1), rng.random(), float("inf"), 10**30, rng.choice(HOSTILE), "x" * 5000])
            stream.argument(self.ticks, rng.choice(keys), value)
        draw = rng.random()
        if draw < 0.1:
            stream.span(self.ticks, rng.choice(keys[:1]), self.process.realtime(self.ticks) - 10**6, rng.randint(0, 10**6),
                        [(rng.choice(keys), 7)] * rng.randint(0, 2))
        elif draw < 0.2:
            stream.point(self.ticks, keys[0], [(rng.choice(keys), "at")] * rng.randint(0, 2))
        elif draw < 0.3:
            stream.counter(self.ticks, keys[0], rng.random())
        elif draw < 0.4:
            stream.text(self.ticks, METADATA, rng.choice(keys), rng.choice(HOSTILE))

    def close(self):
        options, rng = self.options, self.rng
        stack = self.stacks[self.current]
        begin, number = stack.pop()
        if begin == REGION_BEGIN:
            self.emit(REGION_END, number)
        elif begin == FUNCTION_RESUME and len(self.suspended) < 20 and rng.random() < 0.6:
            self.emit(FUNCTION_YIELD, number)
            self.suspended.append(number)
        elif options.exceptions and rng.random() < 0.05:
            self.emit(FUNCTION_UNWIND, number)
        else:
            self.emit(FUNCTION_END, number)


def define_functions(options, process, rng):
    functions = []
    for i in range(options.functions):
        name, file = "function_%d" % i, "/home/user/app/module_%d.py" % (i // 40)
        if options.hostile:
            name = HOSTILE[i % len(HOSTILE)]
            file = HOSTILE[(i * 7 + 3) % len(HOSTILE)]
        draw = rng.random()
        if draw < options.c_calls:
            functions.append((process.lexgion(name, "", 0, PYTHON, FLAG_C), "c"))
        elif draw < options.c_calls + options.generators:
            functions.append((process.lexgion(name, file, i + 1, PYTHON, FLAG_GENERATOR), "generator"))
        elif draw < options.c_calls + options.generators + options.regions:
            functions.append((process.lexgion(name, "", 0, rng.choice([USER, IO])), "region"))
        else:
            functions.append((process.lexgion(name, file, i + 1, pad=i % 6 if i % 7 == 3 else 0), "function"))
    if options.arguments:
        options.keys = getattr(options, "keys", {})
        options.keys[process.name] = [process.region("cat", "told")] + [process.key(name) for name in ["epoch", *HOSTILE[:8]]]
    if options.unknown:
        functions.append((len(process.lexgions) + 1000, "function"))
    return functions


def simulate(options, index, log):
    rng = random.Random("%s/%s" % (options.seed, index))
    process = Process(options.folder, options.pid + index, options.pid if index else 1, start=10**15 + index * 10**9,
                      start_real=START_REAL + index * 10**9 * 10**9 // FREQUENCY, argv=("app.py", "--input", 'a "file"'),
                      packet_max=options.packet, log=log, c_calls=options.c_calls > 0)
    functions = define_functions(options, process, rng)
    streams = options.streams or options.threads
    ticks = [process.start + 5000] * streams
    for thread in range(options.threads):
        number = thread % streams
        name = "MainThread" if thread == 0 else "Thread-%d (work)" % thread
        if options.hostile and thread:
            name = HOSTILE[thread % len(HOSTILE)]
        tid = process.pid if thread == 0 else process.pid + 1000 + thread
        simulation = Simulation(options, process, functions, rng)
        ticks[number] = simulation.run(process.stream(number), thread, tid, name, ticks[number] + 2000) + 2000
    process.threads = options.threads
    if options.kill:
        process.kill(options.torn, options.stale, options.behind, options.ahead)
    else:
        process.end(exit_status=options.exit)
        if options.torn:
            for stream in process.streams.values():
                stream.tear(1000)
    return process


def parse(argv):
    parser = argparse.ArgumentParser(description="Make a run folder in lextrace's native format.")
    parser.add_argument("folder", help="the run folder to make")
    parser.add_argument("--force", action="store_true", help="replace the folder")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--streams", type=int, default=0, help="stream files; threads share them one after the other")
    parser.add_argument("--functions", type=int, default=50)
    parser.add_argument("--calls", type=int, default=1000, help="calls per thread")
    parser.add_argument("--depth", type=int, default=30)
    parser.add_argument("--packet", type=int, default=PACKET_MAX, help="largest packet in bytes")
    parser.add_argument("--generators", type=float, default=0, help="share of functions that are generators")
    parser.add_argument("--c-calls", type=float, default=0, help="share of functions in C")
    parser.add_argument("--regions", type=float, default=0, help="share of user regions")
    parser.add_argument("--arguments", action="store_true", help="regions have arguments, spans and counters beside them")
    parser.add_argument("--exceptions", action="store_true")
    parser.add_argument("--greenlets", type=int, default=0, help="call stacks per thread beside the first")
    parser.add_argument("--gaps", type=float, default=0.001, help="chance of a gap that needs an extended header")
    parser.add_argument("--discard", type=float, default=0, help="chance of lost events per call")
    parser.add_argument("--hostile", action="store_true", help="names with quotes, newlines, NUL, surrogates ...")
    parser.add_argument("--unknown", action="store_true", help="also use an id without a definition")
    parser.add_argument("--kill", action="store_true", help="no end: open packets are left")
    parser.add_argument("--stale", action="store_true", help="with --kill: open packets are copies of appended ones")
    parser.add_argument("--behind", type=int, default=0, help="with --kill: content_size is N events behind")
    parser.add_argument("--ahead", type=int, default=0, help="with --kill: content_size is N events ahead")
    parser.add_argument("--torn", action="store_true", help="streams end inside a packet")
    parser.add_argument("--exit", type=int, default=0, help="exit status")
    parser.add_argument("--pid", type=int, default=5_000_000, help="of the first process (above every real one)")
    parser.add_argument("--notes", default="", help="text of RUN/notes")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--events", help="also write all events here: process, stream, thread, ticks, event, value")
    return parser.parse_args(argv)


def main(argv=None):
    options = parse(argv)
    if options.force:
        shutil.rmtree(options.folder, ignore_errors=True)
    os.makedirs(options.folder, exist_ok=True)
    if options.notes:
        with open(os.path.join(options.folder, "notes"), "w", encoding="utf-8") as file:
            file.write(options.notes.rstrip("\n") + "\n")
    log = open(options.events, "w", encoding="utf-8") if options.events else None
    events = sum(simulate(options, index, log).events for index in range(options.processes))
    if log:
        log.close()
    print("%s: %d processes, %d events" % (options.folder, options.processes, events))
    return 0


if __name__ == "__main__":
    sys.exit(main())
