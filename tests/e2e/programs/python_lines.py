# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls, generators, exceptions, comprehensions and a class between calls of MPI: lines to stop at and to step through.
With PF_LINES=FILE, rank 0 writes there what Python says that it executes: a JSON list [function, line, "line" or "return", frame, caller's frame] each."""
import json
import os
import sys

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK = COMM.Get_rank()


def leaf(count):
    total = 0
    for i in range(count):
        total += i
    return total


def parts(count):
    for part in range(count):
        yield part * 2


class Box:
    def __init__(self, value):
        self.value = value

    def grown(self):
        return Box(
            self.value +
            leaf(2))


def risky(count):
    try:
        if count:
            raise ValueError(count)
        return 0
    except ValueError as error:
        return error.args[0]


def exchange():
    if RANK == 0:
        return sum(COMM.recv(source=MPI.ANY_SOURCE) for _ in range(1))
    COMM.send(41, dest=0)
    return 41


def work(start):
    one = leaf(start)  # the first line
    two = sum(parts(3))
    three = [leaf(k) for k in range(2)]
    four = Box(one).grown().value
    five = risky(5)
    six = exchange()
    seven = (lambda value: value + 1)(six)
    seven += leaf(1) + leaf(0)
    return one + two + sum(three) + four + five + seven


def main():
    answers = []
    for start in (3, 4):
        COMM.Barrier()
        answers.append(work(start))
    COMM.Barrier()
    print(f"rank {RANK}: {answers}", flush=True)


def told(path):
    """main(), and what a debugger has to show of it: the lines of this file."""
    lines, frames = [], []

    def number(frame):
        if frame not in frames:
            frames.append(frame)  # kept, so that no other one is in its place
        return frames.index(frame)

    def trace(frame, event, _):
        if frame.f_code.co_filename != __file__:
            return None
        if event in ("line", "return"):
            lines.append([frame.f_code.co_qualname, frame.f_lineno, event, number(frame), number(frame.f_back)])
        return trace

    sys.settrace(trace)
    main()
    sys.settrace(None)
    if RANK == 0:
        with open(path, "w") as out:
            for line in lines:
                out.write(json.dumps(line) + "\n")


if "PF_LINES" in os.environ:
    told(os.environ["PF_LINES"])
elif "own" in sys.argv:
    sys.settrace(lambda *_: None)
    main()
else:
    main()
