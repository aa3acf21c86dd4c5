// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/traces/redact.h"

#include <algorithm>

#include "app/files/paths.h"
#include "app/replaying/report_parts.h"
#include "db/store/trace_writer.h"

namespace pf::app {
namespace {

/// `text` with the last name of each path in it only.
std::string withoutPaths(const std::string& text) {
  std::string out;
  std::size_t word = 0;  // where the last word begins in `out`
  for (const char c : text) {
    if (c == '/') {
      out.resize(word);
      continue;
    }
    out += c;
    if (c == ' ' || c == '\'' || c == '"' || c == '=' || c == ':' || c == '(' || c == ',') {
      word = out.size();
    }
  }
  return out;
}

db::RunInfo redacted(db::RunInfo run) {
  run.uuid.clear();  // it is another file: it gets one of its own
  run.program = fileName(run.program);
  run.command = {run.program};
  run.workingDirectory.clear();
  run.launcher = fileName(run.launcher);
  run.host.clear();
  run.input.reset();
  run.salt = 0;
  run.longestWait.reset();
  run.redacted = true;
  return run;
}

db::RankInfo redacted(db::RankInfo rank) {
  rank.pid = 0;
  rank.host.clear();
  rank.executable = fileName(rank.executable);
  rank.state = rank.state.substr(0, rank.state.find("; core file: "));
  rank.state = rank.state.starts_with("core file: ") ? "" : withoutPaths(rank.state);
  rank.cutReason = withoutPaths(rank.cutReason);
  rank.logBytes = 0;
  rank.logChunks = 0;
  rank.tscReads.reset();
  rank.wildcardReceives.reset();
  return rank;
}

/// What the ranks were started with and looked at (variables, arguments, libraries, files) goes.
Status writeFacts(db::TraceWriter& writer, db::TraceStore& store) {
  writer.setRun(redacted(store.run()));
  for (const db::RankInfo& rank : store.ranks()) {
    writer.addRank(redacted(rank));
  }
  const Result<std::vector<db::NotGuaranteed>> uses = store.notGuaranteed();
  if (!uses) {
    return uses.error();
  }
  for (const db::NotGuaranteed& use : *uses) {
    writer.addNotGuaranteed({use.rank, withoutPaths(use.what)});
  }
  Status status;
  const Result<std::vector<db::ModuleInfo>> modules = store.modules();
  if (!modules) {
    return modules.error();
  }
  std::vector<std::string> known;
  for (const db::ModuleInfo& module : *modules) {
    const std::string name = fileName(module.path);
    if (status.ok() && std::find(known.begin(), known.end(), name) == known.end()) {
      known.push_back(name);
      status = writer.addModule({name, module.buildId});
    }
  }
  return status;
}

}  // namespace

Status redactTrace(const std::string& from, const std::string& to) {
  Result<db::TraceWriter> writer = db::TraceWriter::create(absolutePath(to), db::Existing::Refuse);
  if (!writer) {
    return writer.error();
  }
  Result<Loaded> loaded = load(from);
  if (!loaded) {
    return loaded.error();
  }
  Result<std::vector<db::StoredRace>> stored = loaded->store.races();
  if (!stored) {
    return stored.error();
  }
  std::vector<Race> races;
  std::vector<std::string> classes;
  for (db::StoredRace& each : *stored) {
    // Their names have source lines.
    classes.push_back(each.raceClass.empty() ? std::string()
                                             : racePlaces(loaded->execution, each.race));
    races.push_back(std::move(each.race));
  }
  Execution& execution = loaded->execution;
  for (CallSite& site : execution.sites) {
    site.module = fileName(site.module);
    site.file = fileName(site.file);
  }
  if (Status status = writeFacts(*writer, loaded->store); !status) {
    return status;
  }
  if (Status status = writer->writeExecution(execution, races, logicalTimes(execution), classes);
      !status) {
    return status;
  }
  return writer->finish();
}

Error redactedTrace(const std::string& path) {
  return Error{ErrorCode::Usage, path + " is a redacted trace: " + kRedactedText,
               "Replay the trace that it was made of."};
}

}  // namespace pf::app
