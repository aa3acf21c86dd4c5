// SPDX-License-Identifier: GPL-3.0-or-later
// What has to be taken before a receive takes, or a probe sees, a message (MPI 3.1, 3.5: messages of one
// sender in sending order, receives of one rank in posting order). Of things that follow one another by
// themselves only the last. Private to the prediction.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "replay_engine/prediction/program_model.h"

namespace pf::prediction {

class MatchingOrder {
 public:
  explicit MatchingOrder(const ProgramModel& model);

  /// Receives posted before `limit` that accept the message: of equal ones the last. Not those that are
  /// over before event `begin` of their rank.
  [[nodiscard]] std::vector<std::uint32_t> receivesBefore(std::uint32_t message,
                                                          std::uint32_t limit, Serial begin) const;
  /// The last earlier messages of the same source, destination and communicator: of `tag`, or of each tag.
  [[nodiscard]] const std::vector<std::uint32_t>& messagesBefore(std::uint32_t message,
                                                                 Tag tag) const {
    return tag == kAnyTag ? m_before[message] : m_beforeSameTag[message];
  }
  /// The receive before it of the same envelope; kNone: none.
  [[nodiscard]] std::uint32_t sameBefore(std::uint32_t receive) const {
    return m_sameBefore[receive];
  }
  /// The first receive that is posted after the probe.
  [[nodiscard]] std::uint32_t limitOf(std::uint32_t probe) const { return m_limits[probe]; }

 private:
  using Envelope =
      std::tuple<Rank, std::uint32_t, Rank, Tag>;  ///< destination, communicator, source, tag

  void listMessages();
  void listReceives();

  const ProgramModel& m_model;
  std::map<Envelope, std::vector<std::uint32_t>> m_receives;
  std::vector<std::vector<std::uint32_t>> m_before;
  std::vector<std::vector<std::uint32_t>> m_beforeSameTag;
  std::vector<std::uint32_t> m_sameBefore;
  std::vector<std::uint32_t> m_limits;
};

}  // namespace pf::prediction
