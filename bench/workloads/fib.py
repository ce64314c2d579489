"""Nothing but calls: fib(27) by recursion, four times at scale 1, 635,621 calls each."""
from measure import measure

CALLS = 635_621


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def main(scale):
    for _ in range(max(1, round(4 * scale))):
        assert fib(27) == 196_418


if __name__ == "__main__":
    measure(main)
