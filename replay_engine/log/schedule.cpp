// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstring>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/shadow_routes.h"
#include "replay_engine/log/varint.h"

namespace pf {
namespace {

template <typename T>
ScheduleSection append(std::vector<unsigned char>& out, const std::vector<T>& values) {
  const ScheduleSection section{out.size(), values.size() * sizeof(T)};
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  out.insert(out.end(), bytes, bytes + section.size);
  out.resize((out.size() + 7) & ~std::size_t{7});
  return section;
}

/// A choice as the interposer reads it: long index lists go on after each 32 as a choice without failed polls.
void appendChoice(std::vector<unsigned char>& out, const RecordedChoice& choice, bool indices) {
  putVarint(out, choice.failedPolls);
  for (std::size_t i = 0; i < choice.payload.size(); ++i) {
    if (indices && i > 1 && (i - 1) % 32 == 0) {
      putVarint(out, 0);
    }
    putVarint(out, choice.payload[i]);
  }
}

/// Only pages of which something is known.
void appendPins(std::vector<unsigned char>& out, const WildSources& sources,
                ScheduleHeader& header) {
  const std::uint64_t pages = sources.pages().size();
  header.pins = {out.size(), pinPagesOffset(pages) + pages * kPinsAPage * sizeof(std::int32_t)};
  out.reserve(out.size() + header.pins.size);
  const auto put = [&out](const void* bytes, std::size_t size) {
    const auto* const first = static_cast<const unsigned char*>(bytes);
    out.insert(out.end(), first, first + size);
  };
  put(&pages, sizeof pages);
  for (const auto& [number, page] : sources.pages()) {
    put(&number, sizeof number);
  }
  out.resize(header.pins.offset + pinPagesOffset(pages));
  for (const auto& [number, page] : sources.pages()) {
    put(page.data(), sizeof page);
  }
}

std::vector<unsigned char> choiceStream(const std::vector<RecordedChoice>& choices,
                                        std::size_t kind) {
  const bool indices = kind == static_cast<std::size_t>(ChoiceKind::Testsome) ||
                       kind == static_cast<std::size_t>(ChoiceKind::Waitsome);
  std::vector<unsigned char> stream;
  for (const RecordedChoice& choice : choices) {
    appendChoice(stream, choice, indices);
  }
  return stream;
}

void appendLanes(std::vector<unsigned char>& out, const RankLog& log, ScheduleHeader& header) {
  std::vector<ScheduleLane> lanes;
  for (const LoggedLane& logged : log.lanes) {
    ScheduleLane lane{};
    lane.parent = logged.parent;
    lane.ordinal = logged.ordinal;
    for (std::size_t k = 0; k < kChoiceKinds; ++k) {
      lane.choices[k] = append(out, choiceStream(logged.choices[k], k));
      lane.finalFailedPolls[k] = logged.finalFailedPolls[k];
    }
    lanes.push_back(lane);
  }
  std::vector<unsigned char> runs;
  for (const LaneRun& run : log.laneRuns) {
    putVarint(runs, run.code);
    putVarint(runs, run.turns);
    if (run.code / 2 < lanes.size()) {
      lanes[run.code / 2].turns += run.turns;
      lanes[run.code / 2].lockTurns += run.code % 2 != 0 ? run.turns : 0;
    }
  }
  header.laneRuns = append(out, runs);
  header.lanes = append(out, lanes);
}

void appendRoutes(std::vector<unsigned char>& out, const RankRoutes& routes,
                  ScheduleHeader& header) {
  header.routed = 1;
  header.routes = append(out, routes.receives);
  header.routeStreams = append(out, routes.streams);
  header.routeSends = append(out, routes.sends);
  header.routesSeen = append(out, routes.seen);
}

void appendFailed(std::vector<unsigned char>& out, const RankLog& log, ScheduleHeader& header) {
  std::vector<ScheduleFailed> failed;
  std::vector<std::uint32_t> unfinished;
  for (const FailedCompletion& completion : log.failed) {
    failed.push_back({completion.key, static_cast<std::uint32_t>(unfinished.size()),
                      static_cast<std::uint32_t>(completion.unfinished.size())});
    unfinished.insert(unfinished.end(), completion.unfinished.begin(), completion.unfinished.end());
  }
  std::sort(failed.begin(), failed.end(),
            [](const ScheduleFailed& a, const ScheduleFailed& b) { return a.key < b.key; });
  header.failed = append(out, failed);
  header.unfinished = append(out, unfinished);
}

}  // namespace

std::vector<unsigned char> compileSchedule(const RankLog& log, const RankRoutes* routes,
                                           std::uint64_t lastRoute, bool threads) {
  std::vector<unsigned char> out(sizeof(ScheduleHeader));
  ScheduleHeader header{};
  header.magic = kScheduleMagic;
  header.version = kLogVersion;
  header.rank = log.rank;
  header.size = log.size;
  header.complete = log.complete ? 1 : 0;
  header.serials = log.serials;
  header.insideLast = log.insideLast ? 1 : 0;
  if (routes == nullptr || !routes->forced) {
    appendPins(out, log.wildSources, header);
  }
  header.cancelled = append(out, log.cancelledPosts);
  header.checks = append(out, log.checks);
  header.sent = append(out, log.sent);
  header.given = append(out, log.given);
  header.outgoing = append(out, log.outgoing);
  header.outgoingGiven = append(out, log.outgoingGiven);
  for (std::size_t k = 0; k < kChoiceKinds; ++k) {
    header.choices[k] = append(out, choiceStream(log.choices[k], k));
    header.finalFailedPolls[k] = log.finalFailedPolls[k];
  }
  for (std::size_t k = 0; k < kValueKinds; ++k) {
    header.values[k] = append(out, log.values[k]);
    header.earlyValues[k] = log.earlyValues[k];
  }
  header.executable = pathHash(log.executable.c_str());
  header.threads = threads ? 1 : 0;
  appendFailed(out, log, header);
  appendLanes(out, log, header);
  if (routes != nullptr) {
    appendRoutes(out, *routes, header);
    header.lastRoute = lastRoute;
  }
  header.crc = crc32c(&header, sizeof header);
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

}  // namespace pf
