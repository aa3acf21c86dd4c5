// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/launch_context.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "app/collation/log_files.h"
#include "app/files/paths.h"

namespace pf::app {

using protocol::ContextFact;
using protocol::LaunchContext;

namespace {

/// Kind, name, value.
using Facts = std::set<std::tuple<std::string, std::string, std::string>>;

Facts factsOf(std::string text) {
  std::istringstream in(std::move(text));
  in.exceptions(std::ios_base::badbit);  // where memory is short
  Facts facts;
  ContextFact fact;
  for (std::string line; std::getline(in, line);) {
    if (protocol::factFromText(line, fact)) {
      facts.emplace(fact.kind, fact.name, fact.value);
    }
  }
  return facts;
}

void addRows(std::vector<db::LaunchFact>& rows, Rank rank, const char* relation, const Facts& facts,
             const Facts& but) {
  for (const auto& fact : facts) {
    if (but.count(fact) == 0) {
      const auto& [kind, name, value] = fact;
      rows.push_back({rank, relation, kind, name, value});
    }
  }
}

/// The words behind an option that names variables.
void addNames(std::vector<std::string>& names, const std::string& list) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t stop = std::min(list.find(',', at), list.size());
    const std::string each = list.substr(at, stop - at);
    const std::string name = each.substr(0, each.find('='));
    if (!name.empty() && name != "ALL" && name != "NONE" && name != "NIL") {
      names.push_back(name);
    }
    at = stop + 1;
  }
}

/// Values of one kind by name; of libraries there may be several of a name.
using Values = std::map<std::string, std::set<std::string>>;

Values valuesOf(const LaunchContext& context, const char* kind) {
  Values values;
  for (const ContextFact& fact : context) {
    if (fact.kind == kind) {
      values[fact.name].insert(fact.value);
    }
  }
  return values;
}

std::string listed(const std::set<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

std::string placeOf(const LaunchContext& context, const std::string& name) {
  const auto found = std::find_if(context.begin(), context.end(), [&](const ContextFact& fact) {
    return fact.name == name && !fact.place.empty();
  });
  return found == context.end() ? name : found->place;
}

/// Libraries that only one run has loaded by then are plugins that depend on host and moment.
void compareFiles(const LaunchContext& recorded, const LaunchContext& now,
                  std::vector<std::string>& out) {
  const Values then = valuesOf(recorded, "library");
  for (const auto& [name, values] : valuesOf(now, "library")) {
    if (const auto was = then.find(name); was != then.end() && was->second != values) {
      out.push_back(placeOf(now, name) + " is " + listed(values) +
                    ", recorded: " + listed(was->second));
    }
  }
}

/// Executables without a build-id; those with one are compared elsewhere.
void compareProgram(const LaunchContext& recorded, const LaunchContext& now,
                    std::vector<std::string>& out) {
  const Values then = valuesOf(recorded, "program");
  const Values here = valuesOf(now, "program");
  if (then != here && !recorded.empty()) {
    const auto idOf = [](const Values& values) {
      return values.empty() ? std::string("another one, with a build-id")
                            : listed(values.begin()->second);
    };
    out.push_back("the program" + (here.empty() ? "" : " " + placeOf(now, "")) +
                  " is not the build that was recorded (" + idOf(here) +
                  ", recorded: " + idOf(then) + ")");
  }
}

std::string quoted(const Values& values, const std::string& name, const char* none) {
  const auto found = values.find(name);
  return found == values.end() ? none : "'" + listed(found->second) + "'";
}

void compareWords(const LaunchContext& recorded, const LaunchContext& now, const char* kind,
                  const char* title, const char* none, std::vector<std::string>& out) {
  const Values then = valuesOf(recorded, kind);
  const Values here = valuesOf(now, kind);
  std::set<std::string> names;
  for (const Values* values : {&then, &here}) {
    for (const auto& [name, value] : *values) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    const std::string is = quoted(here, name, none);
    const std::string was = quoted(then, name, none);
    if (is != was) {
      out.push_back(title + name + " is " + is + ", recorded: " + was);
    }
  }
}

}  // namespace

std::vector<std::string> exportedVariables(const LaunchCommand& command) {
  constexpr std::array kOptions{"-x",       "-env",      "--env",     "-genv",      "--genv",
                                "-envlist", "--envlist", "-genvlist", "--genvlist", "--export"};
  std::vector<std::string> names;
  const std::size_t end = command.programs.empty() ? 0 : command.programs.back();
  for (std::size_t i = 0; i < end; ++i) {
    const std::string& word = command.words[i];
    if (std::find(kOptions.begin(), kOptions.end(), word) != kOptions.end() && i + 1 < end) {
      addNames(names, command.words[i + 1]);
    } else if (word.rfind("--export=", 0) == 0) {
      addNames(names, word.substr(9));
    }
  }
  return names;
}

Result<std::vector<db::LaunchFact>> launchFacts(const std::string& logDirectory,
                                                std::int32_t ranks) {
  std::vector<db::LaunchFact> rows;
  Facts first;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::string path = protocol::contextPath(logDirectory, rank);
    auto text = readIfInLogs(logDirectory, fileName(path), kMostInText);
    if (!text) {
      return text.error();
    }
    const Facts facts = factsOf(text->value_or(""));
    if (facts.empty()) {
      continue;
    }
    if (first.empty()) {
      first = facts;
      addRows(rows, rank, db::LaunchFact::kAll, facts, {});
    } else {
      addRows(rows, rank, db::LaunchFact::kAlso, facts, first);
      addRows(rows, rank, db::LaunchFact::kLacks, first, facts);
    }
  }
  return rows;
}

std::map<Rank, LaunchContext> contextsOf(const std::vector<db::LaunchFact>& facts,
                                         std::int32_t ranks) {
  Facts common;
  std::map<Rank, std::pair<Facts, Facts>> differing;  // also with, without
  for (const db::LaunchFact& row : facts) {
    Facts& among = row.relation == db::LaunchFact::kAlso    ? differing[row.rank].first
                   : row.relation == db::LaunchFact::kLacks ? differing[row.rank].second
                                                            : common;
    among.emplace(row.kind, row.name, row.value);
  }
  std::map<Rank, LaunchContext> contexts;
  for (Rank rank = 0; rank < ranks && !common.empty(); ++rank) {
    const auto& [also, without] = differing[rank];
    Facts all = also;
    std::set_difference(common.begin(), common.end(), without.begin(), without.end(),
                        std::inserter(all, all.end()));
    LaunchContext& context = contexts[rank];
    for (const auto& [kind, name, value] : all) {
      context.push_back({kind, name, value, {}});
    }
  }
  return contexts;
}

std::vector<std::string> recordedVariables(const LaunchContext& recorded,
                                           const std::vector<std::string>& more) {
  if (valuesOf(recorded, "version") != Values{{protocol::kContextVersion, {""}}}) {
    return {};
  }
  const Values then = valuesOf(recorded, "variable");
  std::set<std::string> absent(more.begin(), more.end());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (protocol::variableMatters(name)) {
      absent.insert(name);
    }
  }
  std::vector<std::string> out;
  for (const std::string& name : absent) {
    if (then.count(name) == 0) {
      out.push_back(name);
    }
  }
  for (const auto& [name, values] : then) {
    out.push_back(name + "=" + *values.begin());
  }
  return out;
}

std::map<std::int32_t, std::vector<std::string>> recordedEnvironments(
    const std::map<Rank, LaunchContext>& contexts) {
  std::map<std::int32_t, std::vector<std::string>> out;
  std::vector<std::string> first;
  for (const auto& [rank, context] : contexts) {
    std::vector<std::string> lines;
    for (const ContextFact& fact : context) {
      if (fact.kind == "environ" || fact.kind == "digest" || fact.kind == "limit") {
        lines.push_back(protocol::factText(fact));
      }
    }
    if (out.empty() || lines != first) {
      first = out.empty() ? lines : first;
      out[rank] = std::move(lines);
    }
  }
  return out;
}

std::vector<std::string> contextDifferences(const LaunchContext& recorded,
                                            const LaunchContext& now) {
  std::vector<std::string> out;
  if (now.empty()) {
    return out;
  }
  compareProgram(recorded, now, out);
  compareFiles(recorded, now, out);
  if (valuesOf(recorded, "version") == valuesOf(now, "version")) {
    compareWords(recorded, now, "argument", "argument ", "not there", out);
    compareWords(recorded, now, "variable", "", "not set", out);
  }
  return out;
}

}  // namespace pf::app
