#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each of two ranks receives first."""
import array

from mpi4py import MPI


def exchange(comm):
    there = array.array("i", [0])
    comm.Recv(there, source=1 - comm.rank)
    comm.Send(array.array("i", [comm.rank]), dest=1 - comm.rank)
    return there[0]


print(exchange(MPI.COMM_WORLD), flush=True)
