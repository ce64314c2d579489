"""Holds the include rule: which folder under src/ may include which, own paths only from src/, and no circles."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
GLUE = ROOT / "python" / "lextrace"  # its core/ is the Python side of capture

# Beside itself, base/ and the public headers. A path with .h is that one file.
MAY_INCLUDE = {
    "base": [],
    "capture": ["decide", "record"],
    "core": ["capture", "decide", "record"],
    "decide": [],
    "record": ["sink/sink.h"],
    "sink": [],
    "transform": [],
    "view": ["transform/trace.h"],
    "cli": ["decide", "transform", "view"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def sources():
    """(file, its name as others include it) of all C files."""
    for root, folders in ((SOURCES, "*"), (GLUE, "core"), (ROOT / "include", "lextrace")):
        for path in sorted(root.glob(f"{folders}/*.[ch]")):
            yield path, str(path.relative_to(root))


def allowed(folder, name):
    other = name.split("/")[0]
    if other in (folder, "base", "lextrace") or folder == "lextrace":
        return True
    return other in MAY_INCLUDE[folder] or name in MAY_INCLUDE[folder]


def find_circle(graph):
    """A circle of includes as a list of names, or None."""
    done = set()

    def visit(name, path):
        if name in path:
            return path[path.index(name) :] + [name]
        if name in done:
            return None
        for other in graph.get(name, ()):
            circle = visit(other, [*path, name])
            if circle:
                return circle
        done.add(name)
        return None

    return next(filter(None, (visit(name, []) for name in graph)), None)


def main():
    files = dict((name, path) for path, name in sources())
    graph, wrong = {}, []
    for name, path in files.items():
        folder = name.split("/")[0]
        graph[name] = []
        if folder not in MAY_INCLUDE and folder != "lextrace":
            wrong.append(f"{path.relative_to(ROOT)}: folder {folder} has no rule in tools/check_includes.py")
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            other = match[2]
            line = text.count("\n", 0, match.start(2)) + 1
            where = f"{path.relative_to(ROOT)}:{line}"
            if match[1] == "<":
                continue
            if other not in files:
                wrong.append(f'{where}: "{other}" is no file below src/ or include/')
            elif not allowed(folder, other):
                wrong.append(f"{where}: {folder}/ may not include {other}")
            else:
                graph[name].append(other)
    circle = find_circle(graph)
    if circle:
        wrong.append("include circle: " + " -> ".join(circle))
    for line in wrong:
        print(line)
    print(f"includes: {len(files)} files, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
