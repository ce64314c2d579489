"""Names outside ASCII: functions, a class, a thread."""
import threading


def größe(länge):
    return länge * 2


def 计算(数):
    return 数 + 1


def ﬁrst(value):
    return value


class Übung:
    def старт(self):
        return "go"


def on_thread():
    计算(4)


def main():
    for number in range(3):
        größe(number)
    for number in range(4):
        计算(number)
    for number in range(2):
        ﬁrst(number)
    thread = threading.Thread(target=on_thread, name='müller "7"\t\U0001f600')
    thread.start()
    thread.join()
    print(Übung().старт(), ascii(ﬁrst.__name__))


main()
