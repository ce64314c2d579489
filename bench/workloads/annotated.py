"""annotated.py [record] FOLDER: ns of CPU that a decorated call and a region take more than without; writes ./result."""
import json
import sys
import time

import lextrace

ROUNDS = 300_000


def work(path, size=1):
    return size


marked = lextrace.fn(work)
place = lextrace.region("bench", "region")


def bare_calls():
    for number in range(ROUNDS):
        work("name", size=number)


def marked_calls():
    for number in range(ROUNDS):
        marked("name", size=number)


def bare_loop():
    for _ in range(ROUNDS):
        pass


def region_loop():
    for _ in range(ROUNDS):
        with place:
            pass


def ns_each(function):
    best = None
    for _ in range(5):
        start = time.process_time_ns()
        function()
        took = (time.process_time_ns() - start) / ROUNDS
        best = took if best is None or took < best else best
    return best


if sys.argv[1] == "record":
    lextrace.start(sys.argv[2])
result = {"decorated function": ns_each(marked_calls) - ns_each(bare_calls),
          "region": ns_each(region_loop) - ns_each(bare_loop)}
lextrace.stop()
with open("result", "w") as handle:
    json.dump(result, handle)
