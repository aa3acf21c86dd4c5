// SPDX-License-Identifier: MIT
// An exporter: a line for each race.
#include "example.h"

using namespace photofinish;

void exportRings(const Trace& trace, Output& output) {
  output.write("rank serial call file line alternatives\n");
  for (std::uint64_t number = 0; number < trace.races(); ++number) {
    const Race race = trace.race(number);
    const Event event = trace.event(race.chosen);
    const Site site = trace.site(event.site);
    output.write(std::to_string(event.at.rank) + " " + std::to_string(event.at.serial) + " " +
                 event.call.string() + " " + site.file.string() + " " + std::to_string(site.line) +
                 " " + std::to_string(race.alternatives) + "\n");
  }
}
