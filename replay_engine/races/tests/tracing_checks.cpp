// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tests/tracing_checks.h"

#include <algorithm>
#include <set>

#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/tracing_replay.h"
#include "replay_engine/races/tests/tracing_text.h"

namespace pf::oracle {
namespace {

constexpr std::size_t kNetzerMiller = 0;
constexpr std::size_t kOfA = 1;
constexpr std::size_t kOfB = 2;
constexpr std::size_t kWindows = 5;

std::string describe(const Execution& execution, const NamedTrace& traced) {
  return traced.name + ": " + test::toText(traced.trace) + '\n' + toText(execution) +
         toText(execution, findRaces(execution));
}

std::string nameOf(const Deviation& taken) {
  return std::to_string(taken.rank) + (taken.probe ? ".p" : ".") + std::to_string(taken.index);
}

}  // namespace

std::vector<NamedTrace> allTraces(const Execution& execution) {
  const auto with = [&](TracingAlgorithm algorithm) {
    return traceWith(algorithm, TracingRules::Mpi, execution);
  };
  std::vector<NamedTrace> traces{
      {"Netzer and Miller", with(TracingAlgorithm::NetzerMiller)},
      {"Algorithm A", with(TracingAlgorithm::AlgorithmA)},
      {"Algorithm B", with(TracingAlgorithm::AlgorithmB)},
      {"Meehan", with(TracingAlgorithm::Meehan), true},
      {"Naive", with(TracingAlgorithm::Naive), true},
  };
  for (const std::uint32_t window : {0U, 1U, 2U, 4U, 16U, kNone}) {
    traces.push_back({"window " + std::to_string(window), traceWithWindow(window, execution)});
  }
  return traces;
}

std::string wrongCover(const Execution& execution, const std::vector<Race>& races,
                       const NamedTrace& traced) {
  const std::set<TracedReceive> trace(traced.trace.begin(), traced.trace.end());
  for (const Race& race : races) {
    if (trace.contains({race.rank, race.index, race.probe})) {
      continue;
    }
    for (const std::uint32_t other : race.alternatives) {
      if (!trace.contains({race.rank, execution.messages[other].post, false})) {
        return (race.probe ? "probe " : "receive ") + std::to_string(race.rank) + '.' +
               std::to_string(race.index) + " and m" + std::to_string(other) +
               " race, neither is traced; " + describe(execution, traced);
      }
    }
  }
  return {};
}

std::string wrongOrder(const Execution& execution, const std::vector<NamedTrace>& traces,
                       const OptimalTrace& optimal) {
  const std::vector<TracedReceive>& ofB = traces[kOfB].trace;
  const std::vector<TracedReceive>& netzerMiller = traces[kNetzerMiller].trace;
  if (traces[kOfA].trace != ofB || traces[kWindows].trace != ofB) {
    return "A, B and a window of 0 trace different receives; " + describe(execution, traces[kOfA]) +
           describe(execution, traces[kOfB]) + describe(execution, traces[kWindows]);
  }
  if (!std::includes(netzerMiller.begin(), netzerMiller.end(), ofB.begin(), ofB.end())) {
    return "B traces what Netzer and Miller do not; " + describe(execution, traces[kNetzerMiller]) +
           describe(execution, traces[kOfB]);
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces[i].trace.size() < optimal.lower ||
        (i >= kWindows && traces[i].trace.size() > ofB.size())) {
      return "too few (fewer than " + std::to_string(optimal.lower) + ") or more than B; " +
             describe(execution, traces[i]);
    }
  }
  return optimal.lower <= optimal.upper && optimal.exact == (optimal.lower == optimal.upper)
             ? ""
             : "the bounds of the optimum contradict each other; " + toText(execution);
}

std::string wrongReplay(const Execution& execution, const NamedTrace& traced, std::size_t states,
                        bool& all) {
  all = true;
  for (const Enforce enforce : {Enforce::Tag, Enforce::Source}) {
    if (enforce == Enforce::Source && !traced.bySource) {
      continue;
    }
    TracedReplay replay(execution, traced.trace, enforce);
    bool complete = false;
    auto wrong = states > 0 ? replay.searchAll(states, complete) : std::nullopt;
    const auto held = replay.searchHoldingOne();
    if (complete && wrong.has_value() != held.has_value()) {
      return "the model replayers differ; " + describe(execution, traced);
    }
    wrong = wrong ? wrong : held;
    if (wrong) {
      return nameOf(*wrong) + " could take m" + std::to_string(wrong->message) + "; " +
             describe(execution, traced);
    }
    if (!replay.ends()) {
      return "a replay does not end; " + describe(execution, traced);
    }
    all = all && complete;
  }
  return {};
}

}  // namespace pf::oracle
