#include "trace_clocks.h"

namespace pf::session {

std::span<const std::uint32_t> FileClocks::row(bool future, Rank rank, std::size_t n,
                                               std::vector<std::uint32_t>& kept) const {
  const std::lock_guard lock(m_mutex);
  const std::size_t most = m_summary.clocksAChunk();
  const Place place{future, rank, n / most};
  if (const auto known = m_known.find(place); known != m_known.end()) {
    m_kept.splice(m_kept.begin(), m_kept, known->second);
  } else {
    std::vector<std::uint32_t> values;
    if (!m_summary.clocks(future, rank, n / most, values).ok()) {
      return {};
    }
    m_numbers += values.size();
    m_kept.push_front({place, std::move(values)});
    m_known[place] = m_kept.begin();
    while (m_numbers > kMostKept && m_kept.size() > 1) {
      m_numbers -= m_kept.back().values.size();
      m_known.erase(m_kept.back().place);
      m_kept.pop_back();
    }
  }
  const auto found =
      std::span<const std::uint32_t>(m_kept.front().values).subspan(n % most * m_ranks, m_ranks);
  kept.assign(found.begin(), found.end());
  return kept;
}

}  // namespace pf::session
