"""One function name in many places."""
import functools


def pay(amount):
    return amount


class Shop:
    def pay(self):
        return pay(1)


class Bank:
    def pay(self):
        return pay(2)

    class Desk:
        @staticmethod
        def pay():
            return 3


def make():
    def pay():
        return 4
    return pay


def twice(function):
    @functools.wraps(function)
    def again():
        function()
        return function()
    return again


def count():
    return 1


Shop().pay()
for _ in range(2):
    Bank().pay()
for _ in range(4):
    Bank.Desk.pay()
for _ in range(5):
    make()()
print(twice(count)())
