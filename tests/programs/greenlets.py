"""Greenlets that take turns, one that is never finished, one that fails."""
from greenlet import getcurrent, greenlet

KEEP = []
ORDER = []


def step(who, number):
    ORDER.append(who[1] + str(number))


def ping():
    for number in range(6):
        step("ping", number)
        second.switch()


def pong():
    for number in range(6):
        step("pong", number)
        first.switch()


def deep(count):
    if count:
        return deep(count - 1)
    getcurrent().parent.switch("left")


def abandoned():
    return deep(29)


def fails():
    raise ValueError("from a greenlet")


def tail():
    return len(ORDER)


def main():
    global first, second
    first, second = greenlet(ping), greenlet(pong)
    first.switch()
    KEEP.append(greenlet(abandoned))
    print(KEEP[0].switch())
    try:
        greenlet(fails).switch()
    except ValueError as error:
        print(error)
    for _ in range(3):
        tail()
    print(" ".join(ORDER))


main()
