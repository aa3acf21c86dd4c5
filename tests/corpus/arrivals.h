// SPDX-License-Identifier: GPL-3.0-or-later
/* What a rank saw, in the order in which it saw it; printed as one line. */
#ifndef CORPUS_ARRIVALS_H
#define CORPUS_ARRIVALS_H
#include <stdarg.h>
#include <stdio.h>

struct arrivals {
  char text[2048];
  size_t length;
};

static inline void arrived(struct arrivals* arrivals, const char* format, ...) {
  const size_t room = sizeof arrivals->text - arrivals->length;
  va_list args;
  va_start(args, format);
  const int written = vsnprintf(arrivals->text + arrivals->length, room, format, args);
  va_end(args);
  if (written > 0)
    arrivals->length += (size_t)written < room ? (size_t)written : room - 1;
}

static inline void print_arrivals(const struct arrivals* arrivals, int rank) {
  printf("rank %d:%s\n", rank, arrivals->text);
  fflush(stdout);
}
#endif
