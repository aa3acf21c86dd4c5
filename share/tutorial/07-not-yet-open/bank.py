# SPDX-License-Identifier: GPL-3.0-or-later
"""Rank 0 is a bank. Each other rank opens an account, and pays something into that of its neighbour."""
import sys

from mpi4py import MPI


def pay(accounts, number, amount):
    accounts[number] += amount


def keep_bank(comm, customers):
    accounts = {}
    for _ in range(2 * customers):
        order, number, amount = comm.recv(source=MPI.ANY_SOURCE)
        if order == "open":
            accounts[number] = 0
        else:
            pay(accounts, number, amount)
    print("accounts:", sorted(accounts.items()))


def be_customer(comm, rank, customers):
    neighbour = rank % customers + 1
    comm.send(("open", rank, 0), dest=0)
    comm.send(("pay", neighbour, 10 * rank), dest=0)


def main():
    comm = MPI.COMM_WORLD
    rank, customers = comm.Get_rank(), comm.Get_size() - 1
    if rank == 0:
        keep_bank(comm, customers)
    else:
        be_customer(comm, rank, customers)


if __name__ == "__main__":
    sys.exit(main())
