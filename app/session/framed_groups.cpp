// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/framed_groups.h"

#include <QCoreApplication>

#include "app/replaying/locality_groups.h"
#include "app/replaying/replay.h"
#include "app/reports/groups_report.h"
#include "replay_engine/groups/partition.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

QString framedWords(const char* text) {
  return QCoreApplication::translate("FramedGroups", text);
}

std::vector<std::vector<Rank>> membersOf(const ReplayGroups& groups) {
  std::vector<std::vector<Rank>> all;
  for (std::uint32_t group = 0; group < groups.count(); ++group) {
    const auto members = groups.members(group);
    all.emplace_back(members.begin(), members.end());
  }
  return all;
}

/// "4 groups of 2 to 4 ranks"
QString sizesText(const ReplayGroups& groups) {
  const auto ranks = values::counted(groups.largest(), framedWords("rank"), framedWords("ranks"));
  const QString each = groups.smallest() == groups.largest()
                           ? ranks
                           : framedWords("%1 to %2").arg(groups.smallest()).arg(ranks);
  return framedWords("%1 of %2")
      .arg(values::counted(groups.count(), framedWords("group"), framedWords("groups")), each);
}

Result<QString> gapsText(const std::string& trace, const TrafficGaps& gaps) {
  Result<db::TraceStore> store = app::openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<bool> oneSided = app::usesOneSided(*store);
  if (!oneSided) {
    return oneSided.error();
  }
  const bool any = *oneSided || !gaps.estimated.empty() || gaps.unknownSends != 0 ||
                   gaps.notEntered != 0 || gaps.persistent != 0;
  return any ? framedWords(" Not all is counted, or not exactly: 'photofinish groups' says what.")
             : QString();
}

}  // namespace

Result<FramedGroups> recordedGroups(const std::string& trace) {
  Result<db::TraceStore> store = app::openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const auto& spec = store->run().groups;
  if (!spec) {
    return FramedGroups();
  }
  const Result<ReplayGroups> groups = ReplayGroups::parse(*spec, store->run().ranks);
  if (!groups) {
    return groups.error();
  }
  const Result<std::vector<db::PayloadInfo>> kept = store->payloads();
  if (!kept) {
    return kept.error();
  }
  std::uint64_t bytes = 0;
  for (const db::PayloadInfo& each : *kept) {
    bytes += each.bytes;
  }
  return FramedGroups{
      membersOf(*groups),
      framedWords("Recorded in %1: %2 of contents from outside of them are in the trace.")
          .arg(sizesText(*groups), values::byteText(bytes))};
}

Result<FramedGroups> groupsByTraffic(const std::string& trace, std::size_t most) {
  const Result<Traffic> traffic = app::trafficOfTrace(trace);
  if (!traffic) {
    return traffic.error();
  }
  const Result<GroupSearch> search = findGroups(*traffic, most);
  if (!search) {
    return search.error();
  }
  const Result<QString> gaps = gapsText(trace, traffic->gaps);
  if (!gaps) {
    return gaps.error();
  }
  const GroupCandidate& best = search->candidates[search->best];
  const auto ranks = static_cast<std::int32_t>(traffic->ranks);
  const std::uint64_t each = traffic->bytesToLog(*ReplayGroups::parse("each", ranks));
  const double percent =
      each == 0 ? 0 : 100 * static_cast<double>(best.bytes) / static_cast<double>(each);
  return FramedGroups{
      membersOf(best.groups),
      framedWords("%1 would leave %2 to log, %3 % of the %4 that each rank on its own needs. To "
                  "record so: --groups %5")
              .arg(sizesText(best.groups), values::byteText(best.bytes),
                   QString::number(percent, 'f', 1), values::byteText(each),
                   QString::fromStdString(best.groups.text())) +
          *gaps};
}

}  // namespace pf::session
