"""The tests here export made runs once; which Python runs them does not matter."""
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/python", "tests/tools", "tests/export"):
    sys.path.insert(0, str(ROOT / folder))


def pytest_configure(config):
    if not os.environ.get("LEXTRACE_BIN") and not (ROOT / ".venv/bin/lextrace").exists():
        raise pytest.UsageError("no lextrace: run `make build`, or set LEXTRACE_BIN")
