# SPDX-License-Identifier: GPL-3.0-or-later
"""Rank 0 is a bank. Rank 1 opens an account there, and each other rank pays ten into it."""
import sys

from mpi4py import MPI

ACCOUNT = 7


def pay(accounts, number, amount):
    accounts[number] += amount


def keep_bank(comm, orders):
    accounts = {}
    for _ in range(orders):
        order, number, amount = comm.recv(source=MPI.ANY_SOURCE)
        if order == "open":
            accounts[number] = 0
        else:
            pay(accounts, number, amount)
    print("accounts:", sorted(accounts.items()))


def be_customer(comm, rank):
    if rank == 1:
        comm.send(("open", ACCOUNT, 0), dest=0)
    else:
        comm.send(("pay", ACCOUNT, 10), dest=0)


def main():
    comm = MPI.COMM_WORLD
    rank, others = comm.Get_rank(), comm.Get_size() - 1
    if rank == 0:
        keep_bank(comm, others)
    else:
        be_customer(comm, rank)


if __name__ == "__main__":
    sys.exit(main())
