// SPDX-License-Identifier: MIT
// The entry of the example, and its command.
#include "example.h"

using namespace photofinish;

namespace {

int countEvents(const Trace& trace, Words words, Output& output) {
  for (const Text& word : words) {
    if (word.string() != "--total") {
      output.fail("count_events takes --total only, not '" + word.string() + "'", "Leave it out.");
      return 2;
    }
  }
  std::uint64_t total = 0;
  for (std::int32_t rank = 0; rank < trace.ranks(); ++rank) {
    total += trace.events(rank);
    if (words.count == 0) {
      output.write("rank " + std::to_string(rank) + ": " + std::to_string(trace.events(rank)) +
                   " events\n");
    }
  }
  output.write("all: " + std::to_string(total) + " events\n");
  return 0;
}

void give(Parts& parts) {
  parts.pane({"bars", "Event bars",
              "A bar for each rank, as long as it has events; the dark part is what the replay has "
              "done. A click selects the rank's last event."},
             makeBars);
  parts.exporter({"rings", "Races, one a line",
                  "Each racing receive, and how many messages it could have taken."},
                 ExportTo::Text, exportRings);
  parts.judge(
      {"same_tag", "Same tag", "Races between messages with the same tag are taken to be benign."},
      makeSameTag);
  parts.command(
      {"count_events", "Count events", "How many events each rank has; --total: only their sum."},
      countEvents);
}

}  // namespace

PHOTOFINISH_PLUGIN("example", "1.0", "A pane, an exporter, a judge of races and a command.", give);
