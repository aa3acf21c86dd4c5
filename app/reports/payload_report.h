// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish payload: what is in messages that a rank got from ranks outside of its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/log_format/payload_format.h"
#include "replay_engine/log_format/payload_types.h"

namespace pf::app {

inline constexpr std::size_t kMostShown = std::size_t{64} << 20;

struct PayloadOptions {
  Rank rank = kUnknownRank;
  std::optional<std::uint64_t> event;        ///< nothing: a list of all
  std::size_t most = std::size_t{64} << 10;  ///< bytes of each
  bool json = false;
};

/// A message, what a probe saw, or what a collective brought.
struct Contents {
  PayloadEntry head{};
  std::optional<PayloadType> type;  ///< nothing: not known, or several
  std::vector<std::uint8_t> bytes;  ///< the first ones, as MPI packs them
};
/// In the order in which the program was told. `most`: bytes of each; 0: none, and of all events. Damaged, NotFound: as
/// TraceStore::lookIntoPayload().
[[nodiscard]] Result<std::vector<Contents>> contentsOf(db::TraceStore& store, Rank rank,
                                                       std::optional<std::uint64_t> event,
                                                       std::size_t most);

/// "2 int32, 1 float64"; "too complex". Nobody has to believe the numbers in it.
[[nodiscard]] std::string typeText(const PayloadType& type);
/// Values by the type, of whole ones, a text each; bytes are left out that are no whole value.
[[nodiscard]] std::vector<std::string> valuesOf(const Contents& contents);
/// Sixteen bytes a line, with their offsets and characters.
[[nodiscard]] std::string hexDump(const std::vector<std::uint8_t>& bytes);
/// What it is, hex and values, with a note where it is cut.
[[nodiscard]] std::string contentsText(const Contents& contents);

[[nodiscard]] Result<std::string> payloadReport(const std::string& trace,
                                                const PayloadOptions& options);

}  // namespace pf::app
