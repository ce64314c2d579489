"""Generators: a pipeline of three, and many short ones; about 3.4 million starts and resumptions at scale 1."""
from measure import measure


def numbers(count):
    for number in range(count):
        yield number


def odd(source):
    for number in source:
        if number & 1:
            yield number


def doubled(source):
    for number in source:
        yield number * 2


def pair(number):
    yield number
    yield -number


def main(scale):
    for _ in range(round(20 * scale) or 1):
        assert sum(doubled(odd(numbers(60_000)))) == 2 * 30_000 ** 2
    total = 0
    for number in range(round(350_000 * scale)):
        total += sum(pair(number))
    assert total == 0


if __name__ == "__main__":
    measure(main)
