"""Writes docs/format.md from include/lextrace/format.h; --check only says whether it is up to date."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = (ROOT / "include/lextrace/format.h").read_text()
PAGE = ROOT / "docs/format.md"


def rows(name):
    """The rows of one X-macro: lists of words, a trailing comment as the last one."""
    body = re.search(rf"#define {name}\(X\)[ \t]*((?:.*\\\n)*.*)", HEADER).group(1)
    found = []
    for line in body.splitlines():
        for match in re.finditer(r"X\(([^)]*)\)(?:\s*/\*\s*(.*?)\s*\*/)?", line):
            found.append([word.strip().strip('"') for word in match.group(1).split(",")] + [match.group(2) or ""])
    return found


def comment_before(text):
    """The prose of the comment that stands right before `text` in the header."""
    before = HEADER[: HEADER.index(text)]
    comment = before[before.rindex("/*") + 2 : before.rindex("*/")]
    lines = [re.sub(r"^ \* ?", "", line.rstrip()) for line in comment.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("----")).strip("\n")


def members(struct):
    """The members of a struct with their comments."""
    body = re.search(rf"struct {struct} \{{(.*?)\n\}};", HEADER, re.S).group(1)
    found = []
    for line in body.splitlines():
        match = re.match(r"\s*([a-z_0-9 ]+?) ([a-z_0-9]+(?:\[[A-Z_0-9a-z]+\])?(?:, [a-z_0-9]+)*);\s*(?:/\*\s*(.*?)\s*\*/)?", line)
        if match:
            found.append([match.group(2), match.group(1), match.group(3) or ""])
    return found


def as_written(text):
    """The header's own words, laid out as they stand there."""
    return f"```text\n{text}\n```"


def table(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in body])


def constant(name):
    return re.search(rf"#define {name} (\w+?)u?\b", HEADER).group(1)


def page():
    domains = {row[1]: row for row in rows("LX_DOMAINS")}
    events = [[row[0], f"`{domains[row[2]][3]}:{row[3]}`", row[4].lower(), row[5].lower()] for row in rows("LX_EVENT_KINDS")]
    packet = [[f"`{name}`", kind] for kind, name, _ in rows("LX_PACKET_FIELDS")]
    losses = [[f"`{row[2]}`", row[3]] for row in rows("LX_LOSSES")]
    top = comment_before("#ifndef LEXTRACE_FORMAT_H").split("\n\n", 2)[2]
    return "\n\n".join(
        [
            "# The native trace format",
            f"Version {constant('LX_FORMAT_VERSION')}. Made from `include/lextrace/format.h`, from which the writer, the reader and "
            "the CTF metadata are made too; `make lint` holds them together. A process folder is a CTF 1.8 trace that any CTF "
            "reader opens.",
            top,
            "## Domains",
            table(["number", "name", "prefix of its events"], [[row[0], row[2], f"`{row[3]}`"] for row in rows("LX_DOMAINS")]),
            "## Modes of a domain",
            table(["number", "mode"], [[row[0], row[1]] for row in rows("LX_MODES")]),
            "## Events",
            table(["id", "event", "role", "payload"], events),
            as_written(comment_before("#define LX_EVENT_KINDS").split("\n", 1)[1]),
            "## Event header",
            as_written(comment_before("#define LX_EVENT_SIZE")),
            as_written(comment_before("#define LX_LABELS_PER_BLOCK")),
            "## Packets",
            table(["field", "type"], packet),
            as_written(comment_before("#define LX_PACKET_FIELDS")),
            "Causes of losses, in the order of the `lost` fields:",
            table(["field", "cause"], losses),
            "## lextrace/lexgions",
            as_written(comment_before("#define LX_DEFINITION_PAD")),
            table(["member", "type", ""], members("lx_definition")),
            "## lextrace/state",
            table(["member", "type", ""], members("lx_state")),
            "A clock sample is one moment on three clocks:",
            table(["member", "type", ""], members("lx_clock_sample")),
            "## lextrace/rows",
            as_written(comment_before("struct lx_row {")),
            table(["member", "type", ""], members("lx_row")),
            "## lextrace/process",
            "Lines `key value`, the value escaped (`\\xHH` for control characters, backslashes as `\\\\`):",
            table(["key", ""], [[f"`{row[0]}`", row[1]] for row in rows("LX_PROCESS_KEYS")]),
        ]
    ) + "\n"


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            return print("docs/format.md is not what format.h says: python3 tools/format_doc.py") or 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
