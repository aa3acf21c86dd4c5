// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plugins/indexed_trace.h"

#include "replay_engine/races/races.h"

namespace pf::app {
namespace {

RankIndex indexOf(const RankHistory& history) {
  RankIndex index;
  for (std::size_t i = 0; i < history.receives.size(); ++i) {
    index.posts.add(history.receives[i].post, i);
    if (history.receives[i].state != ReceiveState::Pending) {
      index.completions.add(history.receives[i].completion, i);
    }
  }
  for (std::size_t i = 0; i < history.probes.size(); ++i) {
    index.probes.add(history.probes[i].event, i);
  }
  for (std::size_t i = 0; i < history.collectives.size(); ++i) {
    index.collectives.add(history.collectives[i].event, i);
    index.collectiveEnds.add(history.collectives[i].completion, i);
  }
  return index;
}

}  // namespace

Result<IndexedTrace> loadIndexed(const std::string& path) {
  Result<Loaded> loaded = load(path);
  return loaded ? indexed(std::move(*loaded), path) : Result<IndexedTrace>(loaded.error());
}

Result<IndexedTrace> indexed(Loaded loaded, const std::string& path) {
  IndexedTrace trace{path, std::move(loaded), {}, {}, {}};
  const Execution& execution = trace.execution();
  trace.times = logicalTimes(execution);
  for (const RankHistory& history : execution.ranks) {
    trace.index.push_back(indexOf(history));
  }
  for (std::size_t i = 0; i < execution.messages.size(); ++i) {
    const EventRef send = execution.messages[i].send;
    trace.index[static_cast<std::size_t>(send.rank)].messages.add(send.serial, i);
  }
  Result<std::vector<db::StoredRace>> races = trace.loaded.store.races();
  if (!races) {
    return races.error();
  }
  trace.storedRaces = std::move(*races);
  for (const db::StoredRace& stored : trace.storedRaces) {
    const EventRef at = raceEvent(execution, stored.race);
    RankIndex& index = trace.index[static_cast<std::size_t>(at.rank)];
    index.racing.insert(at.serial);
    index.observedRacing.insert(stored.race.probe
                                    ? at.serial
                                    : execution.ranks[static_cast<std::size_t>(at.rank)]
                                          .receives[stored.race.index]
                                          .completion);
  }
  for (RankIndex& index : trace.index) {
    for (SerialIndex* each : {&index.posts, &index.completions, &index.probes, &index.messages,
                              &index.collectives, &index.collectiveEnds}) {
      each->finish();
    }
  }
  return trace;
}

}  // namespace pf::app
