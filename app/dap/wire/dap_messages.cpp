// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_messages.h"

#include <charconv>
#include <limits>

namespace pf::headless {
namespace {

Error usage(std::string message, std::string advice) {
  return {ErrorCode::Usage, std::move(message), std::move(advice)};
}

/// An array of strings, or nothing if the field is anything else.
std::optional<std::vector<std::string>> words(const Json& object, const char* field) {
  std::vector<std::string> out;
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) {
    return out;
  }
  if (!found->is_array()) {
    return std::nullopt;
  }
  for (const Json& each : *found) {
    if (!each.is_string()) {
      return std::nullopt;
    }
    out.push_back(each.get<std::string>());
  }
  return out;
}

template <typename T>
std::optional<T> wholeNumber(std::string_view text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::int64_t number(const Json& object, const char* field, std::int64_t fallback) {
  const auto found = object.is_object() ? object.find(field) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_number_integer()) {
    return fallback;
  }
  if (found->is_number_unsigned() &&
      found->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fallback;
  }
  return found->get<std::int64_t>();
}

std::string word(const Json& object, const char* field) {
  if (!object.is_object()) {
    return {};
  }
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag(const Json& object, const char* field) {
  if (!object.is_object()) {
    return false;
  }
  const auto found = object.find(field);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

Result<Request> parseRequest(const std::string& content, std::int64_t& seq) {
  seq = 0;
  Json message = Json::parse(content, nullptr, false);
  if (message.is_discarded()) {
    return Error{ErrorCode::Peer, "a message is no JSON", "Send one JSON object in each message."};
  }
  if (!message.is_object()) {
    return Error{ErrorCode::Peer, "a message is no JSON object", ""};
  }
  seq = number(message, "seq", 0);
  if (word(message, "type") != "request") {
    return Error{ErrorCode::Peer, "a message is no request", "Its 'type' must be 'request'."};
  }
  Request request;
  request.seq = seq;
  request.command = word(message, "command");
  if (request.command.empty() || !message.contains("seq") || !message["seq"].is_number_integer()) {
    return Error{ErrorCode::Peer, "a request lacks its 'seq' or its 'command'", ""};
  }
  if (message.contains("arguments") && !message["arguments"].is_null()) {
    request.arguments = std::move(message["arguments"]);
    if (!request.arguments.is_object()) {
      return Error{ErrorCode::Peer, "the arguments of '" + request.command + "' are no JSON object",
                   ""};
    }
  }
  return request;
}

Json response(const Request& request, Json body) {
  Json out = {{"type", "response"},
              {"request_seq", request.seq},
              {"success", true},
              {"command", request.command}};
  if (!body.is_null()) {
    out["body"] = std::move(body);
  }
  return out;
}

Json errorResponse(std::int64_t seq, const std::string& command, const Error& error) {
  const bool ends = error.message.ends_with('.');
  const std::string text =
      error.advice.empty() ? error.message : error.message + (ends ? " " : ". ") + error.advice;
  // The text is a variable: braces in it are no places for others.
  return {{"type", "response"},
          {"request_seq", seq},
          {"success", false},
          {"command", command},
          {"message", error.message},
          {"body",
           {{"error",
             {{"id", 1 + static_cast<int>(error.code)},
              {"format", "{text}"},
              {"variables", {{"text", text}}},
              {"showUser", true}}}}}};
}

Json notStopped(const Request& request, const std::string& text) {
  Json out = errorResponse(request.seq, request.command, {ErrorCode::Usage, text, ""});
  out["message"] = "notStopped";
  out["body"]["error"]["showUser"] = false;
  return out;
}

Json eventMessage(const std::string& name, Json body) {
  Json out = {{"type", "event"}, {"event", name}};
  if (!body.is_null()) {
    out["body"] = std::move(body);
  }
  return out;
}

std::string toText(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<EventRef> parseEventRef(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  const auto rank = wholeNumber<Rank>(std::string_view(text).substr(0, colon));
  const auto serial = wholeNumber<Serial>(std::string_view(text).substr(colon + 1));
  if (!rank || !serial || *rank < 0 || *serial == 0) {
    return std::nullopt;
  }
  return EventRef{*rank, *serial};
}

namespace {

Status readWhat(const Json& arguments, LaunchArguments& out) {
  out.trace = word(arguments, "trace");
  const std::string program = word(arguments, "program");
  const auto launcher = words(arguments, "launcher");
  const auto args = words(arguments, "args");
  if (!launcher || !args) {
    return usage("'launcher' and 'args' are arrays of strings",
                 "For example \"launcher\": [\"mpirun\", \"-n\", \"4\"].");
  }
  if (out.trace.empty() == program.empty()) {
    return usage(
        program.empty() ? "there is nothing to launch" : "both 'trace' and 'program' are given",
        "Give 'trace' (a .pft file) to replay it, or 'program' (with 'launcher' and 'args') "
        "to record it first.");
  }
  if (!program.empty()) {
    out.command = *launcher;
    out.command.push_back(program);
    out.command.insert(out.command.end(), args->begin(), args->end());
  }
  out.output = word(arguments, "output");
  out.directory = word(arguments, "cwd");
  out.jitter = number(arguments, "jitter", 0);
  out.noDebug = flag(arguments, "noDebug");
  if (arguments.contains("env") && !arguments["env"].is_null()) {
    if (!arguments["env"].is_object()) {
      return usage("'env' is an object of strings", "");
    }
    for (const auto& [name, value] : arguments["env"].items()) {
      if (!value.is_string()) {
        return usage("'env': " + name + " is no string", "");
      }
      out.environment.emplace_back(name, value.get<std::string>());
    }
  }
  return {};
}

/// An array of ranks; `kinds` are what may stand in the field `name`.
Result<std::vector<Rank>> readRanks(const Json& arguments, const char* name, const char* kinds) {
  std::vector<Rank> ranks;
  const Error wrong = usage(std::string("'") + name + "' is " + kinds, "");
  if (!arguments[name].is_array()) {
    return wrong;
  }
  for (const Json& each : arguments[name]) {
    if (!each.is_number_integer() || each < 0 || each > std::numeric_limits<Rank>::max()) {
      return wrong;
    }
    ranks.push_back(each.get<Rank>());
  }
  return ranks;
}

Status readPart(const Json& arguments, LaunchArguments& out) {
  const bool ranks = arguments.contains("ranks");
  const bool group = arguments.contains("group");
  if (!ranks && !group) {
    return {};
  }
  if (out.trace.empty()) {
    return usage("'ranks' and 'group' name a part of a recorded job, and nothing is recorded yet",
                 "Record with 'photofinish record --groups', then launch its 'trace'.");
  }
  if (ranks && group) {
    return usage("both 'ranks' and 'group' are given", "Give one of them.");
  }
  if (ranks) {
    Result<std::vector<Rank>> read = readRanks(arguments, "ranks", "an array of ranks, not empty");
    if (!read || read->empty()) {
      return read ? usage("'ranks' names no rank", "Leave it out to debug all.") : read.error();
    }
    out.ranks = std::move(*read);
    return {};
  }
  const Json& number = arguments["group"];
  if (!number.is_number_integer() || number < 0 || number > std::numeric_limits<Rank>::max()) {
    return usage("'group' is the number of a group of the trace", "They count from 0.");
  }
  out.group = number.get<std::uint32_t>();
  return {};
}

Status readGoal(const Json& arguments, LaunchArguments& out) {
  out.stopOnEntry = flag(arguments, "stopOnEntry");
  out.transcripts = word(arguments, "transcripts");
  out.gdb = word(arguments, "gdb");
  out.stepOneThread = flag(arguments, "stepOneThread");
  const std::string until = word(arguments, "until");
  if (arguments.contains("until") && until != "failure") {
    out.until = parseEventRef(until);
    if (!out.until) {
      return usage("'until' is neither \"failure\" nor RANK:SERIAL",
                   "For example \"until\": \"2:17\".");
    }
  }
  out.untilFailure = until == "failure";
  if (!arguments.contains("focus") || word(arguments, "focus") == "all") {
    return {};
  }
  if (word(arguments, "focus") == "failed") {
    out.focusFailed = true;
    return {};
  }
  Result<std::vector<Rank>> focus =
      readRanks(arguments, "focus", "\"all\", \"failed\" or an array of ranks");
  if (!focus) {
    return focus.error();
  }
  out.focus = std::move(*focus);
  return {};
}

/// A process id; editors that let the user pick a process give it as text.
std::int64_t processId(const Json& arguments) {
  for (const char* field : {"processId", "pid"}) {
    const std::int64_t pid = wholeNumber<std::int64_t>(word(arguments, field)).value_or(0);
    if (const std::int64_t found = number(arguments, field, pid); found != 0) {
      return found;
    }
  }
  return 0;
}

}  // namespace

Result<LaunchArguments> parseLaunchArguments(const Json& arguments) {
  LaunchArguments out;
  if (Status status = readWhat(arguments, out); !status) {
    return status.error();
  }
  if (Status status = readPart(arguments, out); !status) {
    return status.error();
  }
  if (Status status = readGoal(arguments, out); !status) {
    return status.error();
  }
  return out;
}

Result<AttachArguments> parseAttachArguments(const Json& arguments) {
  AttachArguments out;
  out.pid = processId(arguments);
  const auto cores = words(arguments, "coreFiles");
  if (!cores) {
    return usage("'coreFiles' is an array of file names", "");
  }
  out.cores = *cores;
  if (const std::string core = word(arguments, "coreFile"); !core.empty()) {
    out.cores.push_back(core);
  }
  constexpr std::int64_t kMostPid = std::int64_t{1} << 30;
  if (out.pid < 0 || out.pid > kMostPid || (out.pid != 0) == !out.cores.empty()) {
    return usage(out.pid != 0 && !out.cores.empty() ? "both 'processId' and core files are given"
                                                    : "there is nothing to attach to",
                 "Give 'processId' (of mpirun, srun or a rank) to attach to a running job, or "
                 "'coreFiles' to look at these.");
  }
  for (const char* field : {"trace", "until"}) {
    if (arguments.contains(field)) {
      return usage(
          std::string("'") + field + "' belongs to a recording, and nothing here is recorded",
          "Use 'launch' for a recording.");
    }
  }
  out.program = word(arguments, "program");
  out.transcripts = word(arguments, "transcripts");
  out.gdb = word(arguments, "gdb");
  out.stepOneThread = flag(arguments, "stepOneThread");
  out.stopOnEntry = !arguments.contains("stopOnEntry") || flag(arguments, "stopOnEntry");
  if (arguments.contains("focus") && word(arguments, "focus") != "all") {
    Result<std::vector<Rank>> focus = readRanks(arguments, "focus", "\"all\" or an array of ranks");
    if (!focus) {
      return focus.error();
    }
    out.focus = std::move(*focus);
  }
  return out;
}

Result<int> ignoreCountOf(const std::string& hitCondition) {
  std::string_view text = hitCondition;
  const auto trim = [&text] {
    const std::size_t first = text.find_first_not_of(' ');
    text = first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  };
  trim();
  if (text.empty()) {
    return 0;
  }
  int extra = -1;
  if (text.substr(0, 2) == ">=") {
    text.remove_prefix(2);
  } else if (text[0] == '>') {
    text.remove_prefix(1);
    extra = 0;
  }
  trim();
  const std::optional<int> count = wholeNumber<int>(text);
  if (!count || *count + extra < 0 || *count == std::numeric_limits<int>::max()) {
    return Error{ErrorCode::Usage, "the hit condition '" + hitCondition + "' is not known",
                 "Give a number N (stop from the N-th hit on), '>= N' or '> N'."};
  }
  return *count + extra;
}

std::vector<LogPiece> logPieces(const std::string& message) {
  std::vector<LogPiece> out;
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    const bool doubled = i + 1 < message.size() && message[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      text += c;
      ++i;
      continue;
    }
    const std::size_t close = c == '{' ? message.find('}', i) : std::string::npos;
    if (close == std::string::npos || close == i + 1) {
      text += c;
      continue;
    }
    if (!text.empty()) {
      out.push_back({std::exchange(text, {}), false});
    }
    out.push_back({message.substr(i + 1, close - i - 1), true});
    i = close;
  }
  if (!text.empty()) {
    out.push_back({text, false});
  }
  return out;
}

}  // namespace pf::headless
