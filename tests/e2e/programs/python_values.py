# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of all kinds in a frame that calls MPI. Just before, the program files what a debugger has to show of them: of ways to
parts their texts, and of what is opened the names and texts of its parts."""
import json
import sys

import numpy
from mpi4py import MPI

COMM = MPI.COMM_WORLD
TABLE = {"rows": [1, 2], 7: "seven", (1, 2): None}


class Box:
    unit = "kg"

    def __init__(self, size):
        self.size = size
        self.workers = [Worker("a"), Worker("b")]

    @property
    def area(self):
        raise SystemExit("a property was called")

    def __getattr__(self, name):
        raise SystemExit("__getattr__ was called")

    def send(self):
        here({"self.size": repr(self.size), "self.workers[-1].name": "'b'", "self.unit": "'kg'", "COMM": "<mpi4py.MPI.Intracomm>"},
             {"self": [["size", repr(self.size)], ["workers", "[<Worker>, <Worker>]"]],
              "self.workers[0]": [["load", "(0.5+2j)"], ["name", "'a'"]]}), COMM.Barrier()


class Worker:
    __slots__ = ("name", "load")

    def __init__(self, name):
        self.name = name
        self.load = 0.5 + 2j


def texts(array):
    """Each number as its own type of Python writes it."""
    return [[f"[{i}]", repr(number.item())] for i, number in enumerate(array)]


def here(values, parts):
    with open(f"{sys.argv[1]}.{MPI.COMM_WORLD.Get_rank()}", "a") as told:  # PRRTE mixes the lines of ranks that print much
        print(json.dumps({"values": values, "parts": parts}), file=told)


def arrays(grid, few, wave, yes, other, box):
    last = len(grid) - 1
    found = {"grid": grid, "few": few}
    many = list(range(1000))
    loop = [1]
    loop.append(loop)
    some = {"x"}
    mean, count = numpy.float32(0.1), few.sum()
    here({"grid": "ndarray float64 (3, 4)", "few": f"ndarray int32 ({len(few)},)", f"grid[{last}][-1]": repr(grid[last][-1].item()),
          "found['grid'][1]": "float64 (4,)", "other": "ndarray float64 of another byte order (2,)", "some": "{'x'}",
          "mean": "0.1", "count": str(count), "loop[1][1][0]": "1", "many[-1]": "999", "TABLE['rows'][1]": "2", "TABLE[7]": "'seven'",
          "box": "<Box>", "few.T[0]": None, "box.area": None, "box.nothing": None, "found['no']": None, "many[1000]": None},
         {"grid": [[f"[{i}]", "float64 (4,)"] for i in range(3)], "grid[1]": texts(grid[1]), "few": texts(few), "wave": texts(wave),
          "yes": texts(yes), "found": [["['grid']", "ndarray float64 (3, 4)"], ["['few']", f"ndarray int32 ({len(few)},)"]],
          "many": [[f"[{i}]", str(i)] for i in range(1000)], "some": [["[0]", "'x'"]],
          "TABLE": [["['rows']", "[1, 2]"], ["[7]", "'seven'"], ["[(1, 2)]", "None"]],
          "loop": [["[0]", "1"], ["[1]", "[1, […]]"]]}), COMM.Barrier()


def main():
    box = Box(COMM.Get_rank() + 3)
    box.send()
    numbers = numpy.linspace(-1, 1, 24).reshape(4, 6)
    arrays(numbers.T[1::2, ::-1], numpy.arange(5, dtype="i4")[::2], numpy.exp(1j * numbers[0]), numbers[1] > -0.3,
           numpy.ones(2, dtype=">f8"), box)


main()
