# SPDX-License-Identifier: GPL-3.0-or-later
"""Pickles for pickle_test.cpp, a line each: hexadecimal, a tab, and what repr() writes of the value. pickles.py SEED COUNT"""
import pickle
import random
import struct
import sys


def value(chance, depth):
    kind = chance.randrange(18 if depth < 4 else 10)
    few = range(chance.randrange(4))
    if kind == 0:
        return chance.choice([None, True, False])
    if kind <= 2:
        return chance.randrange(-(1 << chance.randrange(1, 80)), 1 << chance.randrange(1, 80))
    if kind == 3:
        return chance.choice([-1, 1]) * (1 << chance.randrange(0, 200))
    if kind <= 5:
        number = struct.unpack("d", chance.randbytes(8))[0]
        return chance.choice([number, chance.random(), round(chance.random() * 1e6) / 1e3, 0.0, -0.0, 1e16, 1e-5, float("inf")])
    if kind <= 7:
        return "".join(chance.choice("abc'\"\\\n\t\x1b\xe4\u20ac\U0001f600 \u202e") for _ in range(chance.randrange(30)))
    if kind == 8:
        return chance.randbytes(chance.randrange(20))
    if kind == 9:
        return bytearray(b"x" + bytes([chance.randrange(32)]))
    inner = [value(chance, depth + 1) for _ in few]
    if kind <= 12:
        return tuple(inner)
    if kind <= 14:
        return inner + inner[:1]  # the same object twice
    if kind == 15:
        return {f"key{i}": each for i, each in enumerate(inner)}
    if kind == 16:
        return set(range(len(inner)))
    return frozenset(["one"][:len(inner)])


def main(seed, count):
    chance = random.Random(seed)
    for i in range(count):
        each = value(chance, 0)
        if len(repr(each)) < 3000:
            print(pickle.dumps(each, protocol=4 + i % 2).hex(), repr(each), sep="\t")


main(int(sys.argv[1]), int(sys.argv[2]))
