// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/payload_report.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <vector>

#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/message_contents.h"
#include "replay_engine/base/text_stream.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf::app {
namespace {

void putList(TextStream& out, const std::vector<Contents>& all) {
  out << "   event       bytes  what\n";
  for (const Contents& each : all) {
    out << std::setw(8) << each.head.serial << std::setw(12) << each.size << "  " << whatText(each)
        << (each.type ? ", " + typeText(*each.type) : std::string()) << "\n";
  }
}

/// " (group 1: 8-15)"; empty: no groups are known.
std::string groupText(const db::RunInfo& run, Rank rank) {
  const Result<ReplayGroups> groups = ReplayGroups::parse(run.groups.value_or(""), run.ranks);
  if (!groups) {
    return {};
  }
  const std::uint32_t group = groups->groupOf(rank);
  return " (group " + std::to_string(group) + ": " + rangesText(groups->members(group)) + ")";
}

}  // namespace

Result<PayloadReport> payloadReport(const std::string& trace, const PayloadOptions& options) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (Status there = rankIsThere(*store, options.rank); !there) {
    return there.error();
  }
  if (store->run().redacted) {
    return Error{ErrorCode::Usage,
                 trace + " is redacted: contents of messages were taken out of it",
                 "Ask for the trace that it was made of."};
  }
  if (options.event) {
    if (Status there = eventIsThere(*store, {options.rank, *options.event}); !there) {
      return there.error();
    }
  }
  ContentsWanted wanted;
  if (options.event) {
    wanted.events = {*options.event};
    wanted.each = options.most;
  }
  std::vector<Contents> all;
  const Status read = readContents(*store, options.rank, wanted, all);
  if (!read && (read.error().code != ErrorCode::Damaged || all.empty())) {
    return read.error();
  }
  if (options.event && all.empty()) {
    return Error{ErrorCode::Usage,
                 "event " + std::to_string(*options.event) + " of rank " +
                     std::to_string(options.rank) + " received nothing from outside of its group" +
                     groupText(store->run(), options.rank),
                 "Leave out --event for a list of those that did."};
  }
  if (options.json) {
    nlohmann::json entries = nlohmann::json::array();
    for (const Contents& each : all) {
      entries.push_back(contentsJson(each, options.event.has_value()));
    }
    const nlohmann::json damage =
        read ? nlohmann::json(nullptr) : nlohmann::json(read.error().message);
    return PayloadReport{dump({{"rank", options.rank}, {"contents", entries}, {"damage", damage}}),
                         read};
  }
  TextStream out;
  if (!options.event) {
    putList(out, all);
  } else {
    for (const Contents& each : all) {
      out << contentsText(each);
    }
  }
  return PayloadReport{out.str(), read};
}

}  // namespace pf::app
