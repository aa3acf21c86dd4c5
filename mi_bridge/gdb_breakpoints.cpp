// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/gdb_breakpoints.h"

#include <array>
#include <charconv>
#include <utility>

namespace pf::mi {
namespace {

/// Where every error of an MPI call comes by, whether it is returned or ends the job: Open MPI's,
/// and MPICH's (there for communicators; windows and files have a place of their own).
constexpr std::array<const char*, 2> kMpiErrors{"ompi_errhandler_invoke", "MPIR_Err_return_comm"};

/// Errors that mean "not while the program runs".
bool needsStop(const Error& error) {
  for (const char* text : {"running", "Cannot access memory", "Cannot insert"}) {
    if (error.code == ErrorCode::Peer && error.message.find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

Result<std::string> locationText(const BreakpointRequest& request) {
  if (!request.source.empty() && request.line > 0) {
    const auto source = quote(request.source);
    if (!source) {
      return source.error();
    }
    return "--source " + *source + " --line " + std::to_string(request.line);
  }
  if (!request.function.empty()) {
    const auto function = quote(request.function);
    if (!function) {
      return function.error();
    }
    return "--function " + *function;
  }
  if (request.address != 0) {
    return "*" + hexadecimal(request.address);
  }
  if (!request.addressExpression.empty()) {
    return quote("*" + request.addressExpression);
  }
  return Error{ErrorCode::Usage, "a breakpoint without a place",
               "give a source file and line, a function or an address"};
}

/// mi3 gives one `bkpt`, with its locations inside.
Breakpoint breakpointIn(const Value& results) {
  for (const char* name : {"bkpt", "wpt", "hw-awpt", "hw-rwpt"}) {
    if (const Value& value = results[name]) {
      return breakpointOf(value);
    }
  }
  return {};
}

}  // namespace

Result<std::string> insertCommand(const BreakpointRequest& request) {
  std::string text = "-break-insert -f";
  text += request.temporary ? " -t" : "";
  text += request.enabled ? "" : " -d";
  if (!request.condition.empty()) {
    const auto condition = quote(request.condition);
    if (!condition) {
      return condition.error();
    }
    text += " -c " + *condition;
  }
  if (request.ignoreCount > 0) {
    text += " -i " + std::to_string(request.ignoreCount);
  }
  auto location = locationText(request);
  if (!location) {
    return location.error();
  }
  return text + " " + *location;
}

/// Sends; if GDB wants the program stopped for it, sends once more while it is.
void GdbBreakpoints::send(std::string text, Completion completion) {
  Completion first = [this, text, completion](const Result<ResultRecord>& reply) {
    if (reply || !needsStop(reply.error())) {
      completion(reply);
      return;
    }
    m_whilePaused([this, text, completion] {
      m_queue.push({text, CommandFlag::None, completion});
    });
  };
  m_queue.push({std::move(text), CommandFlag::None, std::move(first)});
}

Breakpoint GdbBreakpoints::store(Breakpoint breakpoint) {
  if (const auto python = m_python.find(breakpoint.number); python != m_python.end()) {
    const PythonPlace& place = python->second.place;
    breakpoint.file = breakpoint.fullname = place.file;
    breakpoint.line = place.line;
    breakpoint.function.clear();
    breakpoint.condition = place.condition;
    breakpoint.locations.clear();
  }
  const bool known = m_table.count(breakpoint.number) != 0;
  m_table[breakpoint.number] = breakpoint;
  m_changed(known ? BreakpointChange::Modified : BreakpointChange::Created, breakpoint);
  return breakpoint;
}

Callback<Breakpoint> GdbBreakpoints::hiding(Callback<Breakpoint> done) {
  return [this, done = std::move(done)](const Result<Breakpoint>& made) {
    if (made) {
      m_hidden.insert(made->number);
    }
    done(made);
  };
}

void GdbBreakpoints::findPython(Callback<PythonTeller> done) {
  send(tellerQuestion(), [this, done = std::move(done)](const Result<ResultRecord>& reply) {
    const Value* const memory = reply ? &reply->results["memory"].at(0) : nullptr;
    const auto teller = memory != nullptr
                            ? tellerOf(memory->toAddress("begin"), bytesOf(memory->str("contents")))
                            : Result<PythonTeller>(reply.error());
    if (!teller || !teller->ready) {
      done(Error{ErrorCode::NotFound,
                 "the rank cannot be told of lines of Python" +
                     (teller ? std::string() : ": " + teller.error().message),
                 "it has to be one of a replay; breakpoints in native code stop others as well"});
      return;
    }
    if (m_lines.address() == 0) {
      m_lines.begin(teller->address);
      m_whilePaused([this] { m_queue.push({m_lines.clearCommand(), CommandFlag::None, {}}); });
    }
    done(*teller);
  });
}

/// The rank is told while it is stopped, and all or nothing. `again`: GDB may take it to be running when it is not.
void GdbBreakpoints::tellPython(const Commands& commands, const std::string& insert, bool again,
                                Callback<Breakpoint> done) {
  m_whilePaused([this, commands, insert, again, done = std::move(done)] {
    const auto told = std::make_shared<Status>();
    for (const std::string& command : commands()) {
      m_queue.push({command, CommandFlag::None, [told](const Result<ResultRecord>& reply) {
                      *told = reply || !*told ? *told : Status(reply.error());
                    }});
    }
    m_queue.push({insert, CommandFlag::None,
                  [this, commands, insert, again, told, done](const Result<ResultRecord>& reply) {
                    if (reply && *told) {
                      done(breakpointIn(reply->results));
                      return;
                    }
                    if (reply) {
                      m_queue.push(
                          {"-break-delete " + std::to_string(breakpointIn(reply->results).number),
                           CommandFlag::None,
                           {}});
                    }
                    const Error why = *told ? reply.error() : told->error();
                    if (again && needsStop(why)) {
                      tellPython(commands, insert, false, done);
                      return;
                    }
                    done(Error{ErrorCode::Peer,
                               "GDB cannot tell the rank of a line of Python: " + why.message,
                               "pause the rank, and try again"});
                  }});
  });
}

/// What holds of this place when the rank is stopped for it.
void GdbBreakpoints::tellOfPlace(std::size_t slot) {
  m_whilePaused([this, slot] {
    for (const std::string& command :
         m_lines.address() != 0 ? m_lines.commandsFor(slot) : std::vector<std::string>()) {
      m_queue.push({command, CommandFlag::None, {}});  // a rank that is gone looks for nothing
    }
  });
}

void GdbBreakpoints::insertPython(const BreakpointRequest& request, Callback<Breakpoint> done) {
  findPython([this, request, done = std::move(done)](const Result<PythonTeller>& teller) {
    if (teller) {
      takePlace(request, done);
    } else {
      done(teller.error());
    }
  });
}

void GdbBreakpoints::takePlace(const BreakpointRequest& request, Callback<Breakpoint> done) {
  const PythonPlace place{request.source, request.line, request.condition, request.enabled};
  const auto slot = m_lines.take(place);
  if (!slot) {
    done(slot.error());
    return;
  }
  BreakpointRequest native;
  native.function = kPythonLineFunction;
  native.condition = m_lines.conditionOf(*slot);
  native.ignoreCount = request.ignoreCount;
  native.temporary = request.temporary;
  native.enabled = request.enabled;
  tellPython([this, slot = *slot] { return m_lines.commandsFor(slot); }, *insertCommand(native),
             true,
             [this, slot = *slot, place, done = std::move(done)](const Result<Breakpoint>& made) {
               if (made) {
                 m_python[made->number] = {slot, place};
               } else {
                 m_lines.release(slot);
                 tellOfPlace(slot);
               }
               done(made);
             });
}

void GdbBreakpoints::insertPythonStep(cpython::LineStep step, int outer,
                                      Callback<Breakpoint> done) {
  BreakpointRequest native;
  native.function = kPythonLineFunction;
  native.condition = m_lines.conditionOf(cpython::kStepBit);
  native.temporary = true;
  const std::vector<std::string> command{m_lines.stepCommand(step, outer)};
  tellPython([command] { return command; }, *insertCommand(native), true, hiding(std::move(done)));
}

void GdbBreakpoints::endPythonStep() {
  m_queue.push({m_lines.stepCommand(cpython::LineStep::None, 0), CommandFlag::None, {}});
}

void GdbBreakpoints::leavePython() {
  if (m_lines.address() != 0) {
    m_queue.push({m_lines.clearCommand(), CommandFlag::None, {}});
    m_lines.begin(0);
  }
}

/// The rank need not look for it any more.
void GdbBreakpoints::forgetPython(int number) {
  const auto found = m_python.find(number);
  if (found == m_python.end()) {
    return;
  }
  const std::size_t slot = found->second.slot;
  m_python.erase(found);
  m_lines.release(slot);
  tellOfPlace(slot);
}

void GdbBreakpoints::make(const BreakpointRequest& request, Callback<Breakpoint> done) {
  if (isPythonSource(request.source) && request.line > 0) {
    insertPython(request, std::move(done));
    return;
  }
  auto command = insertCommand(request);
  if (!command) {
    done(command.error());
    return;
  }
  send(std::move(*command), [done = std::move(done)](const Result<ResultRecord>& reply) {
    done(reply ? Result<Breakpoint>(breakpointIn(reply->results)) : reply.error());
  });
}

void GdbBreakpoints::insert(const BreakpointRequest& request, Callback<Breakpoint> done) {
  make(request, [this, done = std::move(done)](const Result<Breakpoint>& made) {
    done(made ? Result<Breakpoint>(store(*made)) : made);
  });
}

void GdbBreakpoints::insertHidden(const BreakpointRequest& request, Callback<Breakpoint> done) {
  make(request, hiding(std::move(done)));
}

void GdbBreakpoints::watch(const std::string& expression, WatchKind kind,
                           Callback<Breakpoint> done) {
  const auto quoted = quote(expression);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  const std::string option = kind == WatchKind::Read     ? "-r "
                             : kind == WatchKind::Access ? "-a "
                                                         : "";
  send("-break-watch " + option + *quoted,
       [this, done = std::move(done)](const Result<ResultRecord>& reply) {
         if (!reply) {
           done(reply.error());
           return;
         }
         Breakpoint breakpoint = breakpointIn(reply->results);
         breakpoint.type = "watchpoint";
         store(breakpoint);
         done(breakpoint);
       });
}

void GdbBreakpoints::catchpoint(const std::string& what, Callback<Breakpoint> done) {
  if (what.rfind("signal", 0) == 0) {
    insertByConsole("catch " + what, std::move(done));
    return;
  }
  if (what == "mpi error") {
    catchMpiError(0, std::move(done));
    return;
  }
  send("-catch-" + what, [this, what, done = std::move(done)](const Result<ResultRecord>& reply) {
    if (!reply) {
      done(reply.error());
      return;
    }
    Breakpoint breakpoint = breakpointIn(reply->results);
    breakpoint.what = what;
    store(breakpoint);
    done(breakpoint);
  });
}

void GdbBreakpoints::catchMpiError(std::size_t library, Callback<Breakpoint> done) {
  BreakpointRequest request;
  request.addressExpression = kMpiErrors.at(library);
  insert(request, [this, library, done = std::move(done)](const Result<Breakpoint>& made) {
    const bool unknown = !made && made.error().message.find("No symbol") != std::string::npos;
    if (unknown && library + 1 < kMpiErrors.size()) {
      catchMpiError(library + 1, done);
    } else if (unknown) {
      done(Error{
          ErrorCode::NotFound,
          "where this rank's MPI library handles errors is not known (Open MPI and MPICH are)",
          "set a breakpoint on MPI_Abort, or on the function that checks what MPI returns"});
    } else {
      done(made);
    }
  });
}

void GdbBreakpoints::insertByConsole(const std::string& command, Callback<Breakpoint> done) {
  const auto quoted = quote(command);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  m_created = 0;
  send("-interpreter-exec console " + *quoted,
       [this, done = std::move(done)](const Result<ResultRecord>& reply) {
         const Breakpoint* const made = reply ? find(std::exchange(m_created, 0)) : nullptr;
         if (made == nullptr) {
           done(reply ? Error{ErrorCode::Peer, "GDB made no breakpoint of it", {}} : reply.error());
           return;
         }
         done(Breakpoint(*made));
       });
}

void GdbBreakpoints::setCommands(int number, const std::vector<std::string>& commands, Done done) {
  std::string text = "-break-commands " + std::to_string(number);
  for (const std::string& command : commands) {
    const auto quoted = quote(command);
    if (!quoted) {
      done(quoted.error());
      return;
    }
    text += " " + *quoted;
  }
  send(std::move(text), [done = std::move(done)](const Result<ResultRecord>& reply) {
    done(reply ? Status() : Status(reply.error()));
  });
}

void GdbBreakpoints::remove(int number, Done done) {
  forgetPython(number);
  send("-break-delete " + std::to_string(number),
       [this, number, done = std::move(done)](const Result<ResultRecord>& reply) {
         m_hidden.erase(number);
         const auto found = m_table.find(number);
         if (reply && found != m_table.end()) {
           const Breakpoint gone = found->second;
           m_table.erase(found);
           m_changed(BreakpointChange::Deleted, gone);
         }
         if (done) {
           done(reply ? Status() : Status(reply.error()));
         }
       });
}

void GdbBreakpoints::removeAll() {
  m_python.clear();
  m_lines.begin(0);  // the rank is another one
  std::set<int> numbers = m_hidden;
  for (const auto& [number, breakpoint] : m_table) {
    numbers.insert(number);
  }
  for (const int number : numbers) {
    remove(number, {});
  }
}

/// A command that changes one breakpoint; GDB says nothing of the change, so `apply` keeps the
/// table.
void GdbBreakpoints::change(int number, std::string text, std::function<void(Breakpoint&)> apply,
                            Done done) {
  send(std::move(text), [this, number, apply = std::move(apply),
                         done = std::move(done)](const Result<ResultRecord>& reply) {
    const auto found = m_table.find(number);
    if (reply && found != m_table.end()) {
      apply(found->second);
      const Breakpoint changed = found->second;
      m_changed(BreakpointChange::Modified, changed);
    }
    if (done) {
      done(reply ? Status() : Status(reply.error()));
    }
  });
}

void GdbBreakpoints::enable(int number, bool enabled, Done done) {
  if (const auto python = m_python.find(number); python != m_python.end()) {
    m_lines.enable(python->second.slot, enabled);
    tellOfPlace(python->second.slot);
  }
  change(
      number, (enabled ? "-break-enable " : "-break-disable ") + std::to_string(number),
      [enabled](Breakpoint& breakpoint) { breakpoint.enabled = enabled; }, std::move(done));
}

void GdbBreakpoints::setCondition(int number, const std::string& condition, Done done) {
  if (m_python.contains(number)) {
    done(Error{ErrorCode::Usage, "the condition of a line of Python is the rank's, not GDB's",
               "make the breakpoint anew"});
    return;
  }
  // -break-condition splits its argument differently from version to version; the console does not.
  const auto quoted = quote("condition " + std::to_string(number) + " " + condition);
  if (!quoted) {
    done(quoted.error());
    return;
  }
  change(
      number, "-interpreter-exec console " + *quoted,
      [condition](Breakpoint& breakpoint) { breakpoint.condition = condition; }, std::move(done));
}

void GdbBreakpoints::setIgnoreCount(int number, int count, Done done) {
  change(
      number, "-break-after " + std::to_string(number) + " " + std::to_string(count),
      [count](Breakpoint& breakpoint) { breakpoint.ignoreCount = count; }, std::move(done));
}

const Breakpoint* GdbBreakpoints::find(int number) const {
  const auto found = m_table.find(number);
  return found == m_table.end() ? nullptr : &found->second;
}

void GdbBreakpoints::notify(const AsyncRecord& record) {
  if (record.asyncClass == "breakpoint-deleted") {
    const int number = record.results.toInt32Or(0, "id");
    forgetPython(number);
    m_hidden.erase(number);
    const auto found = m_table.find(number);
    if (found != m_table.end()) {
      const Breakpoint gone = found->second;
      m_table.erase(found);
      m_changed(BreakpointChange::Deleted, gone);
    }
    return;
  }
  const Breakpoint breakpoint = breakpointIn(record.results);
  if (breakpoint.number > 0 && m_hidden.count(breakpoint.number) == 0) {
    m_created = record.asyncClass == "breakpoint-created" ? breakpoint.number : m_created;
    store(breakpoint);
  }
}

void GdbBreakpoints::clear() {
  m_table.clear();
  m_hidden.clear();
  m_python.clear();
  m_lines.begin(0);
}

}  // namespace pf::mi
