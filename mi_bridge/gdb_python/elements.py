# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of elements, dimensions, and what an array is taken apart into. The first of the files: it has the bounds of all."""
import contextlib
import itertools
import json
import os
import re
import struct
import time

import gdb

SECONDS = 2.0  # for what is asked element by element; a plain array is read in one go
MOST_ROWS = 200000
MOST_TEXTS = 2000
MOST_TEXT = 200  # characters of one
MOST_CHILDREN = 200000
CHUNK = 1 << 17
FAR = 1 << 14  # a gap in memory that is not read along
MOST_PIECES = 100000
MOST_DIMENSIONS = 15
ADDRESSABLE = 1 << 47


class Refused(Exception):
    """It cannot be shown: why, and what to do about it."""

    def __init__(self, why, advice=""):
        super().__init__(why)
        self.advice = advice


class Dimension:
    """Indices lower, lower + step, ...: `count` of them, `stride` bytes apart. `open_end`: nobody knows how many."""

    def __init__(self, lower, count, stride, step=1, open_end=False):
        self.lower, self.count, self.stride, self.step = lower, max(0, count), stride, step
        self.read, self.open_end = self.count, open_end

    def copy(self):
        return Dimension(self.lower, self.count, self.stride, self.step, self.open_end)


class Block:
    """Elements of one type at address + sum of index * stride. `done`: dimensions that later indices are not for."""

    def __init__(self, address, dims, element, done=0):
        self.address, self.dims, self.element, self.done = address, dims, element, done


class Several:
    """Values one by one, in row-major order of `dims`: containers, or members that lie elsewhere."""

    def __init__(self, dims, values, note=""):
        self.dims, self.values, self.note = dims, values, note


class Characters:
    """Text of a length that GDB's types do not have."""

    def __init__(self, address, count, unit):
        if not 0 <= count * unit <= ADDRESSABLE:
            raise Refused("no text has %d characters" % count, "it may not have been set up here")
        self.address, self.count, self.unit = address, count, unit

    def text(self):
        count = min(self.count, MOST_TEXTS)
        memory = bytes(gdb.selected_inferior().read_memory(self.address, count * self.unit)) if count else b""
        said = memory.decode("utf-32-le" if self.unit == 4 else "utf-8", "backslashreplace").replace("'", "''")
        return "'%s'%s" % (said, "..." if count < self.count else "")


class Leaf:
    """What an element is: kind and size in bytes; of characters `unit` bytes each."""

    def __init__(self, kind, size, name, quad=False, unit=1):
        self.kind, self.size, self.name, self.quad, self.unit = kind, size, name, quad, unit

    def same(self, other):
        return (self.kind, self.size, self.quad) == (other.kind, other.size, other.quad)


OPEN_END = ("where it ends is not known", "write a range, for example (1:100) or POINTER@COUNT")

def plain(kind):
    return kind.strip_typedefs().unqualified()


def name_of(kind):
    """GDB 13 ends by itself when it words a CHARACTER type without a name: only names are asked for."""
    bare = kind.unqualified()
    return (bare.name or plain(kind).name or plain(kind).tag or "")[:MOST_TEXT]


def is_quad(kind):
    """128 bits of IEEE, not 80 in 16 bytes: 1 and 1 + 1e-25 differ."""
    try:
        one = gdb.Value(1.0).cast(kind)
        return kind.sizeof == 16 and bool(one + gdb.Value(1e-25).cast(kind) != one)
    except gdb.error:
        return False


def is_signed(kind):
    try:
        return int(gdb.Value(-1).cast(kind)) < 0
    except gdb.error:  # of 16 bytes
        return True


CODES = {name: getattr(gdb, "TYPE_CODE_" + name, -1)
         for name in ("ARRAY STRUCT UNION ENUM INT FLT VOID FUNC STRING CHAR BOOL COMPLEX PTR REF RVALUE_REF RANGE "
                      "FLAGS").split()}


def is_code(kind, *names):
    return plain(kind).code in [CODES[name] for name in names]


def string_leaf(kind):
    unit = kind.target().sizeof
    return Leaf("text", kind.sizeof, "character(len=%d)" % (kind.sizeof // max(1, unit)), unit=unit)


def complex_leaf(part, size, name):
    if not is_code(part, "FLT") or part.sizeof * 2 != size:
        return None
    return Leaf("complex", size, name, is_quad(plain(part)))


def leaf_of(kind):
    """None: it is no single value."""
    name, bare = name_of(kind), plain(kind)
    if is_code(bare, "INT", "RANGE", "ENUM", "FLAGS"):
        narrow = bare.sizeof == 1 and name == "char"
        return Leaf("char" if narrow else "signed" if is_signed(bare) else "unsigned", bare.sizeof, name or "enum")
    if is_code(bare, "CHAR"):
        return Leaf("text", bare.sizeof, name, unit=bare.sizeof)
    if is_code(bare, "BOOL"):
        return Leaf("logical" if name.startswith("logical") else "bool", bare.sizeof, name)
    if is_code(bare, "FLT"):
        return Leaf("float", bare.sizeof, name, is_quad(bare))
    if is_code(bare, "COMPLEX"):
        return complex_leaf(bare.target(), bare.sizeof, name)
    if is_code(bare, "PTR"):
        return Leaf("pointer", bare.sizeof, "pointer")
    if is_code(bare, "STRING"):
        return string_leaf(bare)
    if is_code(bare, "STRUCT") and re.match(r"std::(__\w+::)?complex<", bare.name or ""):
        part = bare.template_argument(0)
        return complex_leaf(part, bare.sizeof, name) if isinstance(part, gdb.Type) else None
    return None
