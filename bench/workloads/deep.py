"""Recursion: down to depth 2,000 and back, a thousand times at scale 1."""
import sys

from measure import measure


def down(depth):
    return down(depth - 1) + 1 if depth else 0


def main(scale):
    sys.setrecursionlimit(10_000)
    for _ in range(max(1, round(1000 * scale))):
        assert down(2000) == 2000


if __name__ == "__main__":
    measure(main)
