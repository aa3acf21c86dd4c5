// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/all_differences.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include "app/reports/reported_side.h"

namespace pf::app {
namespace {

constexpr std::size_t kMostPlaces = 20;
constexpr std::size_t kMostInJson = 1000;

const char* alignedKindName(AlignedKind kind) {
  switch (kind) {
    case AlignedKind::Order:
      return "order";
    case AlignedKind::Delivery:
      return "delivery";
    case AlignedKind::Size:
      return "size";
    case AlignedKind::OnlyA:
      return "onlyA";
    case AlignedKind::OnlyB:
      return "onlyB";
  }
  return "";
}

/// B, if it failed, else A, if that did.
std::pair<FailedRun, std::string> failedRun(const ComparedTraces& traces) {
  for (const bool inB : {true, false}) {
    const db::TraceStore& store = (inB ? traces.b : traces.a).loaded.store;
    const std::optional<WhatFailed> what = whatFailed(store.ranks(), store.run().exitStatus);
    if (what && what->rank >= 0) {
      return {FailedRun{true, inB, what->rank}, what->sentence};
    }
  }
  return {};
}

std::string followText(std::size_t number) {
  return "and " + std::to_string(number) + (number == 1 ? " that follows" : " that follow");
}

std::string manyMore(std::size_t number, const char* what) {
  return std::to_string(number) + " more " + what;
}

}  // namespace

/// Both sides of a difference, as ReportedSide takes them.
struct AllDifferences::Shown {
  Difference a;
  Difference b;
  DifferenceSide sideA;
  DifferenceSide sideB;
};

const AllDifferences::Outcomes::OfRank& AllDifferences::Outcomes::of(Rank rank) const {
  OfRank& entries = m_ranks[index(rank)];
  if (entries.made) {
    return entries;
  }
  const RankHistory& history = m_execution->ranks[index(rank)];
  for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
    if (history.receives[i].state != ReceiveState::Pending) {
      entries.receives.emplace_back(history.receives[i].completion, i);
    }
  }
  for (std::uint32_t i = 0; i < history.probes.size(); ++i) {
    entries.probes.emplace_back(history.probes[i].event, i);
  }
  std::sort(entries.receives.begin(), entries.receives.end());
  std::sort(entries.probes.begin(), entries.probes.end());
  entries.made = true;
  return entries;
}

std::vector<DifferenceSide> AllDifferences::Outcomes::at(Rank rank, Serial serial) const {
  const OfRank& entries = of(rank);
  std::vector<DifferenceSide> sides;
  const auto add = [&](const Entries& all, std::uint32_t DifferenceSide::*number) {
    for (auto entry = std::lower_bound(all.begin(), all.end(), std::pair(serial, 0U));
         entry != all.end() && entry->first == serial; ++entry) {
      DifferenceSide& side = sides.emplace_back();
      side.there = true;
      side.*number = entry->second;
    }
  };
  add(entries.receives, &DifferenceSide::receive);
  add(entries.probes, &DifferenceSide::probe);
  return sides;
}

AllDifferences::AllDifferences(const ComparedTraces& traces, const Comparison& comparison)
    : m_traces(traces), m_a(traces.a.execution()), m_b(traces.b.execution()) {
  std::tie(m_failed, m_failure) = failedRun(traces);
  m_differences =
      alignDifferences(traces.a.run(), traces.b.run(), traces.sameBuild, comparison, m_failed);
}

AllDifferences::Shown AllDifferences::shown(const AlignedDifference& one) const {
  Shown result;
  result.a.rank = result.b.rank = one.rank;
  result.a.serial = one.a;
  result.b.serial = one.b;
  const bool call = one.kind != AlignedKind::Order && one.kind != AlignedKind::Delivery;
  std::vector<DifferenceSide> a =
      one.a != 0 && !call ? m_a.at(one.rank, one.a) : std::vector<DifferenceSide>();
  std::vector<DifferenceSide> b =
      one.b != 0 && !call ? m_b.at(one.rank, one.b) : std::vector<DifferenceSide>();
  // Of several that one event completed, the first that differs.
  std::size_t which = 0;
  while (which + 1 < std::min(a.size(), b.size()) &&
         takenAt(m_traces.a.execution(), one.rank, a[which])->source ==
             takenAt(m_traces.b.execution(), one.rank, b[which])->source &&
         takenAt(m_traces.a.execution(), one.rank, a[which])->tag ==
             takenAt(m_traces.b.execution(), one.rank, b[which])->tag) {
    ++which;
  }
  const auto side = [&](const std::vector<DifferenceSide>& all, Serial serial, Difference& of) {
    DifferenceSide taken = which < all.size() ? all[which] : DifferenceSide();
    of.otherCall = which >= all.size();  // tell the call
    taken.there = serial != 0;
    return taken;
  };
  result.sideA = side(a, one.a, result.a);
  result.sideB = side(b, one.b, result.b);
  return result;
}

/// "rank 0 event 542", "rank 0 event 5 (A), 3 (B)", "rank 0 event 5 (A only)"
std::string AllDifferences::place(const AlignedDifference& one) const {
  return "rank " + std::to_string(one.rank) + " event " + serialsText(one.a, one.b);
}

/// "MPI_Recv from any source, tag 9 at storm.c:31: another order"
std::string AllDifferences::what(const AlignedDifference& one) const {
  const std::string event = one.b != 0 ? eventText(m_traces.b.execution(), {one.rank, one.b})
                                       : eventText(m_traces.a.execution(), {one.rank, one.a});
  switch (one.kind) {
    case AlignedKind::Order:
      return event + ": in another order";
    case AlignedKind::Delivery:
      return event + ": another outcome";
    case AlignedKind::Size:
      return event + ": another size";
    case AlignedKind::OnlyA:
      return event + ": in A only";
    case AlignedKind::OnlyB:
      break;
  }
  return event + ": in B only";
}

std::string AllDifferences::line(const AlignedDifference& one) const {
  return place(one) + ": " + what(one);
}

std::string AllDifferences::block(std::size_t number) const {
  const AlignedDifference& one = at(number);
  std::string text = line(one) + "\n";
  if (one.a != 0 && one.b != 0) {
    const Shown both = shown(one);
    text += "    A  " + ReportedSide(m_traces.a, both.a, both.sideA).text() + "\n    B  " +
            ReportedSide(m_traces.b, both.b, both.sideB).text() + "\n";
  }
  if (one.weight == RaceWeight::First) {
    text += "    look here first: the last of the rank that failed before it failed\n";
  }
  if (one.followers != 0) {
    text += "    " + followText(one.followers) + "\n";
  }
  return text;
}

std::string AllDifferences::text(bool all) const {
  // Of each rank, kind and place: its differences, in the order of the first ones.
  using Key = std::tuple<Rank, AlignedKind, std::string>;
  std::map<Key, std::size_t> known;
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t root : m_differences.roots) {
    const AlignedDifference& one = at(root);
    const EventRef event{one.rank, one.b != 0 ? one.b : one.a};
    const Execution& execution = (one.b != 0 ? m_traces.b : m_traces.a).execution();
    const auto [entry, fresh] = known.try_emplace(
        Key{one.rank, one.kind, all ? std::to_string(root) : callText(execution, event)},
        groups.size());
    if (fresh) {
      groups.emplace_back();
    }
    groups[entry->second].push_back(root);
  }
  std::map<std::size_t, std::vector<std::size_t>> following;
  for (std::size_t i = 0; all && i < m_differences.all.size(); ++i) {
    if (at(i).root != i) {
      following[at(i).root].push_back(i);
    }
  }
  std::string text;
  const char* title = "";
  const std::size_t shown = all ? groups.size() : std::min(groups.size(), kMostPlaces);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t root = groups[i].front();
    const char* const needed = !m_failed.any                          ? "\nall differences\n"
                               : at(root).weight == RaceWeight::Other ? "\nnot before the failure\n"
                                                                      : "\nbefore the failure";
    if (std::string_view(title) != needed) {
      title = needed;
      text += title;
      text += std::string_view(title) == "\nbefore the failure"
                  ? std::string(" of ") + (m_failed.inB ? "B: " : "A: ") + m_failure + "\n"
                  : "";
    }
    text += block(root);
    for (const std::size_t each : following[root]) {
      text += "      follows: " + line(at(each)) + "\n";
    }
    if (groups[i].size() > 1) {
      const auto [low, high] = std::minmax_element(groups[i].begin(), groups[i].end());
      text += "    and " + manyMore(groups[i].size() - 1, "such at this place, ") +
              place(at(*low)) + " to " + place(at(*high)) + "\n";
    }
  }
  if (shown < groups.size()) {
    text +=
        "and " + manyMore(groups.size() - shown, "places with differences; --all prints each\n");
  }
  if (!m_differences.exact) {
    text += "the runs differ in so much that they are aligned at some of their events only\n";
  }
  return text;
}

std::vector<AlignedLine> AllDifferences::table(std::size_t most) const {
  std::vector<AlignedLine> lines;
  for (std::size_t i = 0; i < std::min(most, roots()); ++i) {
    const AlignedDifference& one = at(m_differences.roots[i]);
    AlignedLine& row = lines.emplace_back();
    row.rank = one.rank;
    row.serialA = one.a;
    row.serialB = one.b;
    row.weight = nameOf(one.weight);
    row.what = what(one);
    if (one.a != 0 && one.b != 0) {
      const Shown both = shown(one);
      row.a = ReportedSide(m_traces.a, both.a, both.sideA).text();
      row.b = ReportedSide(m_traces.b, both.b, both.sideB).text();
    }
    row.why = one.followers == 0 ? "" : followText(one.followers);
  }
  return lines;
}

nlohmann::json AllDifferences::json(const AlignedDifference& one) const {
  const Shown both = shown(one);
  const auto side = [](const ComparedTrace& trace, const Difference& difference,
                       const DifferenceSide& of) {
    return of.there ? ReportedSide(trace, difference, of).asJson() : nlohmann::json(nullptr);
  };
  const auto serial = [](Serial of) {
    return of == 0 ? nlohmann::json(nullptr) : nlohmann::json(of);
  };
  return {{"rank", one.rank},
          {"kind", alignedKindName(one.kind)},
          {"serialA", serial(one.a)},
          {"serialB", serial(one.b)},
          {"a", side(m_traces.a, both.a, both.sideA)},
          {"b", side(m_traces.b, both.b, both.sideB)},
          {"weight", nameOf(one.weight)}};
}

void AllDifferences::putJson(nlohmann::json& document, bool all) const {
  document["failure"] = nullptr;
  if (m_failed.any) {
    document["failure"] = {
        {"run", m_failed.inB ? "b" : "a"}, {"rank", m_failed.rank}, {"text", m_failure}};
  }
  document["exactlyAligned"] = m_differences.exact;
  nlohmann::json& list = document["differences"] = nlohmann::json::array();
  std::map<std::size_t, std::size_t> placeOf;
  const std::size_t told = all ? roots() : std::min(roots(), kMostInJson);
  document["differencesLeftOut"] = roots() - told;
  for (std::size_t i = 0; i < told; ++i) {
    const std::size_t root = m_differences.roots[i];
    placeOf[root] = list.size();
    nlohmann::json& one = list.emplace_back(json(at(root)));
    one["following"] = at(root).followers;
  }
  for (std::size_t i = 0; all && i < m_differences.all.size(); ++i) {
    if (at(i).root != i) {
      nlohmann::json one = json(at(i));
      one.erase("weight");
      list[placeOf.at(at(i).root)]["follows"].push_back(std::move(one));
    }
  }
}

}  // namespace pf::app
