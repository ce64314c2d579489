"""random_calls.py SEED FILE: calls of every kind in random order; writes to FILE who started whose body, and how often."""
import asyncio
import json
import random
import sys
import threading
from collections import Counter

PAIRS = {}


class Trouble(Exception):
    pass


class State:
    """Of one thread: its own random numbers and counters, no lock."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pairs = Counter()
        self.budget = 1500
        self.parked = []

    def started(self):
        # f_back of the body's frame: the one that called or resumed it.
        frame = sys._getframe(1)
        self.pairs[(frame.f_back.f_code.co_qualname if frame.f_back else None, frame.f_code.co_qualname)] += 1

    def pick(self, depth):
        self.budget -= 1
        if self.budget < 0 or depth > 40:
            return leaf
        return self.random.choice(KINDS)


def leaf(state, depth):
    state.started()
    return depth


def plain(state, depth):
    state.started()
    for _ in range(state.random.randrange(3)):
        state.pick(depth)(state, depth + 1)


def raises(state, depth):
    state.started()
    state.pick(depth)(state, depth + 1)
    raise Trouble(depth)


def catches(state, depth):
    state.started()
    try:
        raises(state, depth + 1)
    except Trouble:
        leaf(state, depth + 1)
    finally:
        state.pick(depth)(state, depth + 1)


def tries(state, depth):
    state.started()
    try:
        state.pick(depth)(state, depth + 1)
    except Trouble:
        pass


def steps(state, depth):
    state.started()
    try:
        for number in range(state.random.randrange(1, 6)):
            try:
                yield number
            except KeyError:
                leaf(state, depth + 1)
            if state.random.random() < 0.3:
                tries(state, depth + 1)
    finally:
        leaf(state, depth + 1)


def chain(state, depth):
    state.started()
    yield from steps(state, depth + 1)


def generates(state, depth):
    state.started()
    gen = state.random.choice((steps, chain))(state, depth + 1)
    what = state.random.randrange(6)
    if what == 0:
        for _ in gen:
            leaf(state, depth + 1)
    elif what == 1:
        next(gen)
        gen.close()
    elif what == 2:
        next(gen)
        try:
            gen.throw(KeyError)
        except StopIteration:
            pass
        del gen
    elif what == 3:
        next(gen)
        try:
            gen.throw(Trouble)
        except Trouble:
            pass
    elif what == 4:
        next(gen)
        state.parked.append(gen)
    elif state.parked:
        other = state.parked.pop(state.random.randrange(len(state.parked)))
        for _ in other:
            leaf(state, depth + 1)


def recurses(state, depth):
    state.started()
    limit = state.random.randrange(1, 60)

    def again(count):
        state.started()
        if count:
            again(count - 1)
        elif limit % 3 == 0:
            raise Trouble(count)

    try:
        again(limit)
    except Trouble:
        pass


def made(state, depth):
    state.started()
    space = {"state": state, "leaf": leaf, "depth": depth}
    exec("def fresh():\n    state.started()\n    return leaf(state, depth + 1)\nfresh()", space)


def sorts(state, depth):
    state.started()

    def key(number):
        state.started()
        return -number
    sorted(range(5), key=key)
    list(map(lambda number: state.started(), range(3)))


class Thing:
    def __init__(self, state):
        state.started()
        self.state = state

    def __enter__(self):
        self.state.started()
        return self

    def __exit__(self, *error):
        self.state.started()
        return True

    def __del__(self):
        self.state.started()


def context(state, depth):
    state.started()
    with Thing(state):
        state.pick(depth)(state, depth + 1)


async def task(state, depth, count):
    state.started()
    for _ in range(count):
        await asyncio.sleep(0)
        tries(state, depth + 1)
    if count % 2:
        raise Trouble(count)
    return count


async def series(state, depth):
    state.started()
    for number in range(3):
        await asyncio.sleep(0)
        leaf(state, depth + 1)
        yield number


async def group(state, depth):
    state.started()
    tasks = [asyncio.ensure_future(task(state, depth + 1, state.random.randrange(4))) for _ in range(3)]
    async for _ in series(state, depth + 1):
        pass
    tasks[-1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


KINDS = [leaf, plain, plain, raises, catches, tries, tries, generates, generates, recurses, made, sorts, context]


def work(name, seed):
    state = State(seed)
    while state.budget > 0:
        tries(state, 0)
    for _ in range(3):
        state.budget = 60
        asyncio.run(group(state, 0))
    state.parked.clear()
    PAIRS[name] = state.pairs


def main(seed, path):
    threads = [threading.Thread(target=work, args=("worker %d" % number, seed * 10 + number)) for number in range(2)]
    for thread in threads:
        thread.start()
    work("main", seed * 10 + 9)
    for thread in threads:
        thread.join()
    total = Counter()
    for pairs in PAIRS.values():
        total.update(pairs)
    with open(path, "w") as handle:
        json.dump([[parent, child, count] for (parent, child), count in sorted(total.items(), key=str)], handle)


main(int(sys.argv[1]), sys.argv[2])
