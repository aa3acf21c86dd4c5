// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/offline_report/offline_facts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "app/collation/event_text.h"
#include "app/collation/printed_text.h"
#include "app/reports/report.h"
#include "replay_engine/races/race_weight.h"

namespace pf::headless {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRaces = 100;

/// As a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string words(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    out += (out.empty() ? "" : " ") + quoted(word);
  }
  return out;
}

const std::vector<std::string>& linesOf(const std::string& file) {
  static std::map<std::string, std::vector<std::string>> all;
  const auto [entry, fresh] = all.try_emplace(file);
  if (fresh) {
    std::ifstream source(file);
    std::string line;
    while (std::getline(source, line) && entry->second.size() < 1000000) {
      entry->second.push_back(line);
    }
  }
  return entry->second;
}

void addRaces(const views::TraceData& data, OfflineReport& report) {
  const Execution& execution = data.execution;
  const auto timeOf = [&](const EventRef& event) {
    return data.logicalTimes[static_cast<std::size_t>(event.rank)][event.serial - 1];
  };
  // Those that the failure can depend on.
  std::vector<std::pair<EventRef, std::size_t>> races;
  const EventRef failing = data.failure.event;
  const std::vector<Race> all = data.races.list();
  const std::vector<RaceWeight> weights = weighRaces(
      execution, failing, all.size(), [&all](std::size_t i) -> const Race& { return all[i]; });
  for (std::size_t number = 0; number < all.size(); ++number) {
    if (!failing.valid() || weights[number] != RaceWeight::Other) {
      races.emplace_back(app::raceEvent(execution, all[number]), number);
    }
  }
  std::stable_sort(races.begin(), races.end(),
                   [&](const auto& a, const auto& b) { return timeOf(a.first) > timeOf(b.first); });
  for (const auto& [receive, number] : races) {
    if (report.races.size() == kMostRaces) {
      report.racesLeftOut = races.size() - kMostRaces;
      break;
    }
    const Race& race = all[number];
    ReportRace row;
    row.receive = reportEvent(execution, receive);
    if (race.taken < execution.messages.size()) {
      row.taken = reportEvent(execution, execution.messages[race.taken].send);
    }
    for (const std::uint32_t other : race.alternatives) {
      if (other < execution.messages.size()) {
        row.alternatives.push_back(reportEvent(execution, execution.messages[other].send));
      }
    }
    report.races.push_back(std::move(row));
  }
}

void addRanks(const session::LoadedTrace& loaded, OfflineReport& report) {
  for (std::size_t i = 0; i < loaded.ranks.size(); ++i) {
    const db::RankInfo& rank = loaded.ranks[i];
    ReportRank row;
    row.rank = rank.rank;
    row.end = loaded.data->ends[i].text.toStdString();
    if (!rank.complete && !rank.state.empty()) {
      row.end += "; " + rank.state;
    }
    row.events = rank.lastSerial;
    row.executable = rank.executable;
    row.buildId = rank.buildId;
    report.ranks.push_back(std::move(row));
  }
}

void addNotes(const std::string& trace, OfflineReport& report) {
  const Result<std::string> info = app::infoReport(trace, true);
  if (!info) {
    return;
  }
  const Json facts = Json::parse(*info, nullptr, false);
  for (const Json& cut : facts.value("cut", Json::array())) {
    report.notes.push_back(
        "Rank " + std::to_string(cut.value("rank", 0)) + ": its record ends after event " +
        std::to_string(cut.value("serial", 0)) + ": " + cut.value("reason", std::string()));
  }
  for (const Json& note : facts.value("notGuaranteed", Json::array())) {
    report.notes.push_back("Not guaranteed in a replay: rank " +
                           std::to_string(note.value("rank", 0)) + ": " +
                           note.value("text", std::string()));
  }
}

}  // namespace

std::string placeText(const std::string& file, int line) {
  return file.empty() || line <= 0
             ? ""
             : file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(line);
}

std::string sourceLine(const std::string& file, int line) {
  if (file.empty() || line <= 0) {
    return {};
  }
  const std::vector<std::string>& lines = linesOf(file);
  if (static_cast<std::size_t>(line) > lines.size()) {
    return {};
  }
  const std::string& text = lines[static_cast<std::size_t>(line) - 1];
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()), 200);
}

ReportEvent reportEvent(const Execution& execution, EventRef ref) {
  ReportEvent out;
  out.event = ref;
  // The place has columns of its own.
  const std::string text = app::eventText(execution, ref);
  out.call = text.substr(0, text.rfind(" at "));
  const Event& event = execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  if (event.site < execution.sites.size()) {
    const CallSite& site = execution.sites[event.site];
    out.place = placeText(site.file, site.line);
    out.source = sourceLine(site.file, site.line);
  }
  return out;
}

/// How the program itself said that it failed.
void addPrinted(const app::LastPrinted& printed, OfflineReport& report) {
  if (!printed.line.empty()) {
    report.facts.emplace_back("printed last", printed.line);
  }
  const char* name = "traceback";
  for (const std::string& frame : app::frameTexts(printed.traceback)) {
    report.facts.emplace_back(std::exchange(name, ""), frame);
  }
}

OfflineReport factsOf(const std::string& trace, const session::LoadedTrace& loaded) {
  OfflineReport report;
  const db::RunInfo& run = loaded.run;
  const views::Failure& failure = loaded.data->failure;
  const std::string name = run.program.substr(run.program.find_last_of('/') + 1);
  report.title = "Photofinish: " + name + " on " + std::to_string(run.ranks) + " ranks";
  report.failed = failure.event.valid() || run.exitStatus.value_or(0) != 0;
  report.failure = failure.event.valid() ? failure.reason.toStdString()
                   : report.failed
                       ? "The program ended with status " + std::to_string(*run.exitStatus) +
                             ", and every rank finished."
                       : "The program ran to its end.";
  if (failure.event.valid()) {
    report.failingEvent.push_back(reportEvent(loaded.data->execution, failure.event));
  }
  report.facts = {
      {"command", words(run.command)},
      {"directory", run.workingDirectory},
      {"recorded", run.createdUtc + " on " + run.host},
      {"MPI", run.mpiLibrary},
      {"trace", trace},
      {"messages", std::to_string(run.messages.value_or(0)) + ", " +
                       std::to_string(run.wildcardReceives.value_or(0)) + " wildcard receives, " +
                       std::to_string(loaded.data->races.size()) + " of which raced"},
      {"exit status", run.exitStatus ? std::to_string(*run.exitStatus) : "not known"}};
  if (report.failed) {
    addPrinted(app::lastPrinted(loaded.printed), report);
  }
  addRaces(*loaded.data, report);
  addRanks(loaded, report);
  addNotes(trace, report);
  return report;
}

}  // namespace pf::headless
