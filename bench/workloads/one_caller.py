"""ctraffic's three million C calls at scale 1, in a program whose function wanted() makes a few more of its own."""
from ctraffic import block
from measure import measure


def wanted():
    for _ in range(10):
        len("abc")


def main(scale):
    table = {number: number for number in range(100)}
    for number in range(round(1000 * scale)):
        assert block(1000, table) == 1000
        if number % 100 == 0:
            wanted()


if __name__ == "__main__":
    measure(main)
