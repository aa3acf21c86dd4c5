// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/groups_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>
#include <thread>

#include "app/files/text_output.h"
#include "app/replaying/locality_groups.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/groups_picture.h"
#include "replay_engine/base/text_stream.h"
#include "replay_engine/groups/partition.h"

namespace pf::app {
namespace {

constexpr std::uint32_t kRandomTrials = 3;  // as the paper, section 7.3
constexpr std::size_t kMostGroupsListed = 32;
constexpr std::size_t kMostRangesListed = 60;  // characters

struct GroupsFacts {
  Traffic traffic;
  GroupSearch search;
  std::size_t most = 0;
  bool usual = false;      ///< `most` is
  std::uint64_t each = 0;  ///< bytes to log where each rank is a group
  std::vector<double>
      random;  ///< of each candidate: bytes to log of random groups of the same sizes, the mean
  bool oneSided = false;  ///< used, and not counted

  [[nodiscard]] const GroupCandidate& best() const { return search.candidates[search.best]; }
  [[nodiscard]] double percent(double bytes) const {
    return each == 0 ? 0 : 100 * bytes / static_cast<double>(each);
  }
  [[nodiscard]] double percent(std::uint64_t bytes) const {
    return percent(static_cast<double>(bytes));
  }
};

double randomBytes(const Traffic& traffic, const ReplayGroups& like) {
  double sum = 0;
  for (std::uint32_t seed = 1; seed <= kRandomTrials; ++seed) {
    sum += static_cast<double>(traffic.bytesToLog(randomGroups(like, seed)));
  }
  return sum / kRandomTrials;
}

Result<GroupsFacts> findFacts(const std::string& trace, std::size_t most) {
  Result<Traffic> traffic = trafficOfTrace(trace);
  if (!traffic) {
    return traffic.error();
  }
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  const Result<bool> oneSided = store ? usesOneSided(*store) : Result<bool>(store.error());
  if (!oneSided) {
    return oneSided.error();
  }
  GroupsFacts facts;
  facts.traffic = std::move(*traffic);
  facts.oneSided = *oneSided;
  facts.usual = most == 0;
  facts.most = facts.usual ? usualMost() : most;
  Result<GroupSearch> search = findGroups(facts.traffic, facts.most);
  if (!search) {
    return search.error();
  }
  facts.search = std::move(*search);
  const auto ranks = static_cast<std::int32_t>(facts.traffic.ranks);
  facts.each = facts.traffic.bytesToLog(*ReplayGroups::parse("each", ranks));
  for (const GroupCandidate& candidate : facts.search.candidates) {
    facts.random.push_back(randomBytes(facts.traffic, candidate.groups));
  }
  return facts;
}

nlohmann::json factsJson(const GroupsFacts& facts) {
  nlohmann::json candidates = nlohmann::json::array();
  for (std::size_t i = 0; i < facts.search.candidates.size(); ++i) {
    const GroupCandidate& each = facts.search.candidates[i];
    candidates.push_back({{"parts", each.parts},
                          {"groups", each.groups.count()},
                          {"smallest", each.groups.smallest()},
                          {"largest", each.groups.largest()},
                          {"bytes", each.bytes},
                          {"percent", facts.percent(each.bytes)},
                          {"randomPercent", facts.percent(facts.random[i])},
                          {"best", i == facts.search.best}});
  }
  const GroupCandidate& best = facts.best();
  nlohmann::json members = nlohmann::json::array();
  for (std::uint32_t group = 0; group < best.groups.count(); ++group) {
    const auto ranks = best.groups.members(group);
    members.push_back(std::vector<Rank>(ranks.begin(), ranks.end()));
  }
  return {{"ranks", facts.traffic.ranks},
          {"max", facts.most},
          {"eachBytes", facts.each},
          {"candidates", candidates},
          {"best",
           {{"spec", best.groups.text()},
            {"bytes", best.bytes},
            {"percent", facts.percent(best.bytes)},
            {"groups", members}}},
          {"estimated", facts.traffic.gaps.estimated},
          {"unknownSends", facts.traffic.gaps.unknownSends},
          {"notEntered", facts.traffic.gaps.notEntered},
          {"persistent", facts.traffic.gaps.persistent},
          {"oneSided", facts.oneSided}};
}

std::string sizesText(const ReplayGroups& groups) {
  const std::string largest = std::to_string(groups.largest());
  return groups.smallest() == groups.largest() ? largest
                                               : std::to_string(groups.smallest()) + "-" + largest;
}

void putTable(TextStream& out, const GroupsFacts& facts) {
  out << "  groups   ranks each            bytes to log           random groups\n";
  for (std::size_t i = 0; i < facts.search.candidates.size(); ++i) {
    const GroupCandidate& each = facts.search.candidates[i];
    if (i > 0 && each.groups == facts.search.candidates[i - 1].groups) {
      continue;  // the same, of more parts that were asked for
    }
    out << std::setw(8) << each.groups.count() << std::setw(13) << sizesText(each.groups)
        << std::setw(24) << each.bytes << std::setw(7) << facts.percent(each.bytes) << " %"
        << std::setw(10) << facts.percent(facts.random[i]) << " %"
        << (i == facts.search.best ? "  best" : "") << "\n";
  }
}

void putGaps(TextStream& out, const GroupsFacts& facts) {
  const TrafficGaps& gaps = facts.traffic.gaps;
  if (!gaps.estimated.empty()) {
    out << "estimates: the trace does not say which rank got how much of";
    for (const std::string& call : gaps.estimated) {
      out << (call == gaps.estimated.front() ? " " : ", ") << call;
    }
    out << "; it is counted as if all got alike\n";
  }
  if (gaps.unknownSends != 0) {
    out << "not counted: " << gaps.unknownSends
        << " messages whose send is not in the record, which is cut short\n";
  }
  if (gaps.notEntered != 0) {
    out << "not counted: " << gaps.notEntered
        << " calls of collectives that not every rank of the communicator has entered\n";
  }
  if (gaps.persistent != 0) {
    out << "not counted: " << gaps.persistent
        << " starts of persistent collectives, whose sizes an older Photofinish has not recorded\n";
  }
  if (facts.oneSided) {
    out << "not counted: one-sided communication\n";
  }
}

void putGroups(TextStream& out, const ReplayGroups& groups) {
  std::size_t listed = 0;
  for (std::uint32_t group = 0; group < groups.count(); ++group) {
    if (groups.members(group).size() < 2) {
      continue;
    }
    if (++listed > kMostGroupsListed) {
      out << "  …\n";
      return;
    }
    std::string ranges = rangesText(groups.members(group));
    if (ranges.size() > kMostRangesListed) {
      ranges.resize(ranges.rfind('+', kMostRangesListed));
      ranges += "+…";
    }
    out << "  " << ranges << " (" << groups.members(group).size() << " ranks)\n";
  }
}

std::string factsText(const GroupsFacts& facts) {
  const ReplayGroups& groups = facts.best().groups;
  TextStream out;
  out << std::fixed << std::setprecision(1);
  out << facts.traffic.ranks << (facts.traffic.ranks == 1 ? " rank" : " ranks") << ", at most "
      << facts.most << " in a group"
      << (facts.usual ? " (twice the processors of this machine; --max says otherwise)" : "")
      << "\neach rank a group of its own: " << facts.each << " bytes to log (100 %)\n";
  putTable(out, facts);
  out << "best: " << facts.best().bytes << " bytes to log, " << facts.percent(facts.best().bytes)
      << " % of what each rank on its own would need\n";
  putGroups(out, groups);
  putGaps(out, facts);
  out << "for record --groups: " << groups.text() << "\n";
  return out.str();
}

Status writePicture(const GroupsFacts& facts, TextOutput& out) {
  out.write(groupsPicture(facts.traffic, facts.best().groups));
  return out.finish();
}

}  // namespace

std::size_t usualMost() {
  return 2 * std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

Result<bool> usesOneSided(db::TraceStore& store) {
  Result<std::vector<db::NotGuaranteed>> notes = store.notGuaranteed();
  if (!notes) {
    return notes.error();
  }
  return std::ranges::any_of(*notes, [](const db::NotGuaranteed& note) {
    return std::ranges::any_of(
        std::initializer_list<const char*>{"MPI_Win_", "MPI_Put", "MPI_Get", "MPI_Rput", "MPI_Rget",
                                           "MPI_Accumulate", "MPI_Raccumulate"},
        [&note](const char* call) { return note.what.find(call) != std::string::npos; });
  });
}

Result<std::string> groupsReport(const std::string& trace, const GroupsOptions& options) {
  std::optional<TextOutput> picture;
  if (!options.picture.empty()) {  // before a survey is made for it
    Result<TextOutput> opened = TextOutput::open(options.picture);
    if (!opened) {
      return opened.error();
    }
    picture.emplace(std::move(*opened));
  }
  Result<GroupsFacts> facts = findFacts(trace, options.most);
  if (!facts) {
    return facts.error();
  }
  if (picture) {
    if (Status written = writePicture(*facts, *picture); !written) {
      return written.error();
    }
  }
  return options.json ? dump(factsJson(*facts)) : factsText(*facts);
}

}  // namespace pf::app
