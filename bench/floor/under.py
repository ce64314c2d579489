"""under.py HOOK KIND SCRIPT: runs SCRIPT under one floor (monitor or profile, see floor.c)."""
import runpy
import sys
import threading

import lextrace_floor

hook, kind, script = sys.argv[1:4]
sys.argv = sys.argv[3:]
install = getattr(lextrace_floor, hook)
if hook == "profile":
    threading.setprofile(lambda *event: install(kind))
install(kind)
runpy.run_path(script, run_name="__main__")
