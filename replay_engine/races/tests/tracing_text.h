// SPDX-License-Identifier: GPL-3.0-or-later
// Traces in tests. Receives are written "rank.number", both from 0, probes "rank.pnumber".
#pragma once

#include <string>
#include <vector>

#include "replay_engine/races/tracing.h"

namespace pf::test {

inline std::string toText(const std::vector<TracedReceive>& trace) {
  std::string text;
  for (const TracedReceive& traced : trace) {
    text += text.empty() ? "" : " ";
    text +=
        std::to_string(traced.rank) + (traced.probe ? ".p" : ".") + std::to_string(traced.receive);
  }
  return text;
}

}  // namespace pf::test
