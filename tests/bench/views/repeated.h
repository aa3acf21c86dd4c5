// SPDX-License-Identifier: GPL-3.0-or-later
// Traces that do not fit into memory: one execution again and again, each time behind a barrier.
#pragma once

#include <string>

#include "replay_engine/base/result.h"
#include "tests/bench/views/synthetic.h"

namespace pf::bench {

/// Makes a trace file of about `traffic.events` events of a part of some 10^7, which is written as
/// often as it takes. Each part begins with a collective of all ranks, so that what its events come
/// after and before is known from the part alone. Events, messages, races, clocks and the pyramid
/// are those of the whole; CollationTimes::write is the time that writing took.
[[nodiscard]] Result<CollationTimes> writeRepeatedTrace(const std::string& path,
                                                        const Traffic& traffic);

}  // namespace pf::bench
