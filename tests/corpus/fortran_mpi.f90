! SPDX-License-Identifier: GPL-3.0-or-later
! use mpi: wildcard receives posted in advance, taken one by one with Waitany.
program fortran_mpi
  use mpi
  implicit none
  integer, parameter :: senders = 3
  integer :: ierr, rank, i, which, status(MPI_STATUS_SIZE)
  integer :: values(senders), requests(senders), order(senders), sources(senders)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    do i = 1, senders
      call MPI_Irecv(values(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(i), ierr)
    end do
    do i = 1, senders
      call MPI_Waitany(senders, requests, which, status, ierr)
      order(i) = which
      sources(i) = status(MPI_SOURCE)
    end do
    print '(a,3(1x,i0,a,i0))', 'rank 0:', (order(i), ':', sources(i), i = 1, senders)
  else
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Finalize(ierr)
end program fortran_mpi
