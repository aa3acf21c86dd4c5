// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish payload: what is in messages that a rank got from ranks outside of its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

inline constexpr std::size_t kMostShown = std::size_t{64} << 20;

struct PayloadOptions {
  Rank rank = kUnknownRank;
  std::optional<std::uint64_t> event;        ///< nothing: a list of all
  std::size_t most = std::size_t{64} << 10;  ///< bytes of each
  bool json = false;
};

struct PayloadReport {
  std::string text;
  Status damage;  ///< Damaged: there may be more than is in the text
};
[[nodiscard]] Result<PayloadReport> payloadReport(const std::string& trace,
                                                  const PayloadOptions& options);

}  // namespace pf::app
