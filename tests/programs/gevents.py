"""Cooperative workers of gevent."""
import gevent

ORDER = []


def job(name, number):
    ORDER.append((name, number))


def worker(name):
    for number in range(3):
        job(name, number)
        gevent.sleep(0)


def tail():
    return len(ORDER)


def main():
    gevent.joinall([gevent.spawn(worker, name) for name in range(5)])
    for _ in range(3):
        tail()
    print(ORDER)


main()
