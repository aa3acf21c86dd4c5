! SPDX-License-Identifier: GPL-3.0-or-later
! The oldest binding: include 'mpif.h', blocking wildcard receives.
program fortran_mpif
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, nranks, i, value, status(MPI_STATUS_SIZE)
  integer :: sources(8)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  if (rank == 0) then
    do i = 1, nranks - 1
      call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, ierr)
      sources(i) = status(MPI_SOURCE)
    end do
    print '(a,8(1x,i0))', 'rank 0:', sources(1:nranks - 1)
  else
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Finalize(ierr)
end program fortran_mpif
