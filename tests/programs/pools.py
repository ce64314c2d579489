"""A pool whose workers are terminated, never ended in order."""
import multiprocessing
import sys


def job(number):
    return number + 1


def main(method):
    context = multiprocessing.get_context(method)
    with context.Pool(3) as pool:
        print(sum(pool.map(job, range(40), chunksize=1)))


if __name__ == "__main__":
    main(sys.argv[1])
