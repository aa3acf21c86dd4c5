! SPDX-License-Identifier: GPL-3.0-or-later
! use mpi_f08: a wildcard probe, then a receive from the source that it found.
program fortran_mpi_f08
  use mpi_f08
  implicit none
  type(MPI_Status) :: found
  integer :: rank, nranks, i, n
  integer :: values(8), sources(8), lengths(8)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  if (rank == 0) then
    do i = 1, nranks - 1
      call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, found)
      call MPI_Get_count(found, MPI_INTEGER, n)
      call MPI_Recv(values, n, MPI_INTEGER, found%MPI_SOURCE, found%MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      sources(i) = found%MPI_SOURCE
      lengths(i) = n
    end do
    print '(a,8(1x,i0,a,i0))', 'rank 0:', (lengths(i), ' from ', sources(i), i = 1, nranks - 1)
  else
    values = rank
    call MPI_Send(values, rank, MPI_INTEGER, 0, 10 + rank, MPI_COMM_WORLD)
  end if
  call MPI_Finalize()
end program fortran_mpi_f08
