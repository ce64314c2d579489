"""Exceptions that cross forty frames, with calls on the way, re-raised and chained, twenty times."""


def buoy(depth):
    return depth


def sink(depth):
    if depth == 0:
        raise ValueError("bottom")
    try:
        return sink(depth - 1)
    finally:
        if depth % 10 == 0:
            buoy(depth)


def wrap():
    try:
        sink(40)
    except ValueError as error:
        raise LookupError("wrapped") from error


def surface():
    try:
        wrap()
    except LookupError:
        return 1


def main():
    total = 0
    for _ in range(20):
        total += surface()
    return total


print("came up", main())
