// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish races: racing receives by class, or each of them. Given out piece by piece, as there may be millions.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ranges>
#include <set>
#include <unordered_set>

#include "app/collation/event_text.h"
#include "app/plugins/judges.h"
#include "app/plugins/trace_facts.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/judged_classes.h"
#include "app/reports/list_document.h"
#include "app/reports/report.h"
#include "replay_engine/races/race_classes.h"

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
          {"class", racePlaces(execution, race)},
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
  RacesReport(const Loaded& loaded, const std::vector<db::StoredRace>& stored,
              const JudgedClasses& judged, Judges* judges, const StyledSink& out);

  /// Of classes that are not known only. `file`: that says which are.
  void leaveNewOnly(const std::string& file);
  void putJson() const;
  void putText(bool all, const RacesText& text) const;

 private:
  void putSummary() const;
  void putClass(const JudgedClass& one, std::size_t place) const;
  void putVerdict(const JudgedClass& one) const;
  /// Whether the race is of a class that is shown.
  [[nodiscard]] bool isShown(std::size_t number) const {
    return m_newOnly.empty() || m_shown[number];
  }
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
  const std::vector<RaceWeight>& m_weights;
  std::vector<JudgedClass> m_classes;
  std::string m_newOnly;      ///< the file that does not know them; empty: all are shown
  std::vector<bool> m_shown;  ///< races, of m_newOnly
};

RacesReport::RacesReport(const Loaded& loaded, const std::vector<db::StoredRace>& stored,
                         const JudgedClasses& judged, Judges* judges, const StyledSink& out)
    : m_execution(loaded.execution),
      m_stored(stored),
      m_judges(judges),
      m_out(out),
      m_failed(judged.failed),
      m_weights(judged.weights),
      m_classes(judged.classes) {}

void RacesReport::leaveNewOnly(const std::string& file) {
  m_newOnly = file;
  std::erase_if(m_classes, [](const JudgedClass& one) { return !one.isNew; });
  std::unordered_set<std::uint32_t> numbers;
  for (const JudgedClass& one : m_classes) {
    numbers.insert(one.ranked.number);
  }
  std::vector<Race> races;
  for (const db::StoredRace& each : m_stored) {
    races.push_back(each.race);
  }
  for (const std::uint32_t number : classesOfRaces(m_execution, races)) {
    m_shown.push_back(numbers.contains(number));
  }
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
  if (!m_newOnly.empty()) {
    put(m_classes.empty() ? "no class of races that " + m_newOnly + " does not know\n"
                          : counted(m_classes.size(), "class", "classes") + " of races that " +
                                m_newOnly + " does not know\n",
        TextStyle::Bold);
    return;
  }
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

/// What somebody has said of it, and whether the file of known races knows it.
void RacesReport::putVerdict(const JudgedClass& one) const {
  const bool said = one.judged.verdict != RaceVerdict::Unknown || !one.judged.reason.empty();
  if (said) {
    put(std::string("    marked as ") + nameOf(one.judged.verdict) +
            (one.judged.reason.empty() ? "" : ": ") + one.judged.reason + "\n",
        one.judged.verdict == RaceVerdict::Bug ? TextStyle::Alarm : TextStyle::Plain);
  }
  if (one.isNew) {
    put(one.survives ? "    new\n" : "    new: " + std::string(kNoNameText) + "\n",
        TextStyle::Alarm);
  }
}

void RacesReport::putClass(const JudgedClass& judged, std::size_t place) const {
  const RankedClass& one = judged.ranked;
  const std::string weight = weightText(one.weight);
  put("\nclass " + std::to_string(place) + ": " + counted(one.races, "race", "races") +
          (weight.empty() ? "" : ", " + weight) + "\n",
      one.weight == RaceWeight::First ? TextStyle::Alarm : TextStyle::Bold);
  put("    received by " + callText(m_execution, raceEvent(m_execution, race(one.first))) +
      "\n    sent by     " + sendersText(race(one.first)) + "\n");
  putVerdict(judged);
  if (one.races > 1) {
    put("    the first is race " + std::to_string(one.first + 1) + "\n");
  }
  putRace(one.weightiest, "    ");
}

void RacesReport::putText(bool all, const RacesText& text) const {
  putSummary();
  std::size_t left = 0;
  for (std::size_t number = 0; number < m_stored.size(); ++number) {
    if (!isShown(number)) {
      continue;
    }
    ++left;
    if (all) {
      putRace(number, "");
    }
  }
  if (all) {
    return;
  }
  const std::size_t shown = std::min(m_classes.size(), text.classes);
  const std::size_t races = left;
  for (std::size_t i = 0; i < shown; ++i) {
    putClass(m_classes[i], i + 1);
    left -= m_classes[i].ranked.races;
  }
  if (left != 0) {
    put("\nand " + counted(m_classes.size() - shown, "more class", "more classes") + " with " +
        counted(left, "race", "races") + "; " + text.moreClasses + "\n");
  } else if (races > m_classes.size()) {
    put("\n" + text.moreRaces + "\n", TextStyle::Dim);
  }
}

void RacesReport::putJson() const {
  const TextSink out = [this](std::string_view text) { m_out(text, TextStyle::Plain); };
  json classes = json::array();
  for (const JudgedClass& judged : m_classes) {
    const RankedClass& one = judged.ranked;
    json object = {{"class", judged.places},
                   {"name", placesOf(judged.name)},
                   {"verdict", nameOf(judged.judged.verdict)},
                   {"weight", nameOf(one.weight)},
                   {"races", one.races},
                   {"first", one.first + 1},
                   {"weightiest", one.weightiest + 1}};
    if (!judged.judged.reason.empty()) {
      object["reason"] = judged.judged.reason;
    }
    if (judged.isNew) {
      object["new"] = true;
    }
    classes.push_back(std::move(object));
  }
  ListDocument document(out, {{"classes", classes}}, "races");
  for (std::size_t i = 0; i < m_stored.size(); ++i) {
    if (!isShown(i)) {
      continue;
    }
    json race = raceJson(m_execution, m_stored[i], m_weights[i]);
    if (!m_newOnly.empty()) {
      race["number"] = i + 1;
    }
    if (m_judges != nullptr) {
      race["verdicts"] = wordsJson(m_judges->of(i));
    }
    document.add(race);
  }
  document.finish();
}

/// How a report is given.
struct Given {
  RacesForm form;
  const StyledSink& out;
  const RacesText& text;
  KnownRaces* known;  ///< may be null
};

Status give(Loaded& loaded, const std::vector<db::StoredRace>& races, Judges* judges,
            const Given& given) {
  KnownRaces* const known = given.known;
  const Result<JudgedClasses> judged =
      judgedClasses(loaded, races, known != nullptr ? &known->baseline : nullptr);
  if (!judged) {
    return judged.error();
  }
  RacesReport report(loaded, races, *judged, judges, given.out);
  if (known != nullptr) {
    known->newClasses = static_cast<std::size_t>(
        std::ranges::count_if(judged->classes, [](const JudgedClass& one) { return one.isNew; }));
    if (known->newOnly) {
      report.leaveNewOnly(known->name);
    }
  }
  if (given.form == RacesForm::Json) {
    report.putJson();
  } else {
    report.putText(given.form == RacesForm::Each, given.text);
  }
  return {};
}

}  // namespace

Status racesReport(const std::string& trace, RacesForm form, const StyledSink& out,
                   const RacesText& text, const plugins::Registry& plugins, KnownRaces* known) {
  const Given given{form, out, text, known};
  if (!plugins.parts(plugins::PartKind::Judge).empty()) {
    Result<IndexedTrace> judged = loadIndexed(trace);
    if (!judged) {
      return judged.error();
    }
    const TraceFacts facts(*judged);
    Judges judges(plugins, facts);
    return give(judged->loaded, judged->storedRaces, &judges, given);
  }
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  const Result<std::vector<db::StoredRace>> races = loaded->store.races();
  if (!races) {
    return races.error();
  }
  return give(*loaded, *races, nullptr, given);
}

Result<Added> addRacesTo(RaceBaseline& baseline, const std::string& trace) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  const Result<std::vector<db::StoredRace>> races = loaded->store.races();
  if (!races) {
    return races.error();
  }
  const Result<JudgedClasses> judged = judgedClasses(*loaded, *races, nullptr);
  return judged ? addTo(baseline, *loaded, *judged) : Result<Added>(judged.error());
}

}  // namespace pf::app
