// SPDX-License-Identifier: GPL-3.0-or-later
// The reports that have a line for each event or race: given out piece by piece, as there may be
// millions.
#include <nlohmann/json.hpp>

#include <map>

#include "app/collation/event_text.h"
#include "app/collation/failure.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/report.h"
#include "replay_engine/races/race_weight.h"

namespace pf::app {
namespace {

using nlohmann::json;

/// A document with one long list, an element a line.
class ListDocument {
 public:
  ListDocument(const TextSink& out, const json& before, const char* list) : m_out(out) {
    std::string head = before.dump(-1, ' ', true, json::error_handler_t::replace);
    head.pop_back();
    m_out(head + (before.empty() ? "" : ",") + "\"" + list + "\":[");
  }
  void add(const json& element) {
    m_out((m_any ? ",\n" : "\n") + element.dump(-1, ' ', true, json::error_handler_t::replace));
    m_any = true;
  }
  void finish() { m_out("]}\n"); }

 private:
  const TextSink& m_out;
  bool m_any = false;
};

std::string placeText(const Execution& execution, EventRef ref) {
  return "rank " + std::to_string(ref.rank) + " event " + std::to_string(ref.serial) + " " +
         eventText(execution, ref);
}

json messageJson(const Execution& execution, std::uint32_t index) {
  json out = json::object();
  if (index >= execution.messages.size()) {
    return nullptr;
  }
  const Message& message = execution.messages[index];
  putPlace(out, execution, message.send);
  out["tag"] = message.tag;
  return out;
}

json raceJson(const Execution& execution, const db::StoredRace& stored, RaceWeight weight) {
  const Race& race = stored.race;
  const RankHistory& rank = execution.ranks[static_cast<std::size_t>(race.rank)];
  json receive = json::object();
  putPlace(receive, execution, raceEvent(execution, race));
  receive["probe"] = race.probe;
  if (!race.probe) {
    const PostedReceive& posted = rank.receives[race.index];
    receive["post"] = race.index;
    if (posted.completion != posted.post) {
      json completion = json::object();
      putPlace(completion, execution, {race.rank, posted.completion});
      completion.erase("rank");
      receive["completion"] = completion;
    }
  }
  json alternatives = json::array();
  for (const std::uint32_t alternative : race.alternatives) {
    alternatives.push_back(messageJson(execution, alternative));
  }
  return {{"receive", receive},
          {"taken", messageJson(execution, race.taken)},
          {"alternatives", alternatives},
          {"class", stored.raceClass},
          {"weight", nameOf(weight)}};
}

std::string raceText(const Execution& execution, const Race& race) {
  std::string text = placeText(execution, raceEvent(execution, race)) + "\n";
  if (race.taken < execution.messages.size()) {
    text += "    took     " + placeText(execution, execution.messages[race.taken].send) + "\n";
  }
  for (const std::uint32_t alternative : race.alternatives) {
    text += "    or could " + placeText(execution, execution.messages[alternative].send) + "\n";
  }
  return text;
}

/// The events of one rank, with what they took or saw.
class RankEvents {
 public:
  RankEvents(const Execution& execution, Rank rank)
      : m_execution(execution),
        m_rank(rank),
        m_history(execution.ranks[static_cast<std::size_t>(rank)]) {
    for (std::uint32_t i = 0; i < m_history.receives.size(); ++i) {
      if (m_history.receives[i].state == ReceiveState::Complete) {
        m_taken.emplace(m_history.receives[i].completion, i);
      }
    }
    for (std::uint32_t i = 0; i < m_history.probes.size(); ++i) {
      m_seen.emplace(m_history.probes[i].event, i);
    }
  }

  [[nodiscard]] json asJson(Serial serial);
  [[nodiscard]] std::string asText(Serial serial) const;

 private:
  [[nodiscard]] json delivery(const PostedReceive& receive) const {
    json one = {{"post", receive.post}, {"source", receive.source}, {"tag", receive.tag}};
    if (receive.message < m_execution.messages.size()) {
      one["sendSerial"] = Serial{m_execution.messages[receive.message].send.serial};
    }
    return one;
  }

  const Execution& m_execution;
  Rank m_rank;
  const RankHistory& m_history;
  std::multimap<Serial, std::uint32_t> m_taken;  ///< receives by their completions
  std::multimap<Serial, std::uint32_t> m_seen;   ///< probes by their events
  std::map<std::uint32_t, Serial> m_ofThread;    ///< events so far, by thread
};

json RankEvents::asJson(Serial serial) {
  const Event& event = m_history.events[serial - 1];
  json one = json::object();
  putPlace(one, m_execution, {m_rank, serial});
  one["kind"] = kindText(event.kind);
  one["thread"] = event.lane;
  one["threadSerial"] = ++m_ofThread[event.lane];
  one["peer"] = event.peer;
  one["tag"] = event.tag;
  one["bytes"] = event.bytes;
  one["timeNs"] = nullptr;
  one["durationNs"] = nullptr;
  if (m_execution.timeOrigin != TimeOrigin::None) {
    const EventTime& time = m_history.times[serial - 1];
    one["timeNs"] = time.begin;
    one["durationNs"] = time.end - time.begin;
  }
  one["communicator"] = event.comm < m_execution.communicators.size()
                            ? json(m_execution.communicators[event.comm].name)
                            : json(nullptr);
  const auto [first, last] = m_taken.equal_range(serial);
  for (auto each = first; each != last; ++each) {
    one["deliveries"].push_back(delivery(m_history.receives[each->second]));
  }
  return one;
}

std::string RankEvents::asText(Serial serial) const {
  std::string text = placeText(m_execution, {m_rank, serial});
  const auto add = [&text](const char* verb, const auto& from) {
    text += verb + std::to_string(from.source) + " tag " + std::to_string(from.tag);
  };
  const auto taken = m_taken.equal_range(serial);
  for (auto each = taken.first; each != taken.second; ++each) {
    add(" <- rank ", m_history.receives[each->second]);
  }
  const auto seen = m_seen.equal_range(serial);
  for (auto each = seen.first; each != seen.second; ++each) {
    add(" sees rank ", m_history.probes[each->second]);
  }
  const std::uint32_t thread = m_history.events[serial - 1].lane;
  return text + (thread != 0 ? " (thread " + std::to_string(thread) + ")" : "") + "\n";
}

std::vector<RaceWeight> weightsOf(const Loaded& loaded, const std::vector<db::StoredRace>& races) {
  return weighRaces(loaded.execution,
                    failingReceive(loaded.store.ranks(), loaded.execution).value_or(EventRef{}),
                    races.size(), [&races](std::size_t i) -> const Race& { return races[i].race; });
}

Status rankIsIn(const std::string& trace, Rank rank) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  return store ? rankIsThere(*store, rank) : Status(store.error());
}

}  // namespace

Status racesReport(const std::string& trace, bool asJson, const TextSink& out) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  Result<std::vector<db::StoredRace>> races = loaded->store.races();
  if (!races) {
    return races.error();
  }
  const std::vector<RaceWeight> weights = weightsOf(*loaded, *races);
  if (asJson) {
    ListDocument document(out, json::object(), "races");
    for (std::size_t i = 0; i < races->size(); ++i) {
      document.add(raceJson(loaded->execution, (*races)[i], weights[i]));
    }
    document.finish();
    return {};
  }
  out(std::to_string(races->size()) +
      (races->size() == 1 ? " racing receive\n" : " racing receives\n"));
  if (const auto first = std::ranges::find(weights, RaceWeight::First); first != weights.end()) {
    const auto number = static_cast<std::size_t>(first - weights.begin());
    out("look first at number " + std::to_string(number + 1) +
        ", the last of the rank that failed before it failed: " +
        placeText(loaded->execution, raceEvent(loaded->execution, (*races)[number].race)) + "\n");
  }
  for (const db::StoredRace& stored : *races) {
    out(raceText(loaded->execution, stored.race));
  }
  return {};
}

Status eventsReport(const std::string& trace, std::optional<Rank> only, bool asJson,
                    const TextSink& out) {
  if (only) {  // before a survey is made for it
    if (Status status = rankIsIn(trace, *only); !status) {
      return status;
    }
  }
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  const Execution& execution = loaded->execution;
  std::optional<ListDocument> document;
  if (asJson) {
    document.emplace(out, json{{"times", timesName(execution.timeOrigin)}}, "events");
  }
  for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    if (only.value_or(rank) != rank) {
      continue;
    }
    RankEvents events(execution, rank);
    for (Serial serial = 1; serial <= execution.ranks[r].events.size(); ++serial) {
      if (document) {
        document->add(events.asJson(serial));
      } else {
        out(events.asText(serial));
      }
    }
  }
  if (document) {
    document->finish();
  }
  return {};
}

}  // namespace pf::app
