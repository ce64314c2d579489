"""Bodies that attract each other: simulate.py [STEPS], a program that runs for a while."""
import sys


class Body:
    def __init__(self, number):
        self.place = [float(number % 5), float(number * number % 7), float(number)]
        self.speed = [0.0, 0.0, 0.0]

    def move(self, time):
        self.place = [place + speed * time for place, speed in zip(self.place, self.speed)]


def distance(one, other):
    return sum((a - b) * (a - b) for a, b in zip(one.place, other.place)) ** 0.5 + 0.1


class World:
    def __init__(self, size):
        self.bodies = [Body(number) for number in range(size)]

    def attract(self, body):
        for other in self.bodies:
            if other is not body:
                pull = 0.001 / distance(body, other) ** 3
                for axis in range(3):
                    body.speed[axis] += pull * (other.place[axis] - body.place[axis])

    def energy(self):
        return sum(speed * speed for body in self.bodies for speed in body.speed)

    def step(self):
        for body in self.bodies:
            self.attract(body)
        for body in self.bodies:
            body.move(0.01)


def main(steps):
    world = World(12)
    for number in range(steps):
        world.step()
        if number % 10 == 0:
            world.energy()
    print(f"{steps} steps, energy {world.energy():.3g}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
