// SPDX-License-Identifier: GPL-3.0-or-later
// Whose a trace is. A trace says what its replay executes, so it is executed only where this user
// has recorded it on this machine (that text is known, see known_runs.h), or has taken it over.
// Any other one is read and nothing else: this library tells db so (db/store/origin.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/collation/collate.h"
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
/// From now on it may; what it showed is consented to, its breakpoints and watches, too. System
/// where that cannot be kept beyond this process.
Status takeOver(const std::string& trace);
/// For people, as mayRun() shows it: program, command, directory, variables, input, breakpoints.
[[nodiscard]] std::string whatItRuns(const db::TraceFacts& facts);

/// A recording has begun, with its logs in `logs`: what is made of them is this user's.
Status noteStart(const RunFacts& facts, const std::string& logs);
/// Whether that was said of these logs.
[[nodiscard]] bool isOwnRecording(const RunFacts& facts, const std::string& logs);
/// A trace was made of them.
void noteTrace(const RunFacts& facts, const std::string& logs, const std::string& trace);
/// Nothing more is made of them.
void noteEnd(const RunFacts& facts);

/// The file that salvage has made of `from` is whose `from` was.
void noteCopy(const std::string& from, const std::string& to);

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
