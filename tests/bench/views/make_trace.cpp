// SPDX-License-Identifier: GPL-3.0-or-later
// make_trace FILE [EVENTS [RANKS [ROUNDS_A_BURST]]]: a trace of that many events, to look at or to
// measure with.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/views/synthetic.h"

int main(int argc, char** argv) {
  pf::bench::Traffic traffic;
  if (argc < 2) {
    std::fprintf(stderr, "make_trace FILE [EVENTS [RANKS [ROUNDS_A_BURST]]]\n");
    return 2;
  }
  if (argc > 2) {
    traffic.events = static_cast<std::size_t>(std::strtod(argv[2], nullptr));
  }
  if (argc > 3) {
    traffic.ranks = std::max(3, std::atoi(argv[3]));
  }
  if (argc > 4) {
    traffic.burstEvery = std::max(1, std::atoi(argv[4]));
  }
  const auto made = pf::bench::writeSyntheticTrace(argv[1], traffic);
  if (!made) {
    std::fprintf(stderr, "make_trace: %s\n", made.error().text().c_str());
    return 1;
  }
  const double events = static_cast<double>(made->events);
  std::printf(
      "%zu events, %zu messages, %zu races; CPU: match %.2f s, races %.2f s, logical times %.2f s, "
      "write %.2f s: "
      "%.2f M events/s (written: %.2f)\n",
      made->events, made->messages, made->racing, made->match, made->races, made->logicalTimes,
      made->write, events / made->all() / 1e6, events / made->write / 1e6);
  return 0;
}
