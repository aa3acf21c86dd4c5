/* SPDX-License-Identifier: GPL-3.0-or-later
 * How much of Open MPI's component for PMIx is loaded before and after MPI_Finalize, which unloads it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int mapped(void) {
  char line[4096];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    found += strstr(line, "/mca_pmix_") != NULL;
  }
  if (maps != NULL) {
    fclose(maps);
  }
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int before = mapped();
  MPI_Finalize();
  printf("%d %d\n", before, mapped());
  return 0;
}
