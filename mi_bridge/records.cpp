// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/records.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace pf::mi {
namespace {

std::optional<std::string> optionalText(const Value& value) {
  return value.valid() ? std::optional(value.text()) : std::nullopt;
}

std::string_view baseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

StopReason reasonOf(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, StopReason>, 14> kReasons{
      {{"breakpoint-hit", StopReason::Breakpoint},
       {"watchpoint-trigger", StopReason::Watchpoint},
       {"read-watchpoint-trigger", StopReason::Watchpoint},
       {"access-watchpoint-trigger", StopReason::Watchpoint},
       {"watchpoint-scope", StopReason::WatchpointScope},
       {"end-stepping-range", StopReason::Step},
       {"function-finished", StopReason::Finished},
       {"location-reached", StopReason::Location},
       {"signal-received", StopReason::Signal},
       {"exited", StopReason::Exited},
       {"exited-normally", StopReason::Exited},
       {"exited-signalled", StopReason::ExitedBySignal},
       {"no-history", StopReason::Other},
       {"solib-event", StopReason::Other}}};
  for (const auto& [name, reason] : kReasons) {
    if (name == text) {
      return reason;
    }
  }
  return StopReason::Other;
}

/// GDB writes exit codes in octal: `exit-code="03"`.
std::optional<int> exitCodeOf(const std::string& text) {
  int code = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, code, 8);
  return error == std::errc() && stop == end ? std::optional(code) : std::nullopt;
}

/// The watchpoint of a stop, whichever kind it is.
const Value& watchpointOf(const Value& results) {
  for (const char* name : {"wpt", "hw-awpt", "hw-rwpt"}) {
    if (const Value& watchpoint = results[name]) {
      return watchpoint;
    }
  }
  return results["wpt"];
}

BreakpointLocation locationOf(const Value& value) {
  return {value.str("number"),       value.str("enabled") != "n", value.toAddress("addr"),
          value.str("func"),         value.str("file"),           value.str("fullname"),
          value.toInt32Or(0, "line")};
}

}  // namespace

std::string_view toString(StopReason reason) {
  static constexpr std::array<std::string_view, 13> kNames{
      "attached", "breakpoint", "watchpoint", "watchpoint out of scope",
      "step",     "finished",   "location",   "paused",
      "signal",   "event",      "exited",     "exited by signal",
      "stopped"};
  const auto index = static_cast<std::size_t>(reason);
  return index < kNames.size() ? kNames[index] : kNames.back();
}

bool StopEvent::stoppedAtEvent() const {
  return signalName == "SIGTRAP" && startsWith(frame.function, "pf_stop");
}

std::string StopEvent::describe() const {
  switch (reason) {
    case StopReason::Breakpoint:
      return "Breakpoint " + std::to_string(breakpointNumber) + " hit";
    case StopReason::Watchpoint:
      return "Watchpoint " + std::to_string(breakpointNumber) + ": " + watchExpression + " was " +
             oldValue + ", is " + newValue;
    case StopReason::WatchpointScope:
      return "Watchpoint " + std::to_string(breakpointNumber) + " went out of scope";
    case StopReason::Signal:
      return "Signal " + signalName + ": " + signalMeaning;
    case StopReason::Exited:
      return "Exited with status " + std::to_string(exitCode.value_or(0));
    case StopReason::ExitedBySignal:
      return "Killed by " + signalName + ": " + signalMeaning;
    case StopReason::Attached:
      return "GDB attached";
    case StopReason::Step:
      return "End of step";
    case StopReason::Finished:
      return returnValue.empty() ? "Returned" : "Returned " + returnValue;
    case StopReason::Location:
      return "Location reached";
    case StopReason::Paused:
      return "Paused";
    case StopReason::Event:
      return "Stopped at an event";
    case StopReason::Other:
      break;
  }
  return reasonText.empty() ? "Stopped" : "Stopped: " + reasonText;
}

Frame frameOf(const Value& value) {
  Frame frame;
  frame.level = value.toInt32Or(0, "level");
  frame.gdbLevel = frame.level;
  frame.address = value.toAddress("addr");
  frame.function = value.str("func");
  frame.file = value.str("file");
  frame.fullname = value.str("fullname");
  frame.line = value.toInt32Or(0, "line");
  frame.from = value.str("from");
  frame.arguments = variablesOf(value["args"]);
  return frame;
}

std::vector<Frame> framesOf(const Value& stack) {
  std::vector<Frame> frames;
  for (const auto& field : stack.fields()) {
    frames.push_back(frameOf(field.value));
  }
  return frames;
}

StopEvent stopEventOf(const Value& results) {
  StopEvent stop;
  stop.reasonText = results.str("reason");
  stop.reason = reasonOf(stop.reasonText);
  const Value& watchpoint = watchpointOf(results);
  stop.breakpointNumber = results.toInt32Or(watchpoint.toInt32Or(0, "number"), "bkptno");
  if (stop.breakpointNumber == 0) {
    stop.breakpointNumber = results.toInt32Or(0, "wpnum");
  }
  stop.temporary = results.str("disp") == "del";
  stop.signalName = results.str("signal-name");
  stop.signalMeaning = results.str("signal-meaning");
  stop.thread = results.toInt32Or(0, "thread-id");
  stop.allThreads = !results.has("stopped-threads") || results.str("stopped-threads") == "all";
  stop.frame = frameOf(results["frame"]);
  stop.exitCode = exitCodeOf(results.str("exit-code"));
  if (stop.reasonText == "exited-normally") {
    stop.exitCode = 0;
  }
  stop.watchExpression = watchpoint.str("exp");
  stop.oldValue = results.str("value", "old");
  stop.newValue = results.has("value") && results["value"].has("new")
                      ? results.str("value", "new")
                      : results.str("value", "value");
  stop.returnValue = results.str("return-value");
  if (stop.stoppedAtEvent()) {
    stop.reason = StopReason::Event;
  }
  return stop;
}

Breakpoint breakpointOf(const Value& bkpt) {
  Breakpoint breakpoint;
  breakpoint.number = bkpt.toInt32Or(0, "number");
  breakpoint.type = bkpt.str("type");
  breakpoint.temporary = bkpt.str("disp") == "del";
  breakpoint.enabled = bkpt.str("enabled") != "n";
  breakpoint.address = bkpt.toAddress("addr");
  breakpoint.function = bkpt.str("func");
  breakpoint.file = bkpt.str("file");
  breakpoint.fullname = bkpt.str("fullname");
  breakpoint.line = bkpt.toInt32Or(0, "line");
  breakpoint.condition = bkpt.str("cond");
  breakpoint.ignoreCount = bkpt.toInt32Or(0, "ignore");
  breakpoint.hits = bkpt.toInt32Or(0, "times");
  breakpoint.pending = bkpt.str("pending");
  breakpoint.what = bkpt.has("what") ? bkpt.str("what") : bkpt.str("exp");
  breakpoint.originalLocation = bkpt.str("original-location");
  for (const auto& field : bkpt["locations"].fields()) {
    breakpoint.locations.push_back(locationOf(field.value));
  }
  if (breakpoint.line == 0 && !breakpoint.locations.empty()) {
    const BreakpointLocation& first = breakpoint.locations.front();
    breakpoint.file = first.file;
    breakpoint.fullname = first.fullname;
    breakpoint.line = first.line;
    breakpoint.function = first.function;
  }
  return breakpoint;
}

Variable variableOf(const Value& value) {
  return {value.str("name"), value.str("type"), optionalText(value["value"]),
          value.str("arg") == "1"};
}

std::vector<Variable> variablesOf(const Value& list) {
  std::vector<Variable> variables;
  for (const auto& field : list.fields()) {
    variables.push_back(variableOf(field.value));
  }
  return variables;
}

std::vector<ThreadInfo> threadsOf(const Value& list) {
  std::vector<ThreadInfo> threads;
  for (const auto& field : list.fields()) {
    const Value& value = field.value;
    threads.push_back({value.toInt32Or(0, "id"), value.str("target-id"), value.str("name"),
                       value.str("state") == "running", frameOf(value["frame"])});
  }
  return threads;
}

VarObject varObjectOf(const Value& value) {
  VarObject object;
  object.name = value.str("name");
  object.expression = value.str("exp");
  object.type = value.str("type");
  object.value = value.str("value");
  object.children = std::max(0, value.toInt32Or(0, "numchild"));
  object.dynamic = value.str("dynamic") == "1";
  object.displayHint = value.str("displayhint");
  // Of a part of another object GDB does not say whether a pretty printer has more: only once it is opened.
  object.hasMore = value.has("has_more") ? value.toInt32Or(0, "has_more") > 0
                                         : object.dynamic && object.displayHint != "string";
  return object;
}

VarPage varPageOf(const Value& results) {
  VarPage page;
  for (const auto& field : results["children"].fields()) {
    page.children.push_back(varObjectOf(field.value));
  }
  page.hasMore = results.toInt32Or(0, "has_more") > 0;
  return page;
}

std::vector<VarChange> varChangesOf(const Value& list) {
  std::vector<VarChange> changes;
  for (const auto& field : list.fields()) {
    const Value& value = field.value;
    VarChange change;
    change.name = value.str("name");
    change.value = optionalText(value["value"]);
    change.inScope = value.str("in_scope") != "false";
    change.invalid = value.str("in_scope") == "invalid";
    change.newType = optionalText(value["new_type"]);
    if (value.has("new_num_children")) {
      change.newChildren = value.toInt32Or(0, "new_num_children");
    }
    change.hasMore = value.toInt32Or(0, "has_more") > 0;
    changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<Library> librariesOf(const Value& results) {
  std::vector<Library> libraries;
  for (const auto& field : results["ranges"].fields()) {
    Library library{results.str("target-name"), field.value.toAddress("from"),
                    field.value.toAddress("to")};
    if (library.from < library.to) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

bool isLibraryFrame(const Frame& frame) {
  // MPICH sends by UCX (libucp …) or by libfabric.
  static constexpr std::array<std::string_view, 20> kLibraries{
      "libphotofinish_", "libmpi",   "libopen-",   "libmca_", "mca_",      "libpmi",  "libfmpich",
      "libucp.",         "libuct",   "libucs",     "libucm",  "libfabric", "libpsm",  "librdmacm",
      "libibverbs",      "libevent", "libpthread", "libc.so", "libc-2.",   "ld-linux"};
  if (startsWith(frame.function, "pf_stop")) {
    return true;
  }
  const std::string_view library = baseName(frame.from);
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [library](std::string_view prefix) { return startsWith(library, prefix); });
}

void nameCall(Frame& frame) {
  constexpr std::string_view kRest = "rest";
  if (startsWith(frame.function, kRest) && startsWith(baseName(frame.from), "libphotofinish_mpi")) {
    frame.function.replace(0, kRest.size(), "MPI_");
  }
}

namespace {

bool isPython(const Frame& frame) {
  return frame.python != 0;
}

/// Between Python and MPI lie frames of mpi4py, and nameless ones; above an import, Python's own: not what the user wrote.
bool isUsersBesidePython(const Frame& frame) {
  return isPython(frame) ? !startsWith(frame.file, "<frozen ")
                         : frame.line > 0 && !isLibraryFrame(frame) &&
                               !startsWith(baseName(frame.from), "MPI.");
}

}  // namespace

std::size_t firstShownFrame(const std::vector<Frame>& frames) {
  const auto found = std::find_if_not(frames.begin(), frames.end(), isLibraryFrame);
  return found == frames.begin() || found == frames.end()
             ? 0
             : static_cast<std::size_t>(found - frames.begin() - 1);
}

std::optional<std::size_t> firstUserFrame(const std::vector<Frame>& frames) {
  const bool python =
      std::any_of(frames.begin(), frames.end(), [](const Frame& frame) { return isPython(frame); });
  const auto found = python ? std::find_if(frames.begin(), frames.end(), isUsersBesidePython)
                            : std::find_if_not(frames.begin(), frames.end(), isLibraryFrame);
  if (found == frames.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - frames.begin());
}

std::optional<std::pair<int, int>> gdbVersionOf(std::string_view text) {
  if (!startsWith(text, "GNU gdb")) {
    return std::nullopt;
  }
  // "GNU gdb (Debian 13.1-3) 13.1\n": the number is the last word of the first line.
  text = text.substr(0, text.find('\n'));
  const std::string_view number = text.substr(text.rfind(' ') + 1);
  int major = 0;
  int minor = 0;
  const char* const end = number.data() + number.size();
  const auto first = std::from_chars(number.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') {
    return std::nullopt;
  }
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) {
    return std::nullopt;
  }
  return std::pair(major, minor);
}

}  // namespace pf::mi
