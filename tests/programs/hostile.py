"""Objects whose special methods count their use and fail: none may be used by a tracer."""
COUNT = {}


def touched(name):
    COUNT[name] = COUNT.get(name, 0) + 1


class Thorny:
    def __repr__(self):
        touched("repr")
        raise RuntimeError

    def __str__(self):
        touched("str")
        return str(self)

    def __eq__(self, other):
        touched("eq")
        raise RuntimeError

    def __hash__(self):
        touched("hash")
        raise TypeError

    def __bool__(self):
        touched("bool")
        raise ValueError

    def __len__(self):
        touched("len")
        return -1

    def __getattr__(self, name):
        touched(name)
        return getattr(self, name + "_")

    @property
    def __class__(self):
        touched("class")
        return int

    def __call__(self):
        return 1

    def hold(self):
        return self


class Meta(type):
    def __getattribute__(cls, name):
        if name in ("__qualname__", "__name__", "__module__"):
            touched("class " + name)
        return super().__getattribute__(name)


class Odd(metaclass=Meta):
    @classmethod
    def build(cls):
        return cls()


class Half:
    def __init__(self, thorn):
        carry(self)
        self.thorn = thorn

    def __repr__(self):
        touched("half repr")
        return self.thorn.name


def carry(thorn, *more, key=None):
    return thorn


def main():
    for _ in range(5):
        thorn = Thorny()
        thorn.hold()
        thorn()
        Odd.build()
        Half(thorn)


main()
print("touched", COUNT)
