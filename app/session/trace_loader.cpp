#include "trace_loader.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "app/failure.h"
#include "app/replay.h"

namespace pf::session {
namespace {

const std::string& callName(const Execution& execution, const Event& event) {
  static const std::string unknown;
  return event.call < execution.callNames.size() ? execution.callNames[event.call] : unknown;
}

}  // namespace

views::RankEnd rankEnd(const db::RankInfo& rank, const RankHistory& history,
                       const Execution& execution) {
  using views::RankEndKind;
  if (rank.complete) {
    return {RankEndKind::Finished, QStringLiteral("finished")};
  }
  if (rank.exitSignal) {
    const QString name = QString::fromLatin1(
        sigabbrev_np(*rank.exitSignal) != nullptr ? sigabbrev_np(*rank.exitSignal) : "?");
    const bool own = app::endedByItself(*rank.exitSignal);
    return {own ? RankEndKind::Crashed : RankEndKind::Killed,
            own ? QStringLiteral("SIG%1").arg(name) : QStringLiteral("ended by SIG%1").arg(name)};
  }
  if (!history.events.empty() && callName(execution, history.events.back()) == "MPI_Abort") {
    return {RankEndKind::Aborted, QStringLiteral("MPI_Abort")};
  }
  if (rank.exitStatus && *rank.exitStatus != 0) {
    return {RankEndKind::Aborted, QStringLiteral("exit status %1").arg(*rank.exitStatus)};
  }
  return {RankEndKind::Cut, QString::fromStdString(rank.state)};
}

views::Failure findFailure(const std::vector<db::RankInfo>& ranks, const Execution& execution) {
  const std::optional<EventRef> event = app::failingReceive(ranks, execution);
  if (!event) {
    return {};
  }
  const auto worst = std::ranges::find(ranks, event->rank, &db::RankInfo::rank);
  const views::RankEnd end =
      rankEnd(*worst, execution.ranks[static_cast<std::size_t>(event->rank)], execution);
  return {*event, QStringLiteral("rank %1: %2").arg(event->rank).arg(end.text)};
}

Result<LoadedTrace> loadTrace(const QString& path) {
  const std::string file = path.toStdString();
  if (Status status = app::surveyIfNeeded(file); !status) {
    return status.error();
  }
  Result<db::TraceStore> store = app::openTrace(file, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  auto data = std::make_shared<views::TraceData>();
  Result<Execution> execution = store->readExecution(&data->logicalTimes);
  if (!execution) {
    return execution.error();
  }
  data->execution = std::move(*execution);
  Result<std::vector<db::StoredRace>> races = store->races();
  if (!races) {
    return races.error();
  }
  for (db::StoredRace& race : *races) {
    data->races.push_back(std::move(race.race));
  }
  for (const db::RankInfo& rank : store->ranks()) {
    data->hosts.push_back(QString::fromStdString(rank.host));
    data->ends.push_back(
        rankEnd(rank, data->execution.ranks[static_cast<std::size_t>(rank.rank)], data->execution));
  }
  data->failure = findFailure(store->ranks(), data->execution);
  data->title = path.section(QLatin1Char('/'), -1);
  return LoadedTrace{std::move(data), store->run(), store->ranks()};
}

}  // namespace pf::session
