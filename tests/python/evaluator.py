"""A second reading of the configuration language: slow, plain, from its definition alone. For files without errors.

It keeps what each header says as a list, in file order, and looks everything up anew for each question.
"""
import fnmatch
import re

BUILT_IN = {"trace_starts_at": 0, "max_num_traces": -1, "tracing_rate": 1, "max_c_traces": None, "window_timeout": None,
            "window_end_trigger": "first"}
SWITCHES = {"pysysmon_py_start": True, "pysysmon_py_return": True, "pysysmon_c_start": True, "pysysmon_c_return": True,
            "pysysmon_import": False}
TRUE = {"on", "1", "true", "yes"}


def parse_set(text):
    """The set "(0-3,7)" as a list of pairs."""
    inner = text.strip()[1:-1].strip()
    pairs = []
    for part in filter(None, (part.strip() for part in inner.split(","))):
        first, _, last = part.partition("-")
        pairs.append((int(first), int(last or first)))
    return pairs


def normal(pairs):
    return {number for first, last in pairs for number in range(first, min(last, 1000) + 1)}


def holds(pairs, number):
    return any(first <= number <= last for first, last in pairs)


class Section:
    def __init__(self, target):
        self.target = target
        self.keys = {}
        self.set = None
        self.from_default = False


class Evaluator:
    def __init__(self, text, c_calls=True):
        self.c_calls = c_calls
        self.sections = {}  # target -> Section, in file order
        self.read(text)

    # ---- Reading ----

    def read(self, text):
        current = None
        for line in text.splitlines():
            line = re.sub(r"(^|\s)[#;].*$", "", line).strip()
            if not line:
                continue
            if line.startswith("["):
                current = self.header(line)
            elif current:
                key, _, value = line.partition("=")
                for section in current:
                    self.set_key(section, key.strip(), value.strip())

    def header(self, line):
        inner, tail = self.split_header(line)
        action, _, rest = inner.strip().partition(" ")
        if action.upper() in ("SET", "RESET", "REMOVE"):
            inner = rest
        else:
            action = "SET"
        action, inner = action.upper(), inner.strip()
        limit = re.search(r"python\.thread\s*(\([^)]*\))", tail, re.I)
        found = []
        for target in self.targets(inner):
            if action == "REMOVE":
                self.remove(target, parse_set(limit[1]) if limit else None)
                continue
            if action == "RESET":
                self.sections.pop(target, None)
            section = self.sections.setdefault(target, Section(target))
            if target[0] == "punit":
                section.set = target[2]
            if limit:
                section.set = parse_set(limit[1])
            if re.search(r"lexgion\(python\)\.default", tail, re.I):
                section.from_default = True
            found.append(section)
        return found

    @staticmethod
    def split_header(line):
        """The text in the brackets, and what stands behind them. A wildcard's brackets are inside the round ones."""
        depth = 0
        for at, sign in enumerate(line):
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth -= 1
            elif sign == "]" and depth == 0:
                return line[1:at], line[at + 1:]
        raise AssertionError(line)

    def targets(self, inner):
        lower = inner.lower()
        if lower in ("python.default", "lexgion.default", "lexgion(python).default"):
            return [(lower,)]
        if lower.startswith("python.thread"):
            text = inner[len("python.thread"):].strip()
            if text == "(*)":
                return [("punit", "*", None)]
            return [("punit", str(sorted(normal(parse_set(text)))), tuple(parse_set(text)))]
        names = inner[len("lexgion("):-1]
        return [("name", part.strip().partition(":")[2].strip()) for part in names.split(",")]

    def remove(self, target, limit):
        for known in list(self.sections):
            if known[0] != target[0]:
                continue
            if target[0] == "punit" and (target[1] == "*" or known[1] == target[1]):
                del self.sections[known]
            if target[0] == "name" and known == target:
                own = self.sections[known].set
                if limit is None or (own is not None and normal(own) == normal(limit)):
                    del self.sections[known]

    @staticmethod
    def set_key(section, key, value):
        key = key.lower().removeprefix("python.")
        if key == "thread":
            section.set = parse_set(value)
        elif key in SWITCHES:
            section.keys[key] = value.lower() in TRUE
        elif key in ("trace_starts_at", "max_num_traces", "tracing_rate", "max_c_traces"):
            section.keys[key] = int(value)
        elif key == "window_timeout":
            section.keys[key] = float(value)
        elif key in ("trace_mode_after", "window_end_action"):
            section.keys["trace_mode_after"] = None if value.lower() == "none" else value
        else:
            section.keys[key] = value.lower() if key == "window_end_trigger" else value.upper()

    # ---- Answering ----

    def get(self, *target):
        return self.sections.get(target) or Section(target)

    @staticmethod
    def strength(name, subject):
        """How well a written name fits (0 best); None: not at all."""
        qualname, file, line = subject
        wanted = None
        in_file, has_file, rest = name.partition(":")
        if not has_file:
            in_file, rest = None, name
        number = re.search(r"(?<=.)@(\d+)$", rest)
        if number:
            wanted, rest = int(number[1]), rest[:number.start()]
        if wanted is not None and wanted != line:
            return None
        wild_file = in_file is not None and any(sign in in_file for sign in "*?[")
        if in_file is not None:
            base = file.rsplit("/", 1)[-1]
            fits = fnmatch.fnmatchcase(base, in_file) if wild_file else file == in_file or file.endswith("/" + in_file)
            if not fits:
                return None
        if any(sign in rest for sign in "*?["):
            return 2 if fnmatch.fnmatchcase(qualname, rest) else None
        if rest != qualname:
            module = rest[:-len(qualname) - 1].replace(".", "/") if rest.endswith("." + qualname) else None
            if in_file is not None or not module or not file:
                return None
            if not any(file == end or file.endswith("/" + end) for end in (module + ".py", module + "/__init__.py")):
                return None
        if wild_file:
            return 2
        return 0 if in_file is not None or wanted is not None else 1

    def applying(self, subject):
        best, best_rank = None, None
        for order, (target, section) in enumerate(self.sections.items()):
            if target[0] != "name":
                continue
            strength = self.strength(target[1], subject)
            has_line = bool(re.search(r"@\d+$", target[1]))
            rank = None if strength is None else (strength, 0 if strength == 2 else not has_line, order)
            if rank is not None and (best_rank is None or rank < best_rank):
                best, best_rank = section, rank
        return best or self.get("lexgion(python).default")

    def decide(self, subject, thread):
        section = self.applying(subject)
        named = section.target[0] == "name"
        of_python, of_all = self.get("lexgion(python).default"), self.get("lexgion.default")
        chain = [section, of_python, of_all] if not named or section.from_default else [section, of_all]
        window = dict(BUILT_IN)
        for one in reversed(chain):
            window.update({key: value for key, value in one.keys.items() if key in BUILT_IN})
        actions = chain if not named or section.from_default else [section]
        window["trace_mode_after"] = next((one.keys["trace_mode_after"] for one in actions if "trace_mode_after" in one.keys), None)
        if window["max_c_traces"] is None:
            unbound = window["max_num_traces"] == -1 or section.keys.get("pysysmon_c_start")
            window["max_c_traces"] = -1 if unbound else 1000

        domain = self.get("python.default")
        limits = [one for target, one in self.sections.items() if target[0] == "punit"]
        switches = dict(SWITCHES)
        if not self.c_calls:
            switches.update(pysysmon_c_start=False, pysysmon_c_return=False)
        for one in [domain, *(one for one in limits if holds(one.set, thread))]:
            switches.update({key: value for key, value in one.keys.items() if key in SWITCHES})
        for one in reversed(chain if not named or section.from_default else [section]):
            switches.update({key: value for key, value in one.keys.items() if key in SWITCHES})
        inside = (domain.set is None or holds(domain.set, thread)) and (not limits or any(holds(one.set, thread) for one in limits))
        inside = inside and (section.set is None or holds(section.set, thread))
        return {"mode": domain.keys.get("trace_mode", "TRACING"), "in_set": inside, "window": window, "switches": switches}
