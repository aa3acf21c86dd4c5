#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python objects from anybody: comm.recv of mpi4py is a matched probe and a matched receive."""
from mpi4py import MPI


def collect(comm):
    status = MPI.Status()
    for _ in range(2 * (comm.size - 1)):
        message = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        yield f"{status.Get_source()}/{status.Get_tag()}:{len(message['items'])}"


def main():
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        print("rank 0:", " ".join(collect(comm)), flush=True)
    else:
        for tag in (1, 2):
            comm.send({"from": comm.rank, "items": list(range(comm.rank * tag))}, dest=0, tag=tag)


main()
