"""Prints what a script can see of the way it was started."""
import inspect
import os
import pickle
import sys
import threading


class Crate:
    def __init__(self, weight):
        self.weight = weight


def pack(weight):
    return Crate(weight)


def main():
    print("name", __name__, "spec", __spec__, "package", repr(__package__), "loader", type(__loader__).__name__)
    print("file", __file__, "doc", __doc__, "cached", __builtins__ is sys.modules["builtins"])
    print("argv", sys.argv, sys.orig_argv)
    print("path", sys.path, len(sys.meta_path), len(sys.path_hooks))
    module = sys.modules["__main__"]
    print("main module", module.__dict__ is globals(), module.pack is pack, sorted(vars(module)))
    print("pickle", pickle.loads(pickle.dumps(pack(12))).weight)
    print("source", inspect.getsource(pack), inspect.getmodule(pack) is module)
    print("thread", threading.current_thread().name, threading.main_thread().name)
    print("hooks", sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.unraisablehook,
          sys.breakpointhook, sys.getprofile(), sys.gettrace(), threading.excepthook)
    print("stack depth", len(inspect.stack()))
    print("executable", sys.executable, sys.prefix, sys.exec_prefix, sys.base_prefix, sys.flags)
    print("cwd", os.getcwd(), sys.getrecursionlimit(), sys.getswitchinterval(), sys.is_finalizing())
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    print("outermost", frame.f_code.co_name, frame.f_lineno)


main()
