// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish events: a line for each event, given out piece by piece, as there may be millions.
#include <nlohmann/json.hpp>

#include <map>

#include "app/collation/event_text.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/list_document.h"
#include "app/reports/report.h"

namespace pf::app {
namespace {

using nlohmann::json;

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
  std::string text = eventLine(m_execution, {m_rank, serial});
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

/// Those of one rank that are chosen: into `document`, or, where that is null, to `out`.
void reportRank(const Execution& execution, Rank rank, const EventChoice& choice,
                ListDocument* document, const TextSink& out) {
  RankEvents events(execution, rank);
  std::uint64_t left = choice.most;
  const std::size_t last = execution.ranks[static_cast<std::size_t>(rank)].events.size();
  for (Serial serial = 1; serial <= last && left != 0; ++serial) {
    const bool chosen = serial >= choice.first;
    if (document != nullptr) {
      const json event = events.asJson(serial);  // counts those of its thread, from the first on
      if (chosen) {
        document->add(event);
      }
    } else if (chosen) {
      out(events.asText(serial));
    }
    left -= chosen ? 1U : 0U;
  }
}

Status rankIsIn(const std::string& trace, Rank rank) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  return store ? rankIsThere(*store, rank) : Status(store.error());
}

}  // namespace

Status eventsReport(const std::string& trace, const EventChoice& choice, bool asJson,
                    const TextSink& out) {
  if (choice.rank) {  // before a survey is made for it
    if (Status status = rankIsIn(trace, *choice.rank); !status) {
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
    if (choice.rank.value_or(rank) == rank) {
      reportRank(execution, rank, choice, document ? &*document : nullptr, out);
    }
  }
  if (document) {
    document->finish();
  }
  return {};
}

}  // namespace pf::app
