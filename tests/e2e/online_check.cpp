// SPDX-License-Identifier: GPL-3.0-or-later
// pf_online_check [--at-least] TRACE: are the deliveries that the ranks traced while they ran (record --mode races) those that
// core's tracing algorithms, run offline on the surveyed execution, trace? The ranks do not follow that a synchronous
// send has come back, so the execution is looked at without that.
// Those that are messages must also be named as the pairing of the survey names them.
// --at-least: they may have traced more (clocks came as messages, which may be late), by Meehan's algorithm.
// Exit status: 0 equal, 1 not, 2 the trace cannot be read.
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "db/store/trace_store.h"
#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/shadow_routes.h"
#include "replay_engine/races/races.h"
#include "tests/e2e/traced_online.h"

namespace {

using pf::check::Traced;

template <typename T>
bool sameBytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Whether the messages that the trace names, and those that probes saw, are the survey's.
bool named(const pf::Execution& execution, const pf::ShadowRoutes& tags) {
  std::vector<std::optional<std::vector<std::uint32_t>>> posts(tags.ranks.size());
  for (std::size_t i = 0; i < posts.size(); ++i) {
    posts[i].emplace();
    for (const pf::ScheduleRoute& tag : tags.ranks[i].receives) {
      posts[i]->push_back(tag.post);
    }
  }
  const pf::ShadowRoutes survey = pf::routesOf(execution, posts);
  bool same = true;
  for (std::size_t i = 0; i < posts.size(); ++i) {
    const pf::RankRoutes& a = tags.ranks[i];
    const pf::RankRoutes& b = survey.ranks[i];
    const bool equal = sameBytes(a.receives, b.receives) && sameBytes(a.streams, b.streams) &&
                       sameBytes(a.sends, b.sends) && sameBytes(a.seen, b.seen);
    if (!equal) {
      std::printf("rank %zu: its messages have other names in the survey\n", i);
    }
    same = same && equal;
  }
  return same;
}

std::size_t lacks(const char* what, const Traced& one, const Traced& other) {
  std::size_t lacking = 0;
  for (const auto& [rank, post] : one) {
    if (other.count({rank, post}) == 0) {
      std::printf("%s: rank %d, receive %u\n", what, rank, post);
      ++lacking;
    }
  }
  return lacking;
}

int check(const std::string& path, bool atLeast) {
  auto store = pf::db::TraceStore::open(path, pf::db::TraceStore::Mode::ReadOnly);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().text().c_str());
    return 2;
  }
  auto logs = pf::app::readLogs(*store);
  auto execution = pf::app::loadExecution(*store);
  if (!logs || !execution) {
    std::fprintf(stderr, "%s\n", (logs ? execution.error() : logs.error()).text().c_str());
    return 2;
  }
  if (const std::string wrong = pf::check::notOnline(*logs); !wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 2;
  }
  if (execution->ranks.size() != logs->size()) {
    std::fprintf(stderr, "the trace has no survey\n");
    return 2;
  }
  pf::matchMessages(*execution);
  const std::uint32_t algorithm = logs->front().races->algorithm;
  const auto tags = pf::collatedRoutes(*logs);
  if (!tags) {
    std::fprintf(stderr, "%s\n", tags.error().text().c_str());
    return 2;
  }
  const Traced found = pf::check::online(*execution, *logs, *tags);
  const bool rightNames = named(*execution, *tags);
  const Traced expected = pf::check::offline(*execution, algorithm);
  const std::size_t wrong =
      lacks("missed", expected, found) + (atLeast ? 0 : lacks("invented", found, expected));
  std::printf("online: %zu traced while it ran, %zu offline: %s\n", found.size(), expected.size(),
              wrong != 0          ? "NOT EQUAL"
              : found == expected ? "equal"
                                  : "more");
  return wrong == 0 && rightNames ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool atLeast = argc == 3 && std::string(argv[1]) == "--at-least";
  if (argc != (atLeast ? 3 : 2)) {
    std::fprintf(stderr, "usage: pf_online_check [--at-least] TRACE\n");
    return 2;
  }
  return check(argv[argc - 1], atLeast);
}
