"""Starts lextrace in a program run by `lextrace run`, then hands over to the program's own sitecustomize.

Every Python that finds this file runs it, also those that lextrace does not support: the syntax is that of all of them.
"""
import os
import sys


def _say(text):
    """One line, from the process that `lextrace run` started and from no child."""
    if os.environ.get("LEXTRACE_ROOT") == str(os.getpid()) and not os.environ.get("LEXTRACE_QUIET"):
        try:
            os.write(2, ("lextrace: " + text + "\n").encode("utf-8", "replace"))
        except OSError:
            pass  # nobody listens


def _load_core(package):
    """The extension that fits this interpreter, or None after saying why there is none."""
    version = "%d.%d" % sys.version_info[:2]
    if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
        _say("Python %s is not supported (CPython 3.11 and later are): the program runs untraced" % version)
        return None
    if "t" in sys.abiflags:
        _say("free-threaded Python %st is not supported yet: the program runs untraced" % version)
        return None
    import _frozen_importlib as bootstrap
    import _frozen_importlib_external as external
    import _imp
    for suffix in _imp.extension_suffixes():
        path = os.path.join(package, "_core" + suffix)
        if os.path.exists(path):
            loader = external.ExtensionFileLoader("lextrace._core", path)
            try:
                return bootstrap._load(bootstrap.ModuleSpec("lextrace._core", loader, origin=path))
            except ImportError as error:
                if "subinterpreters" in str(error):  # it cannot share what the extension keeps
                    _note("a sub-interpreter with a GIL of its own ran untraced")
                else:
                    _say("cannot load the extension: %s; the program runs untraced" % error)
                return None
    _say("no extension for Python %s: the program runs untraced; to trace it: %s -m pip install lextrace"
         % (version, sys.executable))
    return None


def _note(text):
    """Adds a line to the run's notes, once a process."""
    line = "process %d: %s\n" % (os.getpid(), text)
    path = os.path.join(os.environ["LEXTRACE_DIR"], "notes")
    try:
        with open(path, "a+", encoding="utf-8") as notes:
            notes.seek(0)
            if line not in notes:
                notes.write(line)
    except OSError:
        pass


def _command():
    """The words of the command without the interpreter and its options, and a short name of the program."""
    if sys.argv and sys.argv[0] not in ("-c", "-m", ""):
        name = os.path.basename(sys.argv[0])
        return sys.argv, name[:-3] if name.endswith(".py") else name
    words = sys.orig_argv[1:]
    name = "python -c" if sys.argv[:1] == ["-c"] else "python"
    if sys.argv[:1] == ["-m"]:
        name = next((after for word, after in zip(words, words[1:]) if word == "-m"), name)
    return words, name


def _unfollow(here):
    """Children start as if lextrace were not there."""
    env = os.environ
    for name in [name for name in env if name.startswith("LEXTRACE_") and name != "LEXTRACE_HOME"]:
        del env[name]
    entries = env.get("PYTHONPATH", "").split(os.pathsep)
    if here in entries:
        entries.remove(here)
    if entries:
        env["PYTHONPATH"] = os.pathsep.join(entries)
    else:
        env.pop("PYTHONPATH", None)


def _start(here):
    env = os.environ
    # With -S this file runs only if the program imports it in mid-run: too late to begin.
    run = env.get("LEXTRACE_DIR") if not sys.flags.no_site else None
    core = _load_core(os.path.dirname(here)) if run else None
    if core is None:
        return None
    words, name = _command()
    root = env.get("LEXTRACE_ROOT") == str(os.getpid())
    if root:
        name = env.get("LEXTRACE_PROGRAM", name)
    follow = env.get("LEXTRACE_FOLLOW") != "0"
    settings = dict(
        run=os.fsencode(run),
        program=os.fsencode(name),
        executable=os.fsencode(sys.executable or ""),
        python=sys.version.split()[0].encode(),
        argv=b"\0".join(os.fsencode(word) for word in words),
        c_calls=env.get("LEXTRACE_C_CALLS") == "1",
        follow=follow,
        announce=root and not env.get("LEXTRACE_QUIET"),
        null_sink=env.get("LEXTRACE_SINK") == "null",
    )
    if not follow:
        _unfollow(here)
    os.register_at_fork(after_in_child=core.after_fork_child)
    return core, settings


def _own_sitecustomize():
    """What `import sitecustomize` finds without ours, or None."""
    for finder in getattr(sys, "meta_path", ()):
        find = getattr(finder, "find_spec", None)
        spec = find("sitecustomize", None) if find else None
        if spec is not None and spec.loader is not None:
            return spec
    return None


def _boot():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.path_importer_cache.pop(here, None)
    started = _start(here)
    own = _own_sitecustomize() if sys.version_info >= (3, 4) else None
    if started is not None:
        core, settings = started
        try:
            core.start(**settings)
        except Exception as error:
            _say("cannot record: %s; the program runs untraced" % error)
    if own is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    # It takes the name, as if ours had never been there.
    import _frozen_importlib
    del sys.modules["sitecustomize"]
    _frozen_importlib._load(own)


_boot()
