// SPDX-License-Identifier: GPL-3.0-or-later
// Which of two messages of one rank was sent before the other (MPI 3.1, 3.5): the first one of
// those of a thread; of two threads that whose sending the other's follows from. Others are sent at
// once, whatever the record's serials say. Private to the analysis; needs matchMessages() first.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/causality/chains.h"
#include "replay_engine/execution/execution.h"

namespace pf {

class SendOrder {
 public:
  SendOrder(const Execution& execution, const Chains& chains);

  /// `one` comes before `other`. Both are of the same rank.
  [[nodiscard]] bool before(std::uint32_t one, std::uint32_t other) const;

 private:
  class Clocks;

  const Execution& m_execution;
  const Chains& m_chains;
  std::vector<std::size_t> m_at;       ///< by message, of ranks with several chains: in m_known
  std::vector<std::uint32_t> m_known;  ///< serials known, by chain of the rank
};

}  // namespace pf
