"""Generators that are drained, closed, dropped, thrown into, delegated to, or never started."""
import gc

LOG = []


def note(word):
    LOG.append(word)


def countdown(label, count):
    try:
        while count:
            yield count
            count -= 1
    finally:
        note(label)


def outer(label, count):
    yield from countdown(label, count)


def bare(count):
    for number in range(count):
        yield number


def echo():
    got = None
    while True:
        try:
            got = yield got
        except KeyError:
            got = "caught"


def never():
    yield 1


def tail():
    return len(LOG)


def main():
    list(countdown("drained", 2))
    gen = countdown("closed", 9)
    next(gen), next(gen)
    gen.close()
    gen = countdown("dropped", 9)
    next(gen)
    del gen
    gc.collect()
    gen = countdown("thrown", 9)
    next(gen)
    try:
        gen.throw(ValueError)
    except ValueError:
        pass
    list(outer("delegated", 2))
    gen = outer("closed through", 9)
    next(gen)
    gen.close()
    gen = countdown("told to stop", 1)
    next(gen)
    gen.close()
    gen = bare(9)
    next(gen)
    gen.close()
    gen = bare(9)
    next(gen)
    del gen
    gen = echo()
    answers = [next(gen), gen.send("a"), gen.throw(KeyError), gen.send("b")]
    try:
        gen.throw(IndexError)
    except IndexError:
        pass
    gen = never()
    try:
        gen.throw(OSError)
    except OSError:
        pass
    never()
    for _ in range(4):
        tail()
    return answers


print(main(), LOG)
