"""Four threads, each with 500,000 rounds of two small functions at scale 1."""
import threading

from measure import measure


def leaf(value):
    return value + 1


def node(value):
    return leaf(value)


def work(rounds):
    for number in range(rounds):
        node(number)


def main(scale):
    threads = [threading.Thread(target=work, args=(round(500_000 * scale),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    measure(main)
