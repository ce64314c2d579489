"""Two workers by the start method named on the command line."""
import multiprocessing
import sys


def plough(field):
    return field * 2


def worker(start, results):
    for offset in range(3):
        results.put(plough(start + offset))


def main(method):
    context = multiprocessing.get_context(method)
    results = context.Queue()
    workers = [context.Process(target=worker, args=(start, results)) for start in (0, 10)]
    for process in workers:
        process.start()
    values = sorted(results.get() for _ in range(6))
    for process in workers:
        process.join()
    print(values, [process.exitcode for process in workers])


if __name__ == "__main__":
    main(sys.argv[1])
