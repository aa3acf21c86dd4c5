/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands for libphotofinish_mpi.so: stops the rank inside an MPI call, as the real one does. */
#include <stdlib.h>

void pf_stop_at_event(int serial);
int MPI_Recv_like(int serial, int stop);
int MPI_Test(int serial);

void pf_stop_at_event(int serial) {
  (void)serial;
  __asm__ volatile("int3");
}

static int record(int serial, int stop) {
  if (stop) {
    pf_stop_at_event(serial);
  }
  return serial * 2;
}

int MPI_Recv_like(int serial, int stop) {
  int taken = record(serial, stop);
  return taken;
}

int MPI_Test(int serial) { return serial & 1; }
