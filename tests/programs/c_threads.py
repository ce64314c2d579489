"""Python functions called from threads that C makes."""
import sys
import time

import native_threads


def leaf(number):
    return number


def callback(number):
    return leaf(number)


if "linger" in sys.argv:
    native_threads.linger(callback)
    time.sleep(0.05)
else:
    native_threads.run(callback, 5, 20)
print("done")
