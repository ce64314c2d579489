"""C calls: len, list.append and dict.get, six million at scale 1, from few Python calls."""
from measure import measure


def block(count, table):
    rows, text, get = [], "abc", table.get
    for number in range(count):
        rows.append(number)
        len(text)
        get(number)
    return len(rows)


def main(scale):
    table = {number: number for number in range(100)}
    for _ in range(round(2000 * scale)):
        assert block(1000, table) == 1000


if __name__ == "__main__":
    measure(main)
