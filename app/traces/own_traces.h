// SPDX-License-Identifier: GPL-3.0-or-later
// Whose a trace is. A trace says what its replay executes, so it is executed only where this user
// has recorded it on this machine (that text is known, see known_runs.h), or has taken it over.
// Any other one is read and nothing else: this library tells db so (db/store/origin.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/collation/collate.h"
#include "app/collation/contents_digest.h"
#include "db/store/origin.h"
#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/protocol/program_context.h"

namespace pf::app {

enum class Owner {
  Own,        ///< recorded by this user, and what it executes is as it was then
  TakenOver,  ///< somebody else's, or changed since; this user has seen what it executes
  Foreign,
};

[[nodiscard]] Owner ownerOf(const db::TraceFacts& facts);
/// Of the file `trace`. Foreign where it cannot be read.
[[nodiscard]] Owner ownerOf(const std::string& trace);
/// Of a trace that is open: of what it has been read as, whatever is at its path by now.
[[nodiscard]] Result<Owner> ownerOf(db::TraceStore& store);

/// Usage, with all that a run of it would execute or set and how to consent, for a stranger's.
Status mayRun(const std::string& trace);
/// That error.
[[nodiscard]] Error foreignTrace(db::TraceStore& store);
/// From now on it may; what it showed is consented to, its breakpoints and watches, too, and its contents of messages as they
/// are. System where that cannot be kept beyond this process.
Status takeOver(const std::string& trace);
/// The same of the contents of messages alone: each is read once. True: of a trace whose contents were known these are
/// others.
Result<bool> takeOverContents(const std::string& trace);
/// For people, as mayRun() shows it: program, command, directory, variables, input, breakpoints.
[[nodiscard]] std::string whatItRuns(const db::TraceFacts& facts);

/// A recording has begun, with its logs in `logs`: what is made of them is this user's.
Status noteStart(const RunFacts& facts, const std::string& logs);
/// Whether that was said of these logs.
[[nodiscard]] bool isOwnRecording(const RunFacts& facts, const std::string& logs);
/// A trace was made of them, with such contents of messages.
void noteTrace(const RunFacts& facts, const std::string& logs, const std::string& trace,
               const std::vector<ContentsDigest>& contents);
/// Nothing more is made of them.
void noteEnd(const RunFacts& facts);

/// The file that salvage has made of `from` is whose `from` was; of its contents those that were known are.
void noteCopy(const std::string& from, const std::string& to);

/// Holds a rank's contents of messages, which a replay gives to the program, against those that this user has recorded or taken
/// over: chunk by chunk, on their way out of the trace. Usage: they are others. Former versions noted no contents: of such a
/// trace everything passes.
class KnownContents final : public db::StoredContents {
 public:
  KnownContents(const db::RunInfo& run, Rank rank);
  Status chunk(const db::PayloadInfo& info, db::Bytes packed) override;
  Status row(const db::PayloadInfo& info) override;

 private:
  Status holdAgainst(const std::string& digest);
  [[nodiscard]] Error others() const;

  Rank m_rank;
  Status m_unread;                   ///< what is known cannot be read
  bool m_nothingNoted = false;       ///< by a former version
  std::vector<std::string> m_known;  ///< those that begin as what has been shown
  std::size_t m_at = 0;              ///< digits of them that have been shown
};

/// Whether a variable makes programs, launchers, shells or interpreters load code or run commands:
/// never taken from the trace of somebody else.
[[nodiscard]] bool loadsCode(std::string_view variable);
/// NAME=VALUE and NAME without those that load code.
[[nodiscard]] std::vector<std::string> withoutLoaders(std::vector<std::string> environment);
/// And what a rank was started with without these variables.
[[nodiscard]] protocol::LaunchContext withoutLoaders(protocol::LaunchContext context);

/// What of a breakpoint a debugger evaluates or executes: condition, commands, log, expression.
/// Empty: nothing.
[[nodiscard]] std::string wordsOf(const db::Breakpoint& breakpoint);
/// Such words, of a breakpoint or a watch, that this user has typed or consented to.
[[nodiscard]] bool areKnownWords(const std::string& words);
void keepWords(const std::string& words);

/// `word` as a shell would read it, on one line, without anything that a terminal obeys.
[[nodiscard]] std::string shownWord(std::string_view word);

}  // namespace pf::app
