"""Makes a million calls at scale 1 and dies of SIGKILL."""
import os
import signal


def leaf(number):
    return number


for _number in range(round(1_000_000 * float(os.environ.get("BENCH_SCALE", "1")))):
    leaf(_number)
os.kill(os.getpid(), signal.SIGKILL)
