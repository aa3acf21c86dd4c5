// How many events each rank has, and how many message lines cross from each row to the next, in
// bins of logical time and in bins of twice, four times … that width: a view of any width is drawn
// from as many cells as it has pixels. The lines that are long stay lines, so that they keep their
// slope.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "views/trace_index.h"

namespace pf::views {

class CutPyramid {
 public:
  struct Cell {
    std::uint32_t events = 0;
    std::uint32_t races = 0;   ///< racing receives and probes
    std::uint32_t cut = 0;     ///< lines that cross from this row to the next one, at half the way
    std::uint32_t racing = 0;  ///< those of them whose message was taken in a race
  };
  struct Level {
    std::uint32_t width = 1;  ///< of a bin, in steps of logical time
    std::size_t bins = 0;
    std::vector<Cell> cells;  ///< [rank * bins + bin]
    [[nodiscard]] std::span<const Cell> row(std::size_t rank) const {
      return std::span(cells).subspan(rank * bins, bins);
    }
  };

  /// Takes some 50 ns an event: not for the GUI thread. `eventsACell`: about, at the narrowest
  /// bins. Soon after `stop` has become true it ends, and has counted nothing that is of use.
  explicit CutPyramid(const TraceIndex& trace, std::size_t eventsACell = 16,
                      const std::atomic<bool>* stop = nullptr);

  [[nodiscard]] const std::vector<Level>& levels() const { return m_levels; }
  /// The widest bins that are not wider than `steps`; null: all are wider.
  [[nodiscard]] const Level* levelFor(double steps) const;
  /// Messages that are in no cell's cut: the longest of those longer than kLongBins narrow bins.
  [[nodiscard]] const std::vector<std::uint32_t>& longMessages() const { return m_long; }

  /// Where the line of a message crosses from row `gap` to the next one, in logical time.
  [[nodiscard]] static double crossing(double t0, Rank from, double t1, Rank to, Rank gap);

  static constexpr std::uint32_t kLongBins = 4;
  static constexpr std::size_t kMostLong = 4096;

 private:
  void countEvents(const TraceIndex& trace);
  void countMessages(const TraceIndex& trace);
  void findLong(const TraceIndex& trace);
  void countLine(double t0, Rank from, double t1, Rank to, bool race);
  [[nodiscard]] bool stopped() const { return m_stop != nullptr && m_stop->load(); }
  void addLevels();
  [[nodiscard]] std::size_t bin(double time) const;

  std::vector<Level> m_levels;
  std::vector<std::uint32_t> m_long;
  const std::atomic<bool>* m_stop;
};

}  // namespace pf::views
