// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish races: racing receives by class, or each of them. Given out piece by piece, as there may be millions.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "app/collation/event_text.h"
#include "app/collation/failure.h"
#include "app/plugins/judges.h"
#include "app/plugins/trace_facts.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/list_document.h"
#include "app/reports/report.h"
#include "replay_engine/races/race_classes.h"
#include "replay_engine/races/race_weight.h"

namespace pf::app {
namespace {

using nlohmann::json;

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

json wordsJson(const std::vector<JudgeWord>& words) {
  json out = json::array();
  for (const JudgeWord& word : words) {
    json one = {{"judge", word.judge}};
    if (word.opinion.empty()) {
      one["problem"] = word.reason;
    } else {
      one["opinion"] = word.opinion;
      one["reason"] = word.reason;
    }
    out.push_back(std::move(one));
  }
  return out;
}

json raceJson(const Execution& execution, const db::StoredRace& stored, RaceWeight weight) {
  const Race& race = stored.race;
  const RankHistory& rank = execution.ranks[index(race.rank)];
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

/// "524 racing receives", "1 race"
std::string counted(std::size_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

/// The races of a trace, judged.
class RacesReport {
 public:
  /// `judges`: null where there are none.
  RacesReport(const Loaded& loaded, const std::vector<db::StoredRace>& stored, Judges* judges,
              const StyledSink& out);

  void putJson() const;
  void putText(bool all, const RacesText& text) const;

 private:
  void putSummary() const;
  void putClass(const RankedClass& one, std::size_t place) const;
  void putRace(std::size_t number, const char* indent) const;
  void putWords(std::size_t number, const char* indent) const;
  void put(const std::string& text, TextStyle style = TextStyle::Plain) const {
    m_out(text, style);
  }
  [[nodiscard]] const Race& race(std::size_t number) const { return m_stored[number].race; }
  [[nodiscard]] std::string weightText(RaceWeight weight) const;
  [[nodiscard]] std::string sendersText(const Race& race) const;

  const Execution& m_execution;
  const std::vector<db::StoredRace>& m_stored;
  Judges* m_judges;
  const StyledSink& m_out;
  EventRef m_failed;  ///< failing receive
  std::vector<RaceWeight> m_weights;
  std::vector<RankedClass> m_classes;
};

RacesReport::RacesReport(const Loaded& loaded, const std::vector<db::StoredRace>& stored,
                         Judges* judges, const StyledSink& out)
    : m_execution(loaded.execution),
      m_stored(stored),
      m_judges(judges),
      m_out(out),
      m_failed(failingReceive(loaded.store.ranks(), loaded.execution).value_or(EventRef{})),
      m_weights(weighRaces(m_execution, m_failed, stored.size(),
                           [&stored](std::size_t i) -> const Race& { return stored[i].race; })) {
  std::vector<Race> races;
  races.reserve(stored.size());
  for (const db::StoredRace& each : stored) {
    races.push_back(each.race);
  }
  m_classes = rankClasses(classesOfRaces(m_execution, races), m_weights);
}

/// "MPI_Send at worker.c:40, MPI_Send at worker.c:52": where what it took or could have taken is sent.
std::string RacesReport::sendersText(const Race& race) const {
  std::set<std::string> places;
  const auto add = [&](std::uint32_t message) {
    if (message < m_execution.messages.size()) {
      places.insert(callText(m_execution, m_execution.messages[message].send));
    }
  };
  add(race.taken);
  std::ranges::for_each(race.alternatives, add);
  std::string text;
  for (const std::string& place : places) {
    text += (text.empty() ? "" : ", ") + place;
  }
  return text;
}

std::string RacesReport::weightText(RaceWeight weight) const {
  switch (weight) {
    case RaceWeight::First:
      return "look here first, the last of the rank that failed before it failed";
    case RaceWeight::BeforeFailure:
      return "before the failure, which it can have caused";
    case RaceWeight::Other:
      break;
  }
  return m_failed.valid() ? "not before the failure" : "";
}

void RacesReport::putSummary() const {
  std::string text = counted(m_stored.size(), "racing receive", "racing receives");
  if (!m_classes.empty()) {
    text += " in " + counted(m_classes.size(), "class", "classes");
    text += m_failed.valid() ? "" : "; the run did not fail";
  }
  put(text + "\n", TextStyle::Bold);
  if (const auto first = std::ranges::find(m_weights, RaceWeight::First);
      first != m_weights.end()) {
    const auto number = static_cast<std::size_t>(first - m_weights.begin());
    put("look first at number " + std::to_string(number + 1) +
            ", the last of the rank that failed before it failed: " +
            eventLine(m_execution, raceEvent(m_execution, race(number))) + "\n",
        TextStyle::Alarm);
  }
}

void RacesReport::putRace(std::size_t number, const char* indent) const {
  const Race& one = race(number);
  put(indent + ("race " + std::to_string(number + 1) + ": ") +
      eventLine(m_execution, raceEvent(m_execution, one)) + "\n");
  const auto line = [&](const char* verb, std::uint32_t message) {
    if (message < m_execution.messages.size()) {
      put(indent + (verb + eventLine(m_execution, m_execution.messages[message].send)) + "\n",
          TextStyle::Dim);
    }
  };
  line("    took     ", one.taken);
  for (const std::uint32_t alternative : one.alternatives) {
    line("    or could ", alternative);
  }
  putWords(number, indent);
}

void RacesReport::putWords(std::size_t number, const char* indent) const {
  if (m_judges == nullptr) {
    return;
  }
  for (const JudgeWord& word : m_judges->of(number)) {
    const std::string says = word.opinion.empty()
                                 ? word.reason
                                 : "judge " + word.judge + ": " + word.opinion +
                                       (word.reason.empty() ? "" : ", " + word.reason);
    put(indent + ("    " + says) + "\n",
        word.opinion == "benign" ? TextStyle::Plain : TextStyle::Alarm);
  }
}

void RacesReport::putClass(const RankedClass& one, std::size_t place) const {
  const std::string weight = weightText(one.weight);
  put("\nclass " + std::to_string(place) + ": " + counted(one.races, "race", "races") +
          (weight.empty() ? "" : ", " + weight) + "\n",
      one.weight == RaceWeight::First ? TextStyle::Alarm : TextStyle::Bold);
  put("    received by " + callText(m_execution, raceEvent(m_execution, race(one.first))) +
      "\n    sent by     " + sendersText(race(one.first)) + "\n");
  if (one.races > 1) {
    put("    the first is race " + std::to_string(one.first + 1) + "\n");
  }
  putRace(one.weightiest, "    ");
}

void RacesReport::putText(bool all, const RacesText& text) const {
  putSummary();
  if (all) {
    for (std::size_t number = 0; number < m_stored.size(); ++number) {
      putRace(number, "");
    }
    return;
  }
  const std::size_t shown = std::min(m_classes.size(), text.classes);
  std::size_t left = m_stored.size();
  for (std::size_t i = 0; i < shown; ++i) {
    putClass(m_classes[i], i + 1);
    left -= m_classes[i].races;
  }
  if (left != 0) {
    put("\nand " + counted(m_classes.size() - shown, "more class", "more classes") + " with " +
        counted(left, "race", "races") + "; " + text.moreClasses + "\n");
  } else if (m_stored.size() > m_classes.size()) {
    put("\n" + text.moreRaces + "\n", TextStyle::Dim);
  }
}

void RacesReport::putJson() const {
  const TextSink out = [this](std::string_view text) { m_out(text, TextStyle::Plain); };
  json classes = json::array();
  for (const RankedClass& one : m_classes) {
    classes.push_back({{"class", m_stored[one.first].raceClass},
                       {"weight", nameOf(one.weight)},
                       {"races", one.races},
                       {"first", one.first + 1},
                       {"weightiest", one.weightiest + 1}});
  }
  ListDocument document(out, {{"classes", classes}}, "races");
  for (std::size_t i = 0; i < m_stored.size(); ++i) {
    json race = raceJson(m_execution, m_stored[i], m_weights[i]);
    if (m_judges != nullptr) {
      race["verdicts"] = wordsJson(m_judges->of(i));
    }
    document.add(race);
  }
  document.finish();
}

void give(const RacesReport& report, RacesForm form, const RacesText& text) {
  if (form == RacesForm::Json) {
    report.putJson();
  } else {
    report.putText(form == RacesForm::Each, text);
  }
}

}  // namespace

Status racesReport(const std::string& trace, RacesForm form, const StyledSink& out,
                   const RacesText& text, const plugins::Registry& plugins) {
  if (!plugins.parts(plugins::PartKind::Judge).empty()) {
    const Result<IndexedTrace> judged = loadIndexed(trace);
    if (!judged) {
      return judged.error();
    }
    const TraceFacts facts(*judged);
    Judges judges(plugins, facts);
    give(RacesReport(judged->loaded, judged->storedRaces, &judges, out), form, text);
    return {};
  }
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  Result<std::vector<db::StoredRace>> races = loaded->store.races();
  if (!races) {
    return races.error();
  }
  give(RacesReport(*loaded, *races, nullptr, out), form, text);
  return {};
}

}  // namespace pf::app
