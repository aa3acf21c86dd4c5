// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/trace_loading/trace_loader.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "app/collation/failure.h"
#include "app/replaying/replay.h"
#include "app/trace_loading/trace_chunks.h"
#include "app/trace_loading/trace_clocks.h"
#include "app/trace_loading/trace_pyramid.h"

namespace pf::session {
namespace {

const std::string& callName(const Execution& execution, const Event& event) {
  static const std::string unknown;
  return event.call < execution.callNames.size() ? execution.callNames[event.call] : unknown;
}

}  // namespace

namespace {

views::RankEnd endOf(const db::RankInfo& rank, const RankHistory& history,
                     const Execution& execution) {
  using views::RankEndKind;
  if (app::endedWell(rank)) {
    return {RankEndKind::Finished, QStringLiteral("finished")};
  }
  if (rank.exitSignal) {
    const QString name = QString::fromLatin1(
        sigabbrev_np(*rank.exitSignal) != nullptr ? sigabbrev_np(*rank.exitSignal) : "?");
    const bool own = app::endedByItself(*rank.exitSignal);
    if (own) {
      return {RankEndKind::Crashed, QStringLiteral("SIG%1").arg(name)};
    }
    // "ended inside MPI_Recv (event 3)", "stuck inside MPI_Recv (event 3) at a.c:6 (main) for rank 1"
    const QString state = QString::fromStdString(rank.state);
    return {RankEndKind::Killed,
            state.contains(QLatin1String(" inside ")) || state.startsWith(QLatin1String("ended "))
                ? QStringLiteral("%1, by SIG%2").arg(state, name)
                : QStringLiteral("ended by SIG%1").arg(name)};
  }
  if (!history.events.empty() && callName(execution, history.events.back()) == "MPI_Abort") {
    return {RankEndKind::Aborted, QStringLiteral("MPI_Abort")};
  }
  if (rank.exitStatus && *rank.exitStatus != 0) {
    return {RankEndKind::Aborted, QStringLiteral("exit status %1").arg(*rank.exitStatus)};
  }
  return {RankEndKind::Cut, QString::fromStdString(rank.state)};
}

}  // namespace

views::RankEnd rankEnd(const db::RankInfo& rank, const RankHistory& history,
                       const Execution& execution) {
  views::RankEnd end = endOf(rank, history, execution);
  end.inside = end.kind != views::RankEndKind::Finished &&
               rank.state.find(" inside ") != std::string::npos;  // as app/collation has it
  return end;
}

views::Failure findFailure(const std::vector<db::RankInfo>& ranks, const Execution& execution) {
  const std::optional<EventRef> event = app::failingReceive(ranks, execution);
  if (!event) {
    return {};
  }
  const std::optional<app::WhatFailed> failed = app::whatFailed(ranks, std::nullopt);
  return {*event, failed ? QString::fromStdString(failed->sentence) : QString()};
}

namespace {

/// Events of all ranks in each bin of the pyramid's level for a picture of usual width, which is
/// read by this.
std::vector<std::uint64_t> profileOf(const views::DensityLevels& pyramid, std::size_t ranks,
                                     std::uint32_t lastStep) {
  constexpr double kPixels = 1600;
  const std::size_t number = pyramid.levelFor((lastStep + 1) / kPixels);
  const auto level = pyramid.window(std::min(number, pyramid.count() - 1), 0,
                                    static_cast<Rank>(ranks), 0, lastStep);
  std::vector<std::uint64_t> profile(level == nullptr ? 0 : level->bins);
  std::vector<DensityCell> gathered;
  for (std::size_t rank = 0; rank < ranks && level != nullptr; ++rank) {
    const std::span<const DensityCell> cells = level->row(static_cast<Rank>(rank), gathered);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      profile[i] += cells[i].events;
    }
  }
  return profile;
}

}  // namespace

views::TraceDataPtr loadOutline(const QString& path) {
  const std::string file = path.toStdString();
  const Result<bool> light = app::needsSurvey(file);
  Result<db::TraceStore> store = light && !*light
                                     ? app::openTrace(file, db::TraceStore::Mode::ReadOnly)
                                     : Result<db::TraceStore>(Error{ErrorCode::NotFound, {}, {}});
  Result<db::SummaryView> summary =
      store ? db::SummaryView::open(file) : Result<db::SummaryView>(store.error());
  if (!summary) {
    return nullptr;
  }
  const db::TraceOutline outline = summary->outline();
  auto data = std::make_shared<views::TraceData>();
  data->title = path.section(QLatin1Char('/'), -1);
  data->execution.ranks.resize(outline.events.size());
  for (const db::RankInfo& rank : store->ranks()) {
    data->ends.push_back(rankEnd(rank, {}, {}));
  }
  views::TraceOutline known;
  known.events = std::accumulate(outline.events.begin(), outline.events.end(), std::size_t{0});
  known.lastTime = outline.lastStep;
  data->pyramid = std::make_shared<const FileDensityLevels>(std::move(*summary));
  data->profile = profileOf(*data->pyramid, outline.events.size(), outline.lastStep);
  data->outline = known;
  return data;
}

namespace {

/// Whatever else the trace holds is of use without it.
std::vector<db::Printed> printedIn(db::TraceStore& store) {
  Result<std::vector<db::Printed>> printed = store.printed();
  return printed ? std::move(*printed) : std::vector<db::Printed>();
}

Result<views::RaceTable> readRaces(db::TraceStore& store) {
  views::RaceTable races;
  const Status status = store.forEachRace([&](const db::RaceRecord& stored) {
    views::RaceFacts race;
    race.rank = stored.rank;
    race.probe = stored.probe;
    race.index = stored.index;
    race.taken = stored.taken;
    race.alternatives = stored.alternatives;
    race.raceClass = stored.raceClass;
    if (stored.chosenStep != kNone && stored.step != kNone) {
      race.place = {stored.chosen, stored.serial, stored.chosenStep, stored.step};
    }
    if (stored.taken == kNone || stored.sent != 0) {
      race.message = views::TakenMessage{kUnknownRank, stored.sent, stored.tag};
    }
    races.add(race);
  });
  races.finish();
  return status.ok() ? Result(std::move(races)) : Result<views::RaceTable>(status.error());
}

/// What both ways of loading have.
struct Loading {
  std::shared_ptr<views::TraceData> data = std::make_shared<views::TraceData>();

  Status start(db::TraceStore& store, const QString& path, const views::TraceDataPtr& outline) {
    Result<views::RaceTable> races = readRaces(store);
    if (!races) {
      return races.error();
    }
    data->races = std::move(*races);
    Result<std::vector<std::string>> names = store.raceClassNames();
    if (!names) {
      return names.error();
    }
    data->raceClassNames = std::move(*names);
    addClocks(store, path);
    for (const db::RankInfo& rank : store.ranks()) {
      data->hosts.push_back(QString::fromStdString(rank.host));
    }
    data->title = path.section(QLatin1Char('/'), -1);
    const views::TraceDataPtr outlined = outline ? outline : loadOutline(path);
    if (outlined) {
      data->pyramid = outlined->pyramid;
      data->profile = outlined->profile;
    }
    return {};
  }
  /// Without them causality is slow, and right.
  void addClocks(db::TraceStore& store, const QString& path) {
    constexpr std::uint64_t kMostInMemory = std::uint64_t{64} << 20U;  // bytes
    if (Result<db::SummaryView> summary = db::SummaryView::open(path.toStdString())) {
      const std::vector<std::uint64_t>& events = summary->outline().events;
      const std::uint64_t every = summary->clockDistance();
      std::uint64_t bytes = 0;
      for (const std::uint64_t each : events) {
        bytes += every == 0 ? 0 : each / every * events.size() * 2 * sizeof(std::uint32_t);
      }
      if (bytes > kMostInMemory) {
        data->clockRows = std::make_shared<const FileClocks>(std::move(*summary), events.size());
        return;
      }
    }
    if (Result<ClockCheckpoints> clocks = store.clockCheckpoints()) {
      data->clocks = std::move(*clocks);
    }
  }
  void finish(const std::vector<db::RankInfo>& ranks, const Execution& execution) {
    for (const db::RankInfo& rank : ranks) {
      data->ends.push_back(
          rankEnd(rank, execution.ranks[static_cast<std::size_t>(rank.rank)], execution));
    }
    data->failure = findFailure(ranks, execution);
  }
};

Result<LoadedTrace> loadWhole(db::TraceStore& store, const QString& path,
                              const views::TraceDataPtr& outline) {
  Loading loading;
  Result<Execution> execution = store.readExecution(&loading.data->logicalTimes);
  if (!execution) {
    return execution.error();
  }
  loading.data->execution = std::move(*execution);
  if (Status status = loading.start(store, path, outline); !status) {
    return status.error();
  }
  loading.finish(store.ranks(), loading.data->execution);
  return LoadedTrace{std::move(loading.data), store.run(), store.ranks(), printedIn(store)};
}

/// The whole of a trace, read when it is asked for and as long as somebody has it.
std::function<views::TraceDataPtr()> wholeOf(const QString& path,
                                             const views::TraceDataPtr& outline) {
  struct Kept {
    std::mutex mutex;
    std::weak_ptr<const views::TraceData> data;
  };
  return [path, outline, kept = std::make_shared<Kept>()]() -> views::TraceDataPtr {
    const std::lock_guard lock(kept->mutex);
    views::TraceDataPtr data = kept->data.lock();
    if (data == nullptr) {
      Result<LoadedTrace> loaded = loadTrace(path, outline);
      data = loaded ? loaded->data : nullptr;
      kept->data = data;
    }
    return data;
  };
}

/// Nothing where chunks are not enough to go by, or the events so few that they are better read.
std::optional<Result<LoadedTrace>> loadChunks(db::TraceStore& store, const QString& path,
                                              const views::TraceDataPtr& outline,
                                              std::uint64_t mostInMemory) {
  Result<db::ExecutionReader> reader = db::ExecutionReader::open(path.toStdString());
  if (!reader) {
    return reader.error().code == ErrorCode::NotFound
               ? std::nullopt
               : std::optional(Result<LoadedTrace>(reader.error()));
  }
  const std::vector<Serial> counts = eventCounts(*reader);
  if (std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) <= mostInMemory) {
    return std::nullopt;
  }
  Loading loading;
  if (Status status = loading.start(store, path, outline); !status) {
    return Result<LoadedTrace>(status.error());
  }
  if (loading.data->pyramid == nullptr) {
    return std::nullopt;
  }
  views::TraceData& data = *loading.data;
  data.execution = reader->rest();
  std::vector<Serial> before;
  Result<Execution> ends = executionEnds(*reader, store.ranks(), before);
  if (!ends) {
    return Result<LoadedTrace>(ends.error());
  }
  loading.finish(store.ranks(), *ends);
  if (EventRef& event = data.failure.event; event.valid()) {
    event.serial += before[static_cast<std::size_t>(event.rank)];
  }
  data.chunks = std::make_shared<const FileChunks>(std::move(*reader));
  data.whole = wholeOf(path, outline);
  return Result<LoadedTrace>(
      LoadedTrace{std::move(loading.data), store.run(), store.ranks(), printedIn(store)});
}

}  // namespace

std::uint64_t mostEventsInMemory() {
  bool good = false;
  const qulonglong wanted = qEnvironmentVariable("PHOTOFINISH_EVENTS_IN_MEMORY").toULongLong(&good);
  return good ? wanted : 2'000'000;
}

Result<LoadedTrace> loadTrace(const QString& path, const views::TraceDataPtr& outline,
                              std::uint64_t mostInMemory) {
  const std::string file = path.toStdString();
  if (Status status = app::surveyIfNeeded(file); !status) {
    return status.error();
  }
  Result<db::TraceStore> store = app::openTrace(file, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (mostInMemory != UINT64_MAX) {
    if (std::optional<Result<LoadedTrace>> loaded =
            loadChunks(*store, path, outline, mostInMemory)) {
      return std::move(*loaded);
    }
  }
  return loadWhole(*store, path, outline);
}

}  // namespace pf::session
