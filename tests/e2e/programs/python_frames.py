# SPDX-License-Identifier: GPL-3.0-or-later
"""mpi4py calls from functions of all kinds. Just before each, and on its line, the program prints its own stack: what a debugger has to show there."""
import json
import sys

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK = COMM.Get_rank()
UNIT = "kg"


def here(**values):
    """The stack of whoever calls, and variables of his as they have to be shown."""
    frame, stack = sys._getframe(1), []
    while frame is not None:
        stack.append([frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    print("HERE " + json.dumps({"stack": stack, "values": values}), flush=True)  # one write: lines of ranks do not mix


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def weigh(self, grams):
        weight = self.factor * grams
        here(weight="2.5", grams="25", self="<Scale>", RANK=str(RANK)), COMM.Barrier()
        return weight

    @classmethod
    def standard(cls, *names, kind="b"):
        here(names="('a', 'b')", kind="'b'", cls="<class Scale>", UNIT="'kg'"), COMM.Barrier()
        return cls(0.1)


def send(numbers):
    here(numbers="<bytearray>"), COMM.Send(numbers, dest=1 - RANK, tag=3)


def receive(depth, room):
    if depth == 0:
        here(depth="0"), COMM.Recv(room, source=MPI.ANY_SOURCE, tag=3)
        return 1
    return receive(depth - 1, room) + \
        depth


def parts():
    for part in range(2):
        here(part=str(part)), COMM.Barrier()
        yield part


def through_c(key):
    table = {"one": 1, "more": [2, 3]}
    return sorted([1.5], key=key), table


def main():
    room = bytearray(4)
    total, found = None, {"rank": RANK}
    if RANK == 0:
        receive(3, room)
    else:
        send(room)
    scale = Scale.standard("a", "b")
    scale.weigh(25)
    total = sum(parts())
    through_c(lambda value: (here(value="1.5", found=str(found)), COMM.Barrier()))
    here(total="1", found=str(found), room="<bytearray>"), COMM.Barrier()


main()
