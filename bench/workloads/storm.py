"""Ten thousand short threads at scale 1, at most eight at a time; each calls three functions, 200 times in all."""
import threading

from measure import measure

THREADS = 10_000


def leaf(value):
    return value + 1


def node(value):
    return leaf(value)


def work():
    for number in range(99):
        node(number)


def main(scale):
    for _ in range(round(THREADS / 8 * scale)):
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    measure(main)
