// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/traces/own_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "app/collation/launch_context.h"
#include "app/collation/log_files.h"
#include "app/collation/printed_text.h"
#include "app/files/sha256.h"
#include "app/recording/record.h"
#include "app/replaying/replay.h"
#include "app/traces/known_runs.h"
#include "app/traces/redact.h"

namespace pf::app {
namespace {

/// One text from which no other fields can be read.
class Text {
 public:
  explicit Text(std::string_view kind) { add(kind); }
  void add(std::string_view field) {
    m_text += std::to_string(field.size()) + ":";
    m_text += field;
  }
  void add(const std::vector<std::string>& fields) {
    add(std::to_string(fields.size()));
    for (const std::string& field : fields) {
      add(std::string_view(field));
    }
  }
  [[nodiscard]] std::string digest() const { return sha256(m_text); }

 private:
  std::string m_text;
};

/// As the digest has them, whatever a trace's format calls them.
std::vector<std::vector<std::string>> launchWords(const std::vector<db::LaunchFact>& launch) {
  std::vector<std::pair<Rank, std::string>> facts;
  for (const db::LaunchFact& fact : launch) {
    const char* what = fact.relation == db::LaunchFact::kAlso    ? "started also with: "
                       : fact.relation == db::LaunchFact::kLacks ? "started without: "
                                                                 : "started with: ";
    facts.emplace_back(fact.rank,
                       what + protocol::factText({fact.kind, fact.name, fact.value, {}}));
  }
  std::ranges::sort(facts);
  std::vector<std::vector<std::string>> words;
  words.reserve(facts.size());
  for (auto& [rank, text] : facts) {
    words.push_back({std::to_string(rank), std::move(text)});
  }
  return words;
}

/// Of all that a replay executes, sets or gives to what it executes. Never change this: what was
/// known would not be any more.
std::string digestOf(const db::TraceFacts& facts) {
  Text text("photofinish run 1");
  text.add(facts.run.command);
  for (const std::string& field :
       {facts.run.program, facts.run.launcher, facts.run.workingDirectory}) {
    text.add(std::string_view(field));
  }
  text.add(facts.run.input ? "input " + facts.run.input->bytes : std::string_view("no input"));
  for (const db::RankInfo& rank : facts.ranks) {
    text.add(std::vector{std::to_string(rank.rank), rank.executable, rank.buildId});
  }
  for (const std::vector<std::string>& words : launchWords(facts.launch)) {
    text.add(words);
  }
  for (const db::ModuleInfo& module : facts.modules) {
    text.add(std::vector{module.path, module.buildId});
  }
  return text.digest();
}

/// Of a recording, and of all traces that are made of it: it is as random as their checksums ask
/// for.
std::string nameOf(std::uint64_t salt) {
  return std::to_string(salt);
}

Text startOf(const RunFacts& facts) {
  Text text("photofinish start 1");
  text.add(facts.command);
  text.add(std::vector{facts.program, facts.launcher, facts.workingDirectory});
  return text;
}

/// Of logs that are where they were begun: those that come back from elsewhere are others.
std::string digestInPlace(const RunFacts& facts, const std::string& logs) {
  struct stat info {};
  if (lstat(logs.c_str(), &info) != 0) {
    return {};
  }
  Text text = startOf(facts);
  text.add(std::to_string(info.st_ino));
  return text.digest();
}

/// Of logs wherever they are: by all that is set or fed to the program.
std::string digestOfContent(const RunFacts& facts, const std::string& logs) {
  std::map<std::string, std::string> files;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  std::filesystem::directory_iterator file(logs, error);
  for (; !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    const bool fed = name != "run.json" && name != kPrintedFile;
    if (fed && isNameInLogs(name) && !rankOfLog(name) && !rankOfPayload(name)) {
      Result<std::string> content = readInLogs(logs, name, kMostInText);
      files[name] = content ? std::move(*content) : std::string();  // no trace is made of such
    }
  }
  Text text = startOf(facts);
  for (const auto& [name, content] : files) {
    text.add(std::vector{name, content});
  }
  return text.digest();
}

/// What a file was the last time that it was looked at: nobody can set the time of its change.
using Seen = std::tuple<dev_t, ino_t, off_t, time_t, long>;
std::mutex g_askedMutex;
std::map<std::string, std::pair<Seen, Owner>> g_owners;

Seen seen(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? Seen(info.st_dev, info.st_ino, info.st_size,
                                               info.st_ctim.tv_sec, info.st_ctim.tv_nsec)
                                        : Seen();
}

void forgetOwners() {
  const std::lock_guard lock(g_askedMutex);
  g_owners.clear();
}

db::Origin originOf(const std::string& path) {
  return ownerOf(path) == Owner::Foreign ? db::Origin::Foreign : db::Origin::Own;
}

/// Whatever opens a trace in a program with this library asks.
[[maybe_unused]] const bool g_asked = (db::setOriginOf(originOf), true);

Result<db::TraceFacts> factsIn(db::TraceStore& store) {
  auto launch = store.launchFacts();
  auto modules = store.modules();
  if (!launch || !modules) {
    return launch ? modules.error() : launch.error();
  }
  db::TraceFacts facts{store.run(), store.ranks(), std::move(*launch), std::move(*modules), {}, {}};
  if (auto breakpoints = store.session().all<db::Breakpoint>(); breakpoints) {
    facts.breakpoints = std::move(*breakpoints);
  }
  if (auto watches = store.session().all<db::Watch>(); watches) {
    facts.watches = std::move(*watches);
  }
  return facts;
}

std::string nameOf(std::uint64_t salt, Rank rank) {
  return nameOf(salt) + "/" + std::to_string(rank);
}

std::string digestOfGroups(const db::RunInfo& run) {
  return sha256(run.groups ? "groups " + *run.groups : "no groups");
}

std::vector<NamedDigest> named(const db::RunInfo& run,
                               const std::vector<ContentsDigest>& contents) {
  std::vector<NamedDigest> all;
  all.reserve(contents.size());
  for (const ContentsDigest& each : contents) {
    all.push_back({nameOf(run.salt, each.rank), each.chunks + each.row});
  }
  return all;
}

/// Of a run without groups, too: who adds contents to it is found.
Status keepContents(const db::RunInfo& run, const std::vector<ContentsDigest>& contents) {
  const Status groups = keepMark(Mark::Groups, nameOf(run.salt), digestOfGroups(run));
  Status kept = keepMarks(Mark::Contents, named(run, contents));
  return groups ? kept : groups;
}

bool areKnown(const db::RunInfo& run, const std::vector<ContentsDigest>& contents) {
  return hasMark(Mark::Groups, nameOf(run.salt), digestOfGroups(run)) &&
         std::ranges::all_of(named(run, contents), [](const NamedDigest& each) {
           return hasMark(Mark::Contents, each.name, each.digest);
         });
}

/// Of damaged contents, what is before the damage.
Result<std::vector<ContentsDigest>> contentsOf(db::TraceStore& store) {
  const Result<std::vector<db::PayloadInfo>> payloads = store.payloads();
  if (!payloads) {
    return payloads.error();
  }
  std::vector<ContentsDigest> all;
  for (const db::PayloadInfo& payload : *payloads) {
    ContentsDigester digester(payload.rank);
    if (Status status = store.showStoredPayload(payload.rank, digester);
        !status && status.error().code != ErrorCode::Damaged) {
      return status.error();
    }
    all.push_back(digester.digest());
  }
  return all;
}

/// Contents that are saved from a damaged trace end before the damage, and in the middle of what was a chunk.
void noteCopiedContents(const std::string& from, const std::string& to) {
  Result<db::TraceStore> damaged = openTrace(from, db::TraceStore::Mode::ReadOnly);
  Result<db::TraceStore> made = openTrace(to, db::TraceStore::Mode::ReadOnly);
  if (!damaged || !made) {
    return;
  }
  const auto noted = marksOf(Mark::Groups, nameOf(made->run().salt));
  Result<std::vector<ContentsDigest>> contents = contentsOf(*made);
  if (!noted || noted->empty() || !contents) {
    return;  // of a former version: they pass as they are
  }
  std::erase_if(*contents, [&damaged](const ContentsDigest& each) {
    KnownContents known(damaged->run(), each.rank);
    const Status status = damaged->showStoredPayload(each.rank, known);
    return !status && status.error().code != ErrorCode::Damaged;
  });
  static_cast<void>(keepMarks(Mark::Contents, named(made->run(), *contents)));
}

Error strangers(const std::string& trace, const db::TraceFacts& facts) {
  return Error{
      ErrorCode::Usage,
      shownWord(trace) +
          " was not recorded by you on this machine, or was changed since, and this takes "
          "a run of what it says:\n" +
          whatItRuns(facts) + "  Nothing of it has been run.",
      "If you want to run it, give --trust once (in an editor \"trust\": true in the launch "
      "configuration): what is shown here counts as yours then."};
}

/// But for its contents.
Status takeOverFacts(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<db::TraceFacts> facts = factsIn(*store);
  if (!facts) {
    return facts.error();
  }
  if (ownerOf(*facts) != Owner::Foreign) {
    return {};
  }
  for (const db::Breakpoint& breakpoint : facts->breakpoints) {
    keepWords(wordsOf(breakpoint));
  }
  for (const db::Watch& watch : facts->watches) {
    keepWords(watch.expression);
  }
  Status kept = keepMark(Mark::Taken, nameOf(facts->run.salt), digestOf(*facts));
  forgetOwners();
  return kept;
}

}  // namespace

Owner ownerOf(const db::TraceFacts& facts) {
  const std::string digest = digestOf(facts);
  return hasMark(Mark::Own, nameOf(facts.run.salt), digest)     ? Owner::Own
         : hasMark(Mark::Taken, nameOf(facts.run.salt), digest) ? Owner::TakenOver
                                                                : Owner::Foreign;
}

Owner ownerOf(const std::string& trace) {
  const Seen now = seen(trace);
  {
    const std::lock_guard lock(g_askedMutex);
    if (const auto known = g_owners.find(trace);
        known != g_owners.end() && known->second.first == now && now != Seen()) {
      return known->second.second;
    }
  }
  const Result<db::TraceFacts> facts = db::readFacts(trace);
  const Owner owner = facts ? ownerOf(*facts) : Owner::Foreign;
  if (owner != Owner::Foreign) {  // another process may take that over
    const std::lock_guard lock(g_askedMutex);
    g_owners[trace] = {now, owner};
  }
  return owner;
}

Result<Owner> ownerOf(db::TraceStore& store) {
  const Result<db::TraceFacts> facts = factsIn(store);
  return facts ? Result<Owner>(ownerOf(*facts)) : Result<Owner>(facts.error());
}

Status mayRun(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (ownerOf(store->path()) != Owner::Foreign) {
    return {};
  }
  if (store->run().redacted) {
    return redactedTrace(store->path());
  }
  return foreignTrace(*store);
}

Error foreignTrace(db::TraceStore& store) {
  const Result<db::TraceFacts> facts = factsIn(store);
  return facts ? strangers(store.path(), *facts) : facts.error();
}

Status takeOver(const std::string& trace) {
  if (Status status = takeOverFacts(trace); !status) {
    return status;
  }
  const Result<bool> contents = takeOverContents(trace);
  return contents ? Status() : Status(contents.error());
}

Result<bool> takeOverContents(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<std::vector<ContentsDigest>> contents = contentsOf(*store);
  if (!contents) {
    return contents.error();
  }
  const auto noted = marksOf(Mark::Groups, nameOf(store->run().salt));
  const bool others = noted && !noted->empty() && !areKnown(store->run(), *contents);
  if (Status status = keepContents(store->run(), *contents); !status) {
    return status.error();
  }
  return others;
}

Status noteStart(const RunFacts& facts, const std::string& logs) {
  const std::string name = nameOf(facts.salt);
  static_cast<void>(keepMark(Mark::Started, name, digestOfContent(facts, logs)));
  return keepMark(Mark::Started, name, digestInPlace(facts, logs));
}

bool isOwnRecording(const RunFacts& facts, const std::string& logs) {
  const std::string name = nameOf(facts.salt);
  return hasMark(Mark::Started, name, digestInPlace(facts, logs)) ||
         hasMark(Mark::Started, name, digestOfContent(facts, logs));
}

void noteTrace(const RunFacts& facts, const std::string& logs, const std::string& trace,
               const std::vector<ContentsDigest>& contents) {
  if (!isOwnRecording(facts, logs)) {
    return;
  }
  if (const Result<db::TraceFacts> made = db::readFacts(trace); made) {
    static_cast<void>(keepMark(Mark::Own, nameOf(made->run.salt), digestOf(*made)));
    static_cast<void>(keepContents(made->run, contents));
    forgetOwners();
  }
}

void noteEnd(const RunFacts& facts) {
  dropMarks(Mark::Started, nameOf(facts.salt));
}

void noteCopy(const std::string& from, const std::string& to) {
  const Owner owner = ownerOf(from);
  const Result<db::TraceFacts> made = db::readFacts(to);
  if (owner != Owner::Foreign && made) {
    static_cast<void>(keepMark(owner == Owner::Own ? Mark::Own : Mark::Taken,
                               nameOf(made->run.salt), digestOf(*made)));
    noteCopiedContents(from, to);
    forgetOwners();
  }
}

KnownContents::KnownContents(const db::RunInfo& run, Rank rank) : m_rank(rank) {
  const auto groups = marksOf(Mark::Groups, nameOf(run.salt));
  auto known = marksOf(Mark::Contents, nameOf(run.salt, rank));
  if (!groups || !known) {
    m_unread = groups ? known.error() : groups.error();
    return;
  }
  m_nothingNoted = groups->empty();
  if (std::ranges::find(*groups, digestOfGroups(run)) != groups->end()) {
    m_known = std::move(*known);
  }
}

Status KnownContents::chunk(const db::PayloadInfo&, db::Bytes packed) {
  return m_nothingNoted ? Status() : holdAgainst(digestOfChunk(packed));
}

Status KnownContents::row(const db::PayloadInfo& info) {
  return m_nothingNoted ? Status() : holdAgainst(digestOfRow(info));
}

Status KnownContents::holdAgainst(const std::string& digest) {
  if (!m_unread) {
    return m_unread;
  }
  std::erase_if(m_known, [&](const std::string& known) {
    return known.size() < m_at || known.compare(m_at, digest.size(), digest) != 0;
  });
  m_at += digest.size();
  return m_known.empty() ? Status(others()) : Status();
}

Error KnownContents::others() const {
  return Error{ErrorCode::Usage,
               "the contents of messages that rank " + std::to_string(m_rank) +
                   " received from outside of its group are not those that were recorded: the "
                   "trace was changed since",
               "If you trust who changed it, give --trust once: they count as recorded then. A "
               "replay of all ranks needs none."};
}

std::string wordsOf(const db::Breakpoint& breakpoint) {
  const bool logical = breakpoint.kind == "logical";
  const bool computed = breakpoint.function.find_first_of("*$") != std::string::npos;
  std::vector<std::string> parts{breakpoint.condition, breakpoint.log,
                                 logical ? "" : breakpoint.expression,
                                 computed ? breakpoint.function : ""};
  parts.insert(parts.end(), breakpoint.commands.begin(), breakpoint.commands.end());
  const bool any = std::any_of(parts.begin(), parts.end(),
                               [](const std::string& part) { return !part.empty(); });
  std::string words;
  for (const std::string& part : parts) {
    words += part + "\n";
  }
  return any ? words : "";
}

bool areKnownWords(const std::string& words) {
  return words.empty() || hasMark(Mark::Words, "", sha256(words));
}

void keepWords(const std::string& words) {
  if (!areKnownWords(words)) {
    static_cast<void>(keepMark(Mark::Words, "", sha256(words)));
  }
}

}  // namespace pf::app
