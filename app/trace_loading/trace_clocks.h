// SPDX-License-Identifier: GPL-3.0-or-later
// The clock checkpoints of a trace file, read when they are asked for; those used last stay.
#pragma once

#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "app/trace_loading/kept_parts.h"
#include "db/store/summary_view.h"
#include "views/trace/chunks/clock_rows.h"

namespace pf::session {

class FileClocks : public views::ClockRows {
 public:
  FileClocks(db::SummaryView summary, std::size_t ranks)
      : m_summary(std::move(summary)), m_ranks(ranks) {}

  [[nodiscard]] std::uint32_t every() const override { return m_summary.clockDistance(); }
  [[nodiscard]] std::span<const std::uint32_t> past(
      Rank rank, std::size_t n, std::vector<std::uint32_t>& kept) const override {
    return row(false, rank, n, kept);
  }
  [[nodiscard]] std::span<const std::uint32_t> future(
      Rank rank, std::size_t n, std::vector<std::uint32_t>& kept) const override {
    return row(true, rank, n, kept);
  }

 private:
  using Place = std::tuple<bool, Rank, std::size_t>;
  static constexpr std::size_t kMostKept = std::size_t{1} << 23U;  ///< numbers, of 4 bytes

  [[nodiscard]] std::span<const std::uint32_t> row(bool future, Rank rank, std::size_t n,
                                                   std::vector<std::uint32_t>& kept) const;

  mutable std::mutex m_mutex;
  mutable db::SummaryView m_summary;
  std::size_t m_ranks;
  mutable KeptParts<Place, std::uint32_t> m_chunks{kMostKept};
};

}  // namespace pf::session
