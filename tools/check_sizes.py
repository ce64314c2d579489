"""Holds the sizes: a C file has at most 500 lines, a function at most 60. Tables of data are no functions."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "python", "fuzz", "tests/unit", "bench")
FILE_MAX = 500
FUNCTION_MAX = 60


def functions(text):
    """(name, first line, lines) of each function: in our style its braces stand alone in the first column."""
    lines = text.split("\n")
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            head = "\n".join(lines[max(0, start - 12) : start - 1])
            head = head[max(head.rfind("\n\n"), head.rfind("*/"), head.rfind("\n}"), 0) :]
            names = re.findall(r"(\w+)\(", head)
            yield (names[0] if names else "?"), start, number - start + 1
            start = None


def main():
    wrong, files, count = [], 0, 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            text = path.read_text()
            place = path.relative_to(ROOT)
            lines = text.count("\n")
            files += 1
            if lines > FILE_MAX:
                wrong.append(f"{place}: {lines} lines, at most {FILE_MAX}")
            for name, line, size in functions(text):
                count += 1
                if size > FUNCTION_MAX:
                    wrong.append(f"{place}:{line}: {name} has {size} lines, at most {FUNCTION_MAX}")
    for line in wrong:
        print(line)
    print(f"sizes: {files} files, {count} functions, {len(wrong)} too long")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
