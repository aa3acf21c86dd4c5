// SPDX-License-Identifier: GPL-3.0-or-later
// All differences of two recordings: those before the failure first, each with how many follow from it. Private to
// app/reports.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/collation/failure.h"
#include "app/replaying/compared_trace.h"
#include "app/reports/report.h"
#include "replay_engine/comparison/aligned_differences.h"

namespace pf::app {

class AllDifferences {
 public:
  AllDifferences(const ComparedTraces& traces, const Comparison& comparison);

  /// One of the two failed.
  [[nodiscard]] bool failed() const { return m_failed.any; }
  /// How many differences follow from none.
  [[nodiscard]] std::size_t roots() const { return m_differences.roots.size(); }
  /// One of each rank, kind and place, at most 20 of these; `all`: each of them, and what follows from it.
  [[nodiscard]] std::string text(bool all) const;
  /// At most `most` of those that follow from none.
  [[nodiscard]] std::vector<AlignedLine> table(std::size_t most) const;
  /// Adds "failure" and "differences" to a document; `all`: each of them, and what follows from it; else the
  /// first thousand.
  void putJson(nlohmann::json& document, bool all) const;

 private:
  struct Shown;
  /// Of an execution: which receive or probe an event is about.
  class Outcomes {
   public:
    explicit Outcomes(const Execution& execution)
        : m_execution(&execution), m_ranks(execution.ranks.size()) {}
    /// What this event completed or saw: receives, then probes.
    [[nodiscard]] std::vector<DifferenceSide> at(Rank rank, Serial serial) const;

   private:
    using Entries = std::vector<std::pair<Serial, std::uint32_t>>;
    struct OfRank {
      bool made = false;
      Entries receives;
      Entries probes;
    };
    const OfRank& of(Rank rank) const;
    const Execution* m_execution;
    mutable std::vector<OfRank> m_ranks;
  };

  [[nodiscard]] const AlignedDifference& at(std::size_t number) const {
    return m_differences.all[number];
  }
  [[nodiscard]] Shown shown(const AlignedDifference& one) const;
  [[nodiscard]] std::string place(const AlignedDifference& one) const;
  [[nodiscard]] std::string what(const AlignedDifference& one) const;
  [[nodiscard]] std::string block(std::size_t number) const;
  [[nodiscard]] std::string line(const AlignedDifference& one) const;
  [[nodiscard]] nlohmann::json json(const AlignedDifference& one) const;

  const ComparedTraces& m_traces;
  FailedRun m_failed;
  std::string m_failure;  ///< in words
  AlignedDifferences m_differences;
  Outcomes m_a;
  Outcomes m_b;
};

}  // namespace pf::app
