// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a file of known races: what is read is written and read again, and must be the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay_engine/races/race_baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const pf::Result<pf::RaceBaseline> read = pf::RaceBaseline::parse(text, "fuzzed.races");
  if (!read) {
    return 0;
  }
  const std::string written = read->text();
  const pf::Result<pf::RaceBaseline> again = pf::RaceBaseline::parse(written, "again.races");
  if (!again || again->text() != written || again->classes() != read->classes() ||
      again->outcomes() != read->outcomes()) {
    std::abort();
  }
  return 0;
}
