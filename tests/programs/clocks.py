"""Replaces Python's clocks by ones that stand still or run backwards."""
import select
import time

CALLS = [0]


def backwards():
    CALLS[0] += 1
    return 1000.0 - CALLS[0]


def step():
    select.select([], [], [], 0.003)


def main():
    time.time = time.monotonic = time.perf_counter = backwards
    time.time_ns = time.monotonic_ns = time.perf_counter_ns = lambda: 0
    for _ in range(20):
        step()
    time.time(), time.monotonic()
    print(CALLS[0])


main()
