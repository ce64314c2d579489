"""Writes docs/cli.md from the program's own help: cli_page.py LEXTRACE [FILE]. With no FILE it goes to stdout."""

import re
import subprocess
import sys


def said(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def page(program):
    whole = said(program, "--help")
    names = re.findall(r"^  ([a-z]+) ", whole.split("Commands:")[1].split("Options:")[0], re.M)
    parts = ["# The command line", "Made by `make docs` from the tables that `lextrace --help` is made from.", block(whole)]
    for name in names:
        parts += [f"## lextrace {name}", block(said(program, name, "--help"))]
    return "\n\n".join(parts) + "\n"


def block(text):
    return f"```\n{text.rstrip()}\n```"


if __name__ == "__main__":
    text = page(sys.argv[1])
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
