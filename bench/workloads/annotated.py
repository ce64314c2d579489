"""annotated.py API RECORD PREFIX ROUNDS: CPU ns that an annotated call takes more than a bare one; writes ./result.

API: lextrace, or dftracer: whichever package of that name is found first. RECORD: 1, or 0 for tracing that is off.
"""
import json
import os
import sys
import time

API, RECORD, PREFIX, ROUNDS = sys.argv[1], sys.argv[2] == "1", sys.argv[3], int(sys.argv[4])


def nothing():
    pass


def one(image_idx):
    return image_idx


class Loader:
    def bare(self, step):
        return step

    def marked(self, step):
        return step


if API == "lextrace":
    import lextrace

    def decorate(function, *args):
        return lextrace.fn(function, cat="bench", args=args)

    region = lextrace.region

    def begin():
        lextrace.start(PREFIX, config=os.environ["ANNOTATIONS_ONLY"])

    end = lextrace.stop
else:
    os.environ["DFTRACER_ENABLE"] = "1" if RECORD else "0"
    os.environ["DFTRACER_INC_METADATA"] = "1"
    from dftracer.python import dft_fn as region
    from dftracer.python import dftracer

    marker = region("bench")

    def decorate(function, *args):
        return marker.log(function)

    def begin():
        global tracer
        tracer = dftracer.initialize_log(logfile=PREFIX, data_dir="/nowhere", process_id=0)

    def end():
        tracer.finalize()

marked_nothing, marked_one = decorate(nothing), decorate(one, "image_idx")
Loader.marked = decorate(Loader.marked, "step")
loader = Loader()


def bare_calls():
    for _ in range(ROUNDS):
        nothing()


def marked_calls():
    for _ in range(ROUNDS):
        marked_nothing()


def bare_calls_of_one():
    for number in range(ROUNDS):
        one(number)


def marked_calls_of_one():
    for number in range(ROUNDS):
        marked_one(number)


def bare_methods():
    for number in range(ROUNDS):
        loader.bare(number)


def marked_methods():
    for number in range(ROUNDS):
        loader.marked(number)


def bare_loop():
    for _ in range(ROUNDS):
        pass


def regions():
    for _ in range(ROUNDS):
        with region("bench", "region"):
            pass


def ns_each(function):
    best = None
    for _ in range(3):
        start = time.process_time_ns()
        function()
        took = (time.process_time_ns() - start) / ROUNDS
        best = took if best is None or took < best else best
    return best


if RECORD:
    begin()
result = {
    "decorated function": ns_each(marked_calls) - ns_each(bare_calls),
    "decorated function, one argument": ns_each(marked_calls_of_one) - ns_each(bare_calls_of_one),
    "decorated method, one argument": ns_each(marked_methods) - ns_each(bare_methods),
    "region": ns_each(regions) - ns_each(bare_loop),
}
start = time.perf_counter()
if RECORD:
    end()
result["end"] = time.perf_counter() - start
result["spans"] = 12 * ROUNDS
with open("result", "w") as handle:
    json.dump(result, handle)
