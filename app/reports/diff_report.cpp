// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish diff: what differs between two recordings, for people and as JSON.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "app/replaying/compared_trace.h"
#include "app/replaying/other_contents.h"
#include "app/reports/all_differences.h"
#include "app/reports/report.h"
#include "app/reports/reported_side.h"
#include "replay_engine/base/text_stream.h"

namespace pf::app {
namespace {

using nlohmann::json;

const char* nameOf(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::Delivery:
      return "delivery";
    case DifferenceKind::Probe:
      return "probe";
    case DifferenceKind::Outcome:
      return "outcome";
    case DifferenceKind::Call:
      return "call";
    case DifferenceKind::End:
      return "end";
  }
  return "";
}

json coneJson(const std::vector<Serial>& a, const std::vector<Serial>& b) {
  const auto list = [](const std::vector<Serial>& cone) {
    json out = json::array();
    for (const Serial serial : cone) {
      out.push_back(serial == 0 ? json(nullptr) : json(serial));
    }
    return out;
  };
  return {{"a", list(a)}, {"b", list(b)}};
}

json differenceJson(const ComparedTraces& traces, const Difference& difference) {
  const ReportedSide a(traces.a, difference, difference.a);
  const ReportedSide b(traces.b, difference, difference.b);
  json out = {
      {"kind", nameOf(difference.kind)}, {"call", nullptr}, {"file", nullptr}, {"line", nullptr}};
  if (a.there() || b.there()) {
    (a.there() ? a : b).putEvent(out);
  }
  out.erase("rank");
  out["serial"] = difference.serial == 0 ? json(nullptr) : json(difference.serial);
  const ReportedSide& named = a.taken ? a : b;
  out["communicator"] = named.taken ? json(named.communicator()) : json(nullptr);
  out["tag"] = named.taken && named.taken->wantedTag != kAnyTag ? json(named.taken->wantedTag)
                                                                : json(nullptr);
  out["k"] = difference.ordinal == 0 ? json(nullptr) : json(difference.ordinal);
  out["a"] = a.asJson();
  out["b"] = b.asJson();
  out["cause"] = difference.cause;
  out["after"] = difference.after;
  if (difference.cause && !difference.coneA.empty()) {
    out["cone"] = coneJson(difference.coneA, difference.coneB);
  }
  return out;
}

json documentOf(const ComparedTraces& traces, const Comparison& comparison) {
  json ranks = json::array();
  for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
    const auto& failedPolls = comparison.failedPolls[i];
    ranks.push_back(
        {{"rank", i},
         {"events",
          {{"a", traces.a.execution().ranks[i].events.size()},
           {"b", traces.b.execution().ranks[i].events.size()}}},
         {"compared", comparison.compared[i]},
         {"difference",
          comparison.ranks[i] ? differenceJson(traces, *comparison.ranks[i]) : json(nullptr)},
         {"failedTests",
          failedPolls
              ? json{{"serial", failedPolls->event == 0 ? json(nullptr) : json(failedPolls->event)},
                     {"a", failedPolls->a},
                     {"b", failedPolls->b}}
              : json(nullptr)}});
  }
  return {{"same", comparison.same()},
          {"sameBuild", traces.sameBuild},
          {"ranks", ranks},
          {"firstCauses", comparison.firstCauses},
          {"cone", coneJson(comparison.coneA, comparison.coneB)}};
}

/// "rank 2", "ranks 0-3, 7".
std::string rankList(const std::vector<Rank>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    text += last > i ? "-" + std::to_string(ranks[last]) : "";
    i = last;
  }
  return text;
}

std::string ordinalText(std::uint32_t n) {
  const std::uint32_t last = n / 10 % 10 == 1 ? 0 : n % 10;
  return std::to_string(n) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// ", 2nd receive of any tag on MPI_COMM_WORLD"
std::string receiveText(const Difference& difference, const ReportedSide& side) {
  if (!side.taken || difference.ordinal == 0) {
    return {};
  }
  return ", " + ordinalText(difference.ordinal) +
         (difference.kind == DifferenceKind::Probe ? " probe of " : " receive of ") +
         (side.taken->wantedTag == kAnyTag ? "any tag"
                                           : "tag " + std::to_string(side.taken->wantedTag)) +
         " on " + side.communicator();
}

std::string reachText(const Difference& difference) {
  constexpr std::size_t kMost = 6;
  std::string text;
  std::size_t reached = 0;
  for (std::size_t i = 0; i < difference.coneA.size(); ++i) {
    const Serial a = difference.coneA[i];
    const Serial b = difference.coneB[i];
    if (static_cast<Rank>(i) == difference.rank || (a == 0 && b == 0) || ++reached > kMost) {
      continue;
    }
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(i) + " from event " +
            serialsText(a, b);
  }
  return text + (reached > kMost ? " and " + std::to_string(reached - kMost) + " more ranks" : "");
}

/// What differs, without rank and event.
std::string whatText(const Difference& difference, const ReportedSide& a, const ReportedSide& b) {
  if (difference.otherCall) {
    return difference.kind == DifferenceKind::Call ? "another call" : "another test succeeded";
  }
  if (difference.kind == DifferenceKind::End) {
    return "another end";
  }
  return difference.serial != 0 ? a.place() + receiveText(difference, a.taken ? a : b)
                                : "failed tests";
}

/// What a first cause reaches or why it is one, or what the difference follows from; a line each.
std::vector<std::string> whyTexts(const Comparison& comparison, const Difference& difference) {
  std::vector<std::string> lines;
  const auto& failedPolls = comparison.failedPolls[static_cast<std::size_t>(difference.rank)];
  if (failedPolls && !difference.onlyFailedPolls) {
    lines.push_back("before it tests failed " + std::to_string(failedPolls->a) + " times in A, " +
                    std::to_string(failedPolls->b) + " in B (event " +
                    std::to_string(failedPolls->event) + ")");
  }
  if (difference.cause) {
    if (difference.kind == DifferenceKind::Call && !failedPolls) {
      lines.emplace_back("nothing recorded explains it: time, input or chance");
    }
    if (const std::string reach = reachText(difference); !reach.empty()) {
      lines.push_back("reaches " + reach);
    }
  } else if (!difference.after.empty()) {
    lines.push_back("follows " + rankList(difference.after));
  }
  return lines;
}

void putText(std::ostream& out, const ComparedTraces& traces, const Comparison& comparison,
             const Difference& difference) {
  const ReportedSide a(traces.a, difference, difference.a);
  const ReportedSide b(traces.b, difference, difference.b);
  out << "rank " << difference.rank;
  if (difference.serial != 0) {
    out << " event " << difference.serial;
  }
  out << ": " << whatText(difference, a, b);
  out << "\n    A  " << a.text() << "\n    B  " << b.text() << "\n";
  for (const std::string& line : whyTexts(comparison, difference)) {
    out << "    " << line << "\n";
  }
}

/// First causes, then what follows, then those of which only failed tests differ.
std::vector<const Difference*> inOrder(const Comparison& comparison) {
  std::vector<const Difference*> differences;
  for (const std::optional<Difference>& each : comparison.ranks) {
    if (each) {
      differences.push_back(&*each);
    }
  }
  const auto section = [](const Difference* each) {
    return each->cause ? 0 : each->onlyFailedPolls ? 2 : 1;
  };
  std::stable_sort(
      differences.begin(), differences.end(),
      [&](const Difference* a, const Difference* b) { return section(a) < section(b); });
  return differences;
}

void putHeader(std::ostream& out, const ComparedTraces& traces) {
  const auto line = [&](const char* name, const ComparedTrace& trace) {
    const db::RunInfo& run = trace.loaded.store.run();
    out << name << "  " << trace.path << ", recorded " << run.createdUtc;
    for (const std::string& word : run.command) {
      out << (&word == run.command.data() ? ": " : " ") << word;
    }
    out << "\n";
  };
  line("A", traces.a);
  line("B", traces.b);
  if (!traces.sameBuild) {
    out << "program or libraries are of different builds: places of calls are not compared\n";
  }
}

/// Without `all`, of so many ranks at most.
constexpr std::size_t kMostDifferences = 20;

std::string textOf(const ComparedTraces& traces, const Comparison& comparison, bool all) {
  TextStream out;
  putHeader(out, traces);
  std::vector<Rank> same;
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
    events += comparison.compared[i];
    if (!comparison.ranks[i]) {
      same.push_back(static_cast<Rank>(i));
    }
  }
  const std::vector<const Difference*> differences = inOrder(comparison);
  if (differences.empty()) {
    out << "the same: " << comparison.ranks.size() << " ranks, " << events << " events compared\n";
    return out.str();
  }
  out << "differ on " << differences.size() << " of " << comparison.ranks.size() << " ranks\n";
  const AllDifferences again(traces, comparison);
  if (again.failed()) {
    out << again.text(all);
  }
  const char* title = "";
  std::size_t left = all ? differences.size() : std::min(differences.size(), kMostDifferences);
  for (const Difference* each : differences) {
    if (left-- == 0) {
      out << "and " << differences.size() - kMostDifferences
          << " more ranks that differ; --all prints each\n";
      break;
    }
    const char* const needed = each->cause             ? "\nfirst causes\n"
                               : each->onlyFailedPolls ? "\nonly failed tests\n"
                                                       : "\nwhat follows\n";
    if (std::string_view(title) != needed) {
      out << (title = needed);
    }
    putText(out, traces, comparison, *each);
  }
  if (!again.failed() && again.roots() > comparison.firstCauses.size()) {
    out << again.text(all);
  }
  if (!same.empty()) {
    out << "\nthe same calls and outcomes: " << rankList(same) << "\n";
  }
  return out.str();
}

}  // namespace

Result<DiffReport> diffReport(const std::string& a, const std::string& b, bool asJson, bool all) {
  Result<ComparedTraces> traces = loadCompared(a, b);
  if (!traces) {
    return traces.error();
  }
  const Comparison comparison =
      compareExecutions(traces->a.run(), traces->b.run(), traces->sameBuild);
  const Result<std::vector<EventRef>> contents = otherContents(*traces, comparison);
  if (!contents) {
    return contents.error();
  }
  if (!asJson) {
    return DiffReport{
        textOf(*traces, comparison, all) + otherContentsText(traces->a.execution(), *contents),
        comparison.same()};
  }
  json document = documentOf(*traces, comparison);
  AllDifferences(*traces, comparison).putJson(document, all);
  document["otherContents"] = json::array();
  for (const EventRef& event : *contents) {
    putPlace(document["otherContents"].emplace_back(), traces->a.execution(), event);
  }
  return DiffReport{dump(document), comparison.same()};
}

Result<DifferenceTable> differenceTable(const std::string& a, const std::string& b) {
  Result<ComparedTraces> traces = loadCompared(a, b);
  if (!traces) {
    return traces.error();
  }
  Comparison comparison = compareExecutions(traces->a.run(), traces->b.run(), traces->sameBuild);
  DifferenceTable table;
  table.same = comparison.same();
  table.sameBuild = traces->sameBuild;
  for (const Difference* each : inOrder(comparison)) {
    const ReportedSide sideA(traces->a, *each, each->a);
    const ReportedSide sideB(traces->b, *each, each->b);
    DifferenceLine line{each->rank,   each->serial, each->cause, whatText(*each, sideA, sideB),
                        sideA.text(), sideB.text(), {}};
    for (const std::string& why : whyTexts(comparison, *each)) {
      line.why += (line.why.empty() ? "" : "; ") + why;
    }
    table.lines.push_back(std::move(line));
  }
  constexpr std::size_t kMostAligned = 1000;
  const AllDifferences again(*traces, comparison);
  table.aligned = again.table(kMostAligned);
  table.alignedLeftOut = again.roots() - table.aligned.size();
  table.coneA = std::move(comparison.coneA);
  table.coneB = std::move(comparison.coneB);
  return table;
}

}  // namespace pf::app
