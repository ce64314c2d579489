"""Runs code in a second interpreter, twice, then goes on in the first."""
import sys

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SCRIPT = """
def inner_job(number):
    return number + 1

total = 0
for number in range(6):
    total += inner_job(number)
print("inner", total, flush=True)
"""


def before(number):
    return number


def after(number):
    return number


for number in range(3):
    before(number)
sys.stdout.flush()
for _ in range(2):
    other = interpreters.create()
    interpreters.run_string(other, SCRIPT)
    interpreters.destroy(other)
for number in range(5):
    after(number)
print("outer done")
