# SPDX-License-Identifier: GPL-3.0-or-later
"""Says where its interpreter lies and what its threads execute, with all variables, then waits for a line.

    reported_frames.py SEED    RUNTIME address version
                               THREAD ident, then of each frame: FRAME function, file, line; of each variable: LOCAL name, repr,
                               and then of some of its parts: PART path, repr
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
    if kind is complex:
        return repr(value)
    if kind is set or kind is frozenset:
        inside = "…" if depth > 0 else ", ".join(text(item, 1) for item in list(value)[:20])
        inside += f", … {len(value)} in all" if depth == 0 and len(value) > 20 else ""
        return repr(value) if not value else f"{{{inside}}}" if kind is set else f"frozenset({{{inside}}})"
    if kind is list or kind is tuple or kind is dict:
        marks = {list: "[]", tuple: "()", dict: "{}"}[kind]
        if depth > 0 and value:
            return marks[0] + "…" + marks[1]
        items = value.items() if kind is dict else value
        shown = [f"{text(item[0], 1)}: {text(item[1], 1)}" if kind is dict else text(item, 1) for item in list(items)[:20]]
        end = f", … {len(value)} in all" if len(value) > 20 else "," if kind is tuple and len(value) == 1 else ""
        return marks[0] + ", ".join(shown) + end + marks[1]
    return f"<class {type_name(value)}>" if isinstance(value, type) else f"<{type_name(kind)}>"


def steps(value):
    """Ways to parts, and the parts. No __dict__ is asked for: that would make one."""
    if isinstance(value, (list, tuple)) and value:
        yield f"[{len(value) - 1}]", value[-1]
        yield f"[-{len(value)}]", value[0]
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items() if type(key) in (str, int))
    for name in getattr(type(value), "told", ()):
        if hasattr(value, name):
            yield "." + name, getattr(value, name)
            yield from ((f".{name}{step}", part) for step, part in steps(getattr(value, name)))


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
                for step, part in steps(value):
                    print("PART", name + step, text(part), sep="\t")
        frame = frame.f_back


def tell():
    print("RUNTIME", ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")), sys.hexversion, sep="\t")
    me = threading.get_ident()
    for ident, frame in sys._current_frames().items():
        tell_thread(ident, frame.f_back if ident == me else frame)
    print("READY", flush=True)


def value_of(random, depth=0):
    kind = random.randrange(14 if depth < 2 else 9)
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
        return random.choice([object(), Worker(1), {1, 2}, range(3), 1j, len, random, Worker, threading, set(), frozenset({"a"}),
                              set(range(30)), complex(random.random(), -2), complex(-0.0, 1e16)])
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
    if kind == 13:
        return sample_of(random, depth)
    made = {i if i % 2 else float(i): value_of(random, depth + 1) for i in range(random.choice([1, 5, 30]))}
    for i in range(0, len(made), 3):
        made.pop(i, None)
    return made


NAMES = tuple(f"n{i}" for i in range(40))


class Sample:
    told = (*NAMES, "shared")
    shared = [1, "of the class"]


class Derived(Sample):
    pass


class Slotted:
    __slots__ = NAMES[:5]
    told = NAMES


class SlottedMore(Slotted):
    __slots__ = ("n5", "n6", "__dict__")


class OfInt(int):
    told = NAMES


class OfTuple(tuple):
    told = NAMES


class OfList(list):
    told = NAMES


class OfDict(dict):
    told = NAMES


class OfFailure(ValueError):
    told = NAMES


def sample_of(random, depth):
    """Objects that keep their attributes in all the ways that there are."""
    kind = random.choice([Sample, Derived, Slotted, SlottedMore, OfInt, OfTuple, OfList, OfDict, OfFailure])
    made = kind(2**70) if kind is OfInt else kind([1, 2, 3]) if kind in (OfTuple, OfList) else kind(a=1) if kind is OfDict else kind()
    names = list(NAMES[:random.choice([0, 1, 5, 7, 29, 31, 40]) if kind is not Slotted else 5])
    random.shuffle(names)
    for name in names:
        setattr(made, name, value_of(random, depth + 1))
    for name in names[:random.choice([0, 0, 2])]:
        delattr(made, name)
    if kind is not Slotted and random.random() < 0.3:
        made.__dict__["n0"] = "of a dictionary that was asked for"
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
