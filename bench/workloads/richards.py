"""An operating system's scheduler in small: tasks of several classes send each other messages until all is delivered.

Method calls on objects of many classes, with attribute look-ups and short bodies; about 3.3 million calls at scale 1.
"""
from collections import deque

from measure import measure

READY, WAITING, DONE = range(3)


class Message:
    __slots__ = ("sender", "number", "hops")

    def __init__(self, sender, number):
        self.sender = sender
        self.number = number
        self.hops = 0

    def hop(self):
        self.hops += 1
        return self


class Task:
    def __init__(self, system, name):
        self.system = system
        self.name = name
        self.inbox = deque()
        self.state = READY
        self.handled = 0
        system.add(self)

    def ready(self):
        return self.state == READY and bool(self.inbox)

    def put(self, message):
        self.inbox.append(message)
        self.wake()

    def wake(self):
        if self.state == WAITING:
            self.state = READY

    def step(self):
        if not self.inbox:
            self.state = WAITING
            return
        self.handled += 1
        self.handle(self.inbox.popleft().hop())

    def handle(self, message):
        raise NotImplementedError


class Device(Task):
    """Gives every message back to the handler that sent it."""

    def handle(self, message):
        self.system.post(message.sender, message)


class Handler(Task):
    """Sends a message on to its device a number of times, then to the collector."""

    def __init__(self, system, name, device, rounds):
        super().__init__(system, name)
        self.device = device
        self.rounds = rounds

    def next_place(self, message):
        return self.device if message.hops < self.rounds else "collector"

    def handle(self, message):
        self.system.post(self.next_place(message), message)


class Collector(Task):
    def __init__(self, system):
        super().__init__(system, "collector")
        self.checksum = 0

    def weight(self, message):
        return message.number * message.hops

    def handle(self, message):
        self.checksum = (self.checksum + self.weight(message)) % 1_000_003


class System:
    def __init__(self):
        self.tasks = []
        self.by_name = {}
        self.switches = 0

    def add(self, task):
        self.tasks.append(task)
        self.by_name[task.name] = task

    def find(self, name):
        return self.by_name[name]

    def post(self, name, message):
        self.find(name).put(message)

    def turn(self):
        busy = False
        for task in self.tasks:
            if task.ready():
                self.switches += 1
                task.step()
                busy = True
        return busy

    def run(self):
        while self.turn():
            pass


def simulate(messages):
    system = System()
    collector = Collector(system)
    for number in range(3):
        Device(system, "device %d" % number)
        Handler(system, "handler %d" % number, "device %d" % number, 16)
    for number in range(messages):
        name = "handler %d" % (number % 3)
        system.post(name, Message(name, number))
    system.run()
    return system.switches, collector.checksum


def main(scale):
    expected = simulate(100)
    for _ in range(max(1, round(250 * scale))):
        assert simulate(100) == expected


if __name__ == "__main__":
    measure(main)
