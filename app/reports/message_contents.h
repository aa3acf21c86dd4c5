// SPDX-License-Identifier: GPL-3.0-or-later
// What is in messages that a rank got from ranks outside of its group: read from a trace, and put in words. For reports,
// the window and editors.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/log_format/payload_format.h"
#include "replay_engine/log_format/payload_types.h"

namespace pf::app {

/// A message, what a probe saw, or what a collective brought.
struct Contents {
  PayloadEntry head{};
  std::optional<PayloadType> type;  ///< nothing: not known, or several
  std::vector<std::uint8_t> bytes;  ///< the first ones, as MPI packs them; of a probe none
  std::uint64_t size = 0;           ///< bytes of the message, or that the collective brought

  [[nodiscard]] bool isProbe() const {
    return head.kind == static_cast<std::uint16_t>(PayloadKind::Probe);
  }
  [[nodiscard]] bool isCollective() const {
    return head.kind == static_cast<std::uint16_t>(PayloadKind::Collective);
  }
};

/// Which of a rank's contents are wanted, and how much of them. What is of no use is not kept in memory.
struct ContentsWanted {
  std::vector<std::uint64_t> events;  ///< serials of the events that received them; none: of all
  std::size_t each = 0;               ///< first bytes of each
  std::size_t all = std::numeric_limits<std::size_t>::max();  ///< bytes of all together
};
/// Puts them behind `to`, in the order in which the program was told. Damaged: there is no more of them than is in `to`.
/// NotFound: the trace has none of this rank.
Status readContents(db::TraceStore& store, Rank rank, const ContentsWanted& wanted,
                    std::vector<Contents>& to);

/// "MPI_Bcast", "message from rank 0 of its communicator, tag 7".
[[nodiscard]] std::string whatText(const Contents& contents);
/// The routine of a collective; "?" for a number that none has.
[[nodiscard]] std::string callName(const Contents& contents);
/// "2 int32, 1 float64"; "too complex". Nobody has to believe the numbers in it.
[[nodiscard]] std::string typeText(const PayloadType& type);
/// Values by the type, of whole ones, a text each; bytes are left out that are no whole value. Of a message of bytes that is a
/// whole pickle of Python, the value of that.
[[nodiscard]] std::vector<std::string> valuesOf(const Contents& contents);
/// The same as lines of some hundred characters, with blanks between, each behind `indent`.
[[nodiscard]] std::string valuesText(const Contents& contents, const std::string& indent);
/// Sixteen bytes a line, with their offsets and characters, each behind `indent`.
[[nodiscard]] std::string hexDump(const std::vector<std::uint8_t>& bytes,
                                  const std::string& indent);
/// What it is, hex and values, with a note where it is cut.
[[nodiscard]] std::string contentsText(const Contents& contents);
/// event kind call source tag bytes type typeName; `withBytes`: hex values cut, too. Of a probe, `bytes` are the message's.
[[nodiscard]] nlohmann::json contentsJson(const Contents& contents, bool withBytes);

}  // namespace pf::app
