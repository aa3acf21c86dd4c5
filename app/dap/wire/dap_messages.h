// SPDX-License-Identifier: GPL-3.0-or-later
// Messages of the Debug Adapter Protocol as values: requests from JSON, responses and events to
// JSON, and what a launch asks for. Pure; every reader takes any JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::headless {

using Json = nlohmann::json;

struct Request {
  std::int64_t seq = 0;
  std::string command;
  Json arguments = Json::object();
};

/// One content of a frame. An Error (Peer) says what is wrong with it; `seq` is then what could be
/// read of the request's number.
Result<Request> parseRequest(const std::string& content, std::int64_t& seq);

/// Without its own "seq".
Json response(const Request& request, Json body);
Json errorResponse(std::int64_t seq, const std::string& command, const Error& error);
/// The protocol's own short error for a question to a rank that runs.
Json notStopped(const Request& request, const std::string& text);
Json eventMessage(const std::string& name, Json body);
/// JSON text of a message. Bytes that are no UTF-8 are replaced.
std::string toText(const Json& message);

// -- fields of arguments; a field that is missing or of another type is the fallback
std::int64_t number(const Json& object, const char* field, std::int64_t fallback);
std::string word(const Json& object, const char* field);
bool flag(const Json& object, const char* field);

/// Where a launch is to go first.
struct LaunchArguments {
  std::string trace;                   ///< replay this; else
  std::vector<Rank> ranks;             ///< of the trace, alone; empty: all
  std::optional<std::uint32_t> group;  ///< the same: those of this group
  std::vector<std::string> command;    ///< record this, then replay it
  std::string output;                  ///< trace of the recording; empty: beside the program's name
  std::string directory;               ///< of the recording; empty: ours
  std::vector<std::pair<std::string, std::string>> environment;
  std::int64_t jitter = 0;
  bool noDebug = false;
  bool stopOnEntry = false;
  bool untilFailure = false;
  std::string transcripts;     ///< directory for the GDBs' transcripts, or empty
  std::string gdb;             ///< another GDB than before; empty: the same
  bool stepOneThread = false;  ///< a rank's other threads wait during a step
  std::optional<EventRef> until;
  bool focusFailed = false;                ///< a GDB on the failing rank only
  std::optional<std::vector<Rank>> focus;  ///< on these; neither: on all of a small job
};
/// Usage: what is missing, contradicts itself, or has another type.
Result<LaunchArguments> parseLaunchArguments(const Json& arguments);

/// What is not to be replayed: a job that runs, or core files.
struct AttachArguments {
  std::int64_t pid = 0;                    ///< of the launcher or of a rank; else
  std::vector<std::string> cores;          ///< files
  std::string program;                     ///< of the core files; empty: as they say themselves
  bool stopOnEntry = true;                 ///< the ranks that get a GDB stay stopped
  std::string transcripts;                 ///< directory for the GDBs' transcripts, or empty
  std::string gdb;                         ///< another GDB than before; empty: the same
  bool stepOneThread = false;              ///< a rank's other threads wait during a step
  std::optional<std::vector<Rank>> focus;  ///< ranks that get a GDB; none named: the first 16
};
/// Usage: what is missing, contradicts itself, or has another type.
Result<AttachArguments> parseAttachArguments(const Json& arguments);

/// "2:17".
std::optional<EventRef> parseEventRef(const std::string& text);

/// Of a breakpoint's hitCondition ("3", ">= 3", "> 3"): hits that are ignored.
Result<int> ignoreCountOf(const std::string& hitCondition);

/// A piece of a logMessage: text, or an expression that stood between braces.
struct LogPiece {
  std::string text;
  bool expression = false;
  friend bool operator==(const LogPiece&, const LogPiece&) = default;
};
/// "x is {x}": two pieces. A brace without its other one is text; "{{" and "}}" are braces.
std::vector<LogPiece> logPieces(const std::string& message);

}  // namespace pf::headless
