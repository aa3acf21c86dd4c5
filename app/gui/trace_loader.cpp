#include "trace_loader.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "app/replay.h"

namespace pf::gui {
namespace {

const std::string& callName(const Execution& execution, const Event& event) {
  static const std::string unknown;
  return event.call < execution.callNames.size() ? execution.callNames[event.call] : unknown;
}

bool endedByItself(int signal) {
  return signal != SIGTERM && signal != SIGKILL && signal != SIGINT;
}

/// How much a rank looks like the one that failed first: others are ended by the launcher because
/// of it.
int guilt(const db::RankInfo& rank, const RankHistory& history, const Execution& execution) {
  if (rank.complete) {
    return 0;
  }
  const bool aborted =
      !history.events.empty() && callName(execution, history.events.back()) == "MPI_Abort";
  if (rank.exitSignal && endedByItself(*rank.exitSignal)) {
    return 6;
  }
  if (aborted) {
    return 5;
  }
  if (rank.exitStatus && *rank.exitStatus != 0) {
    return 4;
  }
  if (rank.exitSignal && *rank.exitSignal == SIGKILL) {
    return 3;
  }
  return history.events.empty() ? 0 : 1;
}

}  // namespace

bool receives(const RankHistory& rank, Serial serial) {
  if (serial == 0 || serial > rank.events.size()) {
    return false;
  }
  const EventKind kind = rank.events[serial - 1].kind;
  if (kind == EventKind::Receive || kind == EventKind::SendReceive || kind == EventKind::Probe) {
    return true;
  }
  return kind == EventKind::Completion &&
         std::any_of(rank.receives.begin(), rank.receives.end(), [&](const PostedReceive& receive) {
           return receive.completion == serial && receive.state == ReceiveState::Complete;
         });
}

views::RankEnd rankEnd(const db::RankInfo& rank, const RankHistory& history,
                       const Execution& execution) {
  using views::RankEndKind;
  if (rank.complete) {
    return {RankEndKind::Finished, QStringLiteral("finished")};
  }
  if (rank.exitSignal) {
    const QString name = QString::fromLatin1(
        sigabbrev_np(*rank.exitSignal) != nullptr ? sigabbrev_np(*rank.exitSignal) : "?");
    const bool own = endedByItself(*rank.exitSignal);
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
  const db::RankInfo* worst = nullptr;
  int most = 0;
  for (const db::RankInfo& rank : ranks) {
    const int g = guilt(rank, execution.ranks[static_cast<std::size_t>(rank.rank)], execution);
    if (g > most) {
      most = g;
      worst = &rank;
    }
  }
  if (worst == nullptr) {
    return {};
  }
  const RankHistory& history = execution.ranks[static_cast<std::size_t>(worst->rank)];
  Serial serial = history.events.size();
  for (Serial s = serial; s > 0; --s) {
    if (receives(history, s)) {
      serial = s;
      break;
    }
  }
  const views::RankEnd end = rankEnd(*worst, history, execution);
  return {{worst->rank, serial}, QStringLiteral("rank %1: %2").arg(worst->rank).arg(end.text)};
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
    data->ends.push_back(
        rankEnd(rank, data->execution.ranks[static_cast<std::size_t>(rank.rank)], data->execution));
  }
  data->failure = findFailure(store->ranks(), data->execution);
  data->title = path.section(QLatin1Char('/'), -1);
  return LoadedTrace{std::move(data), store->run(), store->ranks()};
}

}  // namespace pf::gui
