# SPDX-License-Identifier: GPL-3.0-or-later
"""Says where its interpreter lies and what its threads execute, with all variables, then waits for a line.

    reported_frames.py SEED    RUNTIME address version
                               THREAD ident, then of each frame: FRAME function, file, line; of each variable: LOCAL name, repr
"""
import ctypes
import random
import sys
import threading


def text(value, depth=0):
    """What is shown of a value: repr() of the simple ones, shortened."""
    kind = type(value)
    if kind in (int, float, bool, type(None)):
        small = kind is not int or -2**1200 < value < 2**1200
        return repr(value) if small else f"<int of {-(-abs(value).bit_length() // 30) * 30} bits>"
    if kind is str or kind is bytes:
        return repr(value[:200]) + ("…" if len(value) > 200 else "")
    if kind is list or kind is tuple or kind is dict:
        marks = {list: "[]", tuple: "()", dict: "{}"}[kind]
        if depth > 0 and value:
            return marks[0] + "…" + marks[1]
        items = value.items() if kind is dict else value
        shown = [f"{text(item[0], 1)}: {text(item[1], 1)}" if kind is dict else text(item, 1) for item in list(items)[:20]]
        end = f", … {len(value)} in all" if len(value) > 20 else "," if kind is tuple and len(value) == 1 else ""
        return marks[0] + ", ".join(shown) + end + marks[1]
    return f"<class {type_name(value)}>" if isinstance(value, type) else f"<{type_name(kind)}>"


def type_name(kind):
    """tp_name, which is with its module for a type that is written in C."""
    return ctypes.c_char_p.from_address(id(kind) + 24).value.decode()


def tell_thread(ident, frame):
    print("THREAD", ident)
    while frame is not None:
        print("FRAME", frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno, sep="\t")
        if frame.f_code.co_flags & 1:
            for name, value in list(frame.f_locals.items()):
                print("LOCAL", name, text(value), sep="\t")
        frame = frame.f_back


def tell():
    print("RUNTIME", ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")), sys.hexversion, sep="\t")
    me = threading.get_ident()
    for ident, frame in sys._current_frames().items():
        tell_thread(ident, frame.f_back if ident == me else frame)
    print("READY", flush=True)


def value_of(random, depth=0):
    kind = random.randrange(13 if depth < 2 else 9)
    if kind == 0:
        return random.choice([0, 1, -1, 2**30 - 1, 2**30, -2**30, 2**60, -2**63, 10**9, 10**18, random.randrange(-2**1300, 2**1300)])
    if kind == 1:
        return random.choice([0.0, -0.0, 1.0, 0.1, 1e16, 1e15, 123456789012345680.0, 1e-4, 9.9e-5, 5e-324, 1e308, float("inf"),
                              -float("inf"), float("nan"), random.uniform(-1e9, 1e9), random.random()])
    if kind == 2:
        return "".join(random.choice("abc'\"\\\n\t\x00\x7f é€😀\xad\u200b") for _ in range(random.randrange(12)))
    if kind == 3:
        return random.choice(["x" * 199, "x" * 200, "x" * 201, "é" * 300, "€" * 5, "😀" * 3, ""])
    if kind == 4:
        return random.choice([True, False, None])
    if kind == 5:
        return bytes(random.randrange(256) for _ in range(random.randrange(8)))
    if kind == 6:
        return random.choice([object(), Worker(1), {1, 2}, range(3), 1j, len, random, Worker, threading])
    if kind == 7:
        return random.randrange(-1000, 1000)
    if kind == 8:
        return random.random() * 10 ** random.randrange(-20, 20)
    if kind == 9:
        return [value_of(random, depth + 1) for _ in range(random.choice([0, 1, 2, 19, 20, 21, 100]))]
    if kind == 10:
        return tuple(value_of(random, depth + 1) for _ in range(random.choice([0, 1, 2, 21])))
    if kind == 11:
        return {f"k{i}": value_of(random, depth + 1) for i in range(random.choice([0, 1, 3, 20, 21, 50]))}
    made = {i if i % 2 else float(i): value_of(random, depth + 1) for i in range(random.choice([1, 5, 30]))}
    for i in range(0, len(made), 3):
        made.pop(i, None)
    return made


class Worker:
    def __init__(self, number):
        self.number = number

    def run(self, *rest, last="z", **more):
        number = self.number
        return self.steps(lambda: Worker.at_class(number))

    def steps(self, call):
        def generator():
            yield 1
            yield call()
        return sum(generator())

    @classmethod
    def at_class(cls, number):
        return recurse(number, 5)

    @staticmethod
    def compare(a):
        values(a)
        return 0


def recurse(number, depth):
    if depth == 0:
        sorted([number], key=Worker.compare)
        return 1
    not_yet = None
    del not_yet
    return recurse(number, depth - 1) + (
        depth)


def values(seed):
    source = random.Random(seed)
    made = {f"v{i}": value_of(source) for i in range(60)}
    arguments = ", ".join(f"{name}=None" for name in made)
    scope = {"wait": wait}
    # A function of sixty variables, compiled from a string.
    exec(compile(f"def generated({arguments}):\n    total = v0\n    return wait()\n", "<generated>", "exec"), scope)
    scope["generated"](**made)


def wait():
    tell(), sys.stdin.readline()


def other(started):
    started.set(), HELD.acquire()


if __name__ == "__main__":
    STARTED = threading.Event()
    HELD = threading.Lock()
    HELD.acquire()
    THREAD = threading.Thread(target=other, args=(STARTED,), daemon=True)
    THREAD.start()
    STARTED.wait()
    while sys._current_frames()[THREAD.ident].f_code.co_name != "other":
        pass
    Worker(int(sys.argv[1])).run(1, 2, more=3)
