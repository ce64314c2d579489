"""pfw_read.py [--nested] [EVENTS] [LEXTRACE]: `lextrace report` on a .pfw.gz in DFTracer's line format, beside `zcat FILE | wc -l`.

The file is one gzip member: spans with and without arguments, file operations with hashes, four processes of two threads.
`--nested` makes spans that lie in each other, in the order in which they end, as DFTracer writes them; without it
most of them overlap.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOAL = 2.5e-7  # seconds an event, on two idle cores
HEAD = '{"name":"%s","cat":"dftracer","type":1,"pid":100,"tid":100,"ph":4,"args":{"hhash":"%016x","name":"%s","value":"%s"}}'
HOST = 0x6882804a826580cd


def spans(count, nested, randoms):
    """(pid, tid, begin, duration) of each."""
    now = [1796056402000000] * 8
    open_ones = [[] for _ in now]
    for index in range(count):
        thread = index % 8
        now[thread] += randoms.randrange(1, 80)
        if not nested:
            begin, length = now[thread], int(2 ** (randoms.random() * 12))
        elif len(open_ones[thread]) < 6 and randoms.random() < 0.5:
            open_ones[thread].append(now[thread])
            begin, length = now[thread], randoms.randrange(2)
            now[thread] += length
        else:
            begin = open_ones[thread].pop() if open_ones[thread] else now[thread] - 1
            length = now[thread] - begin
        yield 100 + thread % 4, 1000 + thread, begin, length


def lines(count, nested):
    randoms = random.Random(7)
    files = ["%016x" % randoms.getrandbits(64) for _ in range(200)]
    names = ["fn_%s_%d" % (word, n) for n in range(10) for word in ("load", "train.step", "decode", "forward")]
    yield HEAD % ("HH", HOST, "node", "%016x" % HOST)
    yield HEAD % ("CM", HOST, "time_metric", "US")
    for number, name in enumerate(files):
        yield HEAD % ("FH", HOST, "/data/set/file_%d" % number, name)
    for index, (pid, tid, begin, length) in enumerate(spans(count, nested, randoms), 1):
        kind = index % 5
        name = ("read", "write", "open64", "close")[index // 5 % 4] if kind == 4 else names[randoms.randrange(40)]
        text = '{"id":%d,"name":"%s","cat":"%s","type":%d,"pid":%d,"tid":%d,"ts":%d,"dur":%d,"ph":1' % (
            index, name, "POSIX" if kind == 4 else "APP", 3 if kind == 4 else 6, pid, tid, begin, length)
        if kind == 3:
            text += ',"args":{"hhash":"%016x","epoch":%d,"step":%d}' % (HOST, index // 100000, index // 50)
        elif kind == 4:
            text += ',"args":{"hhash":"%016x","fhash":"%s","ret":%d}' % (HOST, files[randoms.randrange(200)], index % 65536)
        yield text + "}"


def write(path, count, nested):
    packer, held = zlib.compressobj(6, zlib.DEFLATED, 31), []
    with path.open("wb") as file:
        for text in lines(count, nested):
            held.append(text)
            if len(held) == 20000:
                file.write(packer.compress(("\n".join(held) + "\n").encode()))
                held.clear()
        file.write(packer.compress(("\n".join(held) + "\n").encode()) + packer.flush())


def measure(words):
    """Seconds, CPU seconds and largest memory in MB of a command; the best of three."""
    best = None
    for _ in range(3):
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode:
            raise SystemExit("pfw_read: %s: status %d" % (words, process.returncode))
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (seconds,), (seconds, cpu, usage.ru_maxrss / 1024))
    return best


def main():
    words = [word for word in sys.argv[1:] if word != "--nested"]
    count = int(words[0]) if words else 10_000_000
    lextrace = words[1] if len(words) > 1 else str(ROOT / ".venv/bin/lextrace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.pfw.gz"
        write(path, count, "--nested" in sys.argv)
        print("%d events, %.1f MB" % (count, path.stat().st_size / 1e6))
        for name, command in (("lextrace report", [lextrace, "report", str(path)]),
                              ("zcat | wc -l", ["sh", "-c", 'zcat "$1" | wc -l', "sh", str(path)])):
            seconds, cpu, memory = measure(command)
            print("%-16s %6.2f s  %6.2f s CPU  %7.1f MB" % (name, seconds, cpu, memory), end="")
            print("  goal %.2f s" % (GOAL * count) if name[0] == "l" else "")


if __name__ == "__main__":
    main()
