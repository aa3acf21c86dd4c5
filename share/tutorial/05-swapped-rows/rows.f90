! SPDX-License-Identifier: GPL-3.0-or-later
! Workers make the rows of a matrix. Each sends the number of a row, and then the row. The root puts them together.
program rows
  use mpi
  implicit none
  integer, parameter :: n = 6, m = 4, tag_number = 1, tag_row = 2
  integer :: rank, ranks, ierr
  double precision :: matrix(n, m)
  logical :: wrong

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  wrong = .false.
  if (rank == 0) then
     call assemble(matrix)
     wrong = any(matrix(:, 1) /= [101, 201, 301, 401, 501, 601])
     print '(a, 6f7.0)', 'first column:', matrix(:, 1)
  else
     call work(rank, ranks)
  end if
  call MPI_Finalize(ierr)
  if (wrong) stop 1

contains

  subroutine work(rank, ranks)
    integer, intent(in) :: rank, ranks
    integer :: number, column
    double precision :: row(m)
    do number = rank, n, ranks - 1
       row = [(100d0 * number + column, column = 1, m)]
       call MPI_Send(number, 1, MPI_INTEGER, 0, tag_number, MPI_COMM_WORLD, ierr)
       call MPI_Send(row, m, MPI_DOUBLE_PRECISION, 0, tag_row, MPI_COMM_WORLD, ierr)
    end do
  end subroutine work

  subroutine assemble(matrix)
    double precision, intent(out) :: matrix(n, m)
    integer :: number, k, status(MPI_STATUS_SIZE)
    double precision :: row(m)
    do k = 1, n
       call MPI_Recv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, tag_number, MPI_COMM_WORLD, status, ierr)
       call MPI_Recv(row, m, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, tag_row, MPI_COMM_WORLD, status, ierr)
       matrix(number, :) = row
    end do
  end subroutine assemble
end program rows
