// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/tracing_report.h"

#include <nlohmann/json.hpp>

#include <iomanip>

#include "replay_engine/base/text_stream.h"
#include "replay_engine/races/tracing.h"

namespace pf::app {
namespace {

constexpr std::pair<TracingAlgorithm, const char*> kNamedAlgorithms[] = {
    {TracingAlgorithm::Naive, "naive"},
    {TracingAlgorithm::NetzerMiller, "netzer-miller"},
    {TracingAlgorithm::AlgorithmA, "algorithm-a"},
    {TracingAlgorithm::AlgorithmB, "algorithm-b"},
    {TracingAlgorithm::Meehan, "meehan"},
};
constexpr std::uint32_t kWindows[] = {4, 16, 64};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  TextStream out;
  out << std::fixed << std::setprecision(1)
      << (whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole)) << "%";
  return out.str();
}

}  // namespace

TracingCounts countTracing(const Execution& execution, const std::vector<Race>& races) {
  TracingCounts counts;
  counts.messages = execution.messages.size();
  counts.racing = races.size();
  for (const RankHistory& rank : execution.ranks) {
    for (const PostedReceive& receive : rank.receives) {
      counts.wildcardReceives += receive.wantedSource == kAnySource ? 1U : 0U;
    }
  }
  for (const auto& [algorithm, name] : kNamedAlgorithms) {
    counts.rows.push_back({name, traceWith(algorithm, TracingRules::Mpi, execution).size(), true,
                           traceWith(algorithm, TracingRules::AsPrinted, execution).size()});
  }
  for (const std::uint32_t window : kWindows) {
    counts.rows.push_back(
        {"window-" + std::to_string(window), traceWithWindow(window, execution).size(), false, 0});
  }
  const OptimalTrace optimum = optimalTrace(execution, races);
  counts.lower = optimum.lower;
  counts.upper = optimum.upper;
  return counts;
}

nlohmann::json tracingJson(const TracingCounts& counts) {
  nlohmann::json traced = nlohmann::json::object();
  for (const TracingCounts::Row& row : counts.rows) {
    traced[row.algorithm] = {{"traced", row.traced}};
    if (row.printed) {
      traced[row.algorithm]["asPrinted"] = row.asPrinted;
    }
  }
  return {{"messages", counts.messages},
          {"wildcardReceives", counts.wildcardReceives},
          {"racing", counts.racing},
          {"algorithms", traced},
          {"optimum",
           {{"lower", counts.lower},
            {"upper", counts.upper},
            {"exact", counts.lower == counts.upper}}}};
}

std::string tracingText(const TracingCounts& counts) {
  TextStream out;
  out << "\ntraced of " << counts.messages << " messages, " << counts.racing << " racing\n";
  for (const TracingCounts::Row& row : counts.rows) {
    out << "  " << std::left << std::setw(15) << row.algorithm << std::right << std::setw(10)
        << row.traced << std::setw(8) << percent(row.traced, counts.messages);
    if (row.printed && row.asPrinted != row.traced) {
      out << "   (as printed in the paper: " << row.asPrinted << ")";
    }
    out << "\n";
  }
  out << "  optimum        " << std::setw(10) << counts.lower;
  if (counts.lower != counts.upper) {
    out << " to " << counts.upper;
  }
  out << "\n";
  return out.str();
}

}  // namespace pf::app
