"""One loop that calls one tiny function, four million times at scale 1."""
from measure import measure


def tiny(value):
    return value


def main(scale):
    for number in range(round(4_000_000 * scale)):
        tiny(number)


if __name__ == "__main__":
    measure(main)
