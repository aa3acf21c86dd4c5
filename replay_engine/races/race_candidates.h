// SPDX-License-Identifier: GPL-3.0-or-later
// The messages that a wildcard receive could take by MPI's matching rules alone (conditions 1 to 3
// of races.h). Private to the analysis.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "replay_engine/causality/chains.h"
#include "replay_engine/causality/send_order.h"
#include "replay_engine/execution/execution.h"

namespace pf {

/// Messages to one rank, by what a receive can ask for. Questions must come with rising `limit`.
class RaceCandidates {
 public:
  /// What tags the questions will name.
  struct Tags {
    bool one = true;
    bool any = true;  ///< kAnyTag
  };
  /// `messages`: indices of all messages to the rank, by (rank, serial) of their sends.
  RaceCandidates(const Execution& execution, const Chains& chains, const SendOrder& sends,
                 std::span<const std::uint32_t> messages, Tags tags);

  /// For each source, by rank, the first message in (comm, tag or kAnyTag) that no receive posted
  /// before `limit` took; where several threads sent at once, the first one of each. Valid until
  /// the next call.
  [[nodiscard]] const std::vector<std::uint32_t>& firstOfEachSource(std::uint32_t comm, Tag tag,
                                                                    std::uint32_t limit);

 private:
  /// Messages of one source (a chain) in sending order: chained positions in m_messages.
  struct Stream {
    std::uint32_t source;
    std::uint32_t head;
    std::uint32_t tail;
  };
  using Streams = std::vector<Stream>;

  void append(Streams& streams, std::uint32_t position, std::vector<std::uint32_t>& next);
  void collect(Streams& streams, const std::vector<std::uint32_t>& next, std::uint32_t limit);
  void dropLater();
  [[nodiscard]] const Message& message(std::uint32_t position) const {
    return m_execution.messages[m_messages[position]];
  }

  const Execution& m_execution;
  const Chains& m_chains;
  const SendOrder& m_sends;
  std::span<const std::uint32_t> m_messages;
  std::unordered_map<std::uint64_t, Streams> m_byTag;   ///< by comm and tag
  std::unordered_map<std::uint32_t, Streams> m_anyTag;  ///< by comm
  std::vector<std::uint32_t> m_nextByTag;               ///< by position
  std::vector<std::uint32_t> m_nextAnyTag;
  std::vector<std::uint32_t> m_found;
  std::vector<std::uint32_t> m_first;  ///< of dropLater()
};

}  // namespace pf
