// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/trace_loading/trace_clocks.h"

namespace pf::session {

std::span<const std::uint32_t> FileClocks::row(bool future, Rank rank, std::size_t n,
                                               std::vector<std::uint32_t>& kept) const {
  const std::lock_guard lock(m_mutex);
  const std::size_t most = m_summary.clocksAChunk();
  const std::shared_ptr<const std::vector<std::uint32_t>> chunk =
      m_chunks.get({future, rank, n / most}, [&](std::vector<std::uint32_t>& values) {
        return m_summary.clocks(future, rank, n / most, values).ok();
      });
  if (chunk == nullptr) {
    return {};
  }
  const auto found = std::span<const std::uint32_t>(*chunk).subspan(n % most * m_ranks, m_ranks);
  kept.assign(found.begin(), found.end());
  return kept;
}

}  // namespace pf::session
