// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python_stacks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "mi_bridge/python/layout.h"
#include "mi_bridge/python/lines.h"
#include "mi_bridge/python/paged_memory.h"
#include "mi_bridge/python/parts.h"
#include "mi_bridge/python_handle.h"

namespace pf::mi {
namespace {

constexpr const char* kOtherInterpreter =
    "No Python is shown: the interpreter behind the symbol _PyRuntime does not know this thread; "
    "the rank may have loaded two of them.";
constexpr std::size_t kMostPages = 4096;  ///< 16 MiB
constexpr int kMostRounds = 1000;         ///< each needs at least one page more

// Memory at a symbol: readable in any of GDB's languages, without a type.
constexpr const char* kRuntime = "-data-read-memory-bytes &_PyRuntime 8";
constexpr const char* kVersion = "-data-read-memory-bytes &Py_Version 8";

/// What GDB says of memory that is not there. All else means that the rank is not at rest, or GDB in trouble.
bool isUnreadable(const Error& error) {
  return error.code == ErrorCode::Peer && error.message.find("memory") != std::string::npos;
}

std::uint64_t number(std::string_view text, int base) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

int digitOf(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// A source of CPython's own, as its build names them.
bool isInterpreterSource(const std::string& file) {
  static constexpr std::array<std::string_view, 5> kFolders{"Python/", "Objects/", "Modules/",
                                                            "Programs/", "Include/"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&file](std::string_view folder) {
    const auto at = file.rfind(folder);
    return at != std::string::npos && (at == 0 || file[at - 1] == '/');
  });
}

bool isInterpreterFrame(const Frame& frame, const std::string& module) {
  return frame.from == module && (frame.line == 0 || isInterpreterSource(frame.file));
}

Frame pythonFrame(const python::Frame& frame, const Frame& native) {
  Frame out;
  out.gdbLevel = native.gdbLevel;
  out.address = native.address;
  out.function = frame.function.empty() ? "?" : frame.function;
  out.file = frame.file;
  out.fullname = frame.file.starts_with('/') ? frame.file : std::string();
  out.line = frame.line;
  out.python = frame.address;
  return out;
}

/// Python's frames by call of _PyEval_EvalFrameDefault, which may execute several.
std::vector<std::vector<python::Frame>> byCall(const std::vector<python::Frame>& frames) {
  std::vector<std::vector<python::Frame>> calls;
  bool begins = true;
  for (const python::Frame& frame : frames) {
    if (std::exchange(begins, frame.entry)) {
      calls.emplace_back();
    }
    if (frame.shown) {
      calls.back().push_back(frame);
    }
  }
  return calls;
}

std::vector<Variable> variablesFrom(const std::vector<python::Variable>& variables) {
  std::vector<Variable> out;
  out.reserve(variables.size());
  for (const python::Variable& each : variables) {
    out.push_back({each.name, each.type, each.value, each.argument,
                   each.object != 0 ? PythonHandle{{each.object, 0, 0}, each.name}.text() : ""});
  }
  return out;
}

Error notAName(const std::string& text) {
  return Error{ErrorCode::Usage,
               "in a frame of Python the values of variables are shown, by their names, and cannot "
               "be changed: '" +
                   text + "' is no name, and none with .attribute, [number] or ['text'] behind it",
               "give the name of a variable, or the way from it to a part, as w.items[-1]['size']"};
}

/// Of Python, not of GDB or of a rank that has gone on.
bool isFaultOfPython(const Error& error) {
  return error.code == ErrorCode::Version || error.code == ErrorCode::Damaged ||
         error.code == ErrorCode::NotFound;
}

std::string sentence(const Error& error) {
  return "No Python is shown: " + error.message + "; " + error.advice + ".";
}

}  // namespace

std::string bytesOf(const std::string& digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = digitOf(digits[i]);
    const int low = digitOf(digits[i + 1]);
    if (high < 0 || low < 0) {
      return {};
    }
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

python::ThreadKey threadKeyOf(const std::string& target) {
  const auto behind = [&target](std::string_view word, int base) {
    const auto at = target.find(word);
    return at == std::string::npos
               ? 0
               : number(std::string_view(target).substr(at + word.size()), base);
  };
  python::ThreadKey key{behind("Thread 0x", 16), behind("LWP ", 10)};
  key.native = key.native != 0 ? key.native : behind("process ", 10);
  return key;
}

bool executesPython(const Frame& frame) {
  return frame.function.starts_with("_PyEval_EvalFrameDefault");
}

std::vector<Frame> mixFrames(const std::vector<Frame>& native,
                             const std::vector<python::Frame>& python) {
  const auto calls = byCall(python);
  const auto evaluating = std::find_if(native.begin(), native.end(), executesPython);
  if (calls.empty() || evaluating == native.end()) {
    return native;
  }
  const auto inNative =
      static_cast<std::size_t>(std::count_if(native.begin(), native.end(), executesPython));
  // Stopped for a line of Python (python_lines.h): what told of it is no part of the program.
  const bool atLine = native.front().function == kPythonLineFunction;
  // One that has just been called executes nothing yet.
  std::size_t fresh = inNative > calls.size() ? inNative - calls.size() : 0;
  auto call = calls.begin();
  std::vector<Frame> out;
  for (auto at = atLine ? evaluating : native.begin(); at != native.end(); ++at) {
    const Frame& frame = *at;
    if (executesPython(frame) && fresh == 0 && call != calls.end()) {
      for (const python::Frame& each : *call++) {
        out.push_back(pythonFrame(each, frame));
      }
    } else if (executesPython(frame) || !isInterpreterFrame(frame, evaluating->from)) {
      fresh -= executesPython(frame) && fresh > 0 ? 1U : 0U;
      out.push_back(frame);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].level = static_cast<int>(i);
  }
  return out;
}

/// What is to be read, again and again until nothing is missing.
struct PythonStacks::Question {
  python::PagedMemory memory{kMostPages};
  std::uint64_t runtime = 0;
  std::uint64_t version = 0;
  int rounds = 0;
  std::size_t pending = 0;
  std::function<bool()> read;  ///< true: its answer may be given
  std::function<void(const Error&)> fail;
  bool failed = false;
};

template <typename T>
void PythonStacks::ask(Read<T> read, Answer<T> done) {
  auto question = std::make_shared<Question>();
  question->read = [read = std::move(read), done, raw = question.get()] {
    const auto layout = python::layoutOf(raw->memory, raw->runtime, raw->version);
    Result<T> answer =
        layout ? read(raw->memory, *layout, raw->runtime) : Result<T>(layout.error());
    if (raw->memory.hasMissing()) {
      return false;
    }
    done(std::move(answer));
    return true;
  };
  question->fail = [done](const Error& error) { done(error); };
  askSymbols(question);
}

void PythonStacks::askSymbols(const Asked& question) {
  m_queue.push({kRuntime, CommandFlag::Discardable, [question](const Result<ResultRecord>& reply) {
                  question->runtime = reply ? reply->results["memory"].at(0).toAddress("begin") : 0;
                }});
  m_queue.push(
      {kVersion, CommandFlag::Discardable,
       [this, question](const Result<ResultRecord>& reply) { takeVersion(question, reply); }});
}

void PythonStacks::takeVersion(const Asked& question, const Result<ResultRecord>& reply) {
  if (!reply && reply.error().code != ErrorCode::Peer) {
    question->fail(reply.error());
    return;
  }
  if (question->runtime == 0) {
    question->fail(Error{ErrorCode::NotFound, "GDB finds no symbol _PyRuntime in this rank",
                         "install the debug information of its Python (Debian: python3-dbg)"});
    return;
  }
  const std::string bytes =
      reply ? bytesOf(reply->results["memory"].at(0).str("contents")) : std::string();
  if (bytes.size() == sizeof question->version) {
    std::memcpy(&question->version, bytes.data(), bytes.size());
  }
  go(question);
}

/// Reads; asks for what is missing, all at once.
void PythonStacks::go(const Asked& question) {
  if (question->read()) {
    return;
  }
  const std::vector<std::uint64_t> missing = question->memory.takeMissing();
  if (missing.empty() || question->memory.exhausted() || ++question->rounds > kMostRounds) {
    question->fail(Error{ErrorCode::Damaged,
                         "the interpreter's data do not end, or there are too many of them",
                         "if these are parts of a large value, those in front can be read; else "
                         "its memory is damaged"});
    return;
  }
  question->pending = missing.size();
  for (const std::uint64_t address : missing) {
    askPage(question, address);
  }
}

void PythonStacks::askPage(const Asked& question, std::uint64_t address) {
  m_queue.push({"-data-read-memory-bytes " + std::to_string(address) + " " +
                    std::to_string(python::PagedMemory::kPage),
                CommandFlag::Discardable,
                [this, question, address](const Result<ResultRecord>& reply) {
                  takePage(question, address, reply);
                }});
}

void PythonStacks::takePage(const Asked& question, std::uint64_t address,
                            const Result<ResultRecord>& reply) {
  --question->pending;
  if (question->failed) {
    return;
  }
  if (!reply && !isUnreadable(reply.error())) {
    question->failed = true;
    question->fail(reply.error());
    return;
  }
  const bool here = reply && reply->results["memory"].at(0).toAddress("begin") == address;
  question->memory.add(
      address, here ? bytesOf(reply->results["memory"].at(0).str("contents")) : std::string());
  if (question->pending == 0) {
    go(question);
  }
}

void PythonStacks::mix(int thread, std::vector<Frame> native,
                       const Answer<std::vector<Frame>>& done) {
  m_problem.clear();
  if (std::none_of(native.begin(), native.end(), executesPython)) {
    done(std::move(native));
    return;
  }
  askThread(thread, std::move(native), done);
}

void PythonStacks::askThread(int thread, std::vector<Frame> native,
                             const Answer<std::vector<Frame>>& done) {
  m_queue.push(
      {"-thread-info" + (thread > 0 ? " " + std::to_string(thread) : std::string()),
       CommandFlag::Discardable,
       [this, thread, native = std::move(native), done](const Result<ResultRecord>& reply) mutable {
         if (!reply) {
           done(reply.error());
           return;
         }
         const int wanted = thread > 0 ? thread : reply->results.toInt32Or(0, "current-thread-id");
         python::ThreadKey key;
         for (const ThreadInfo& each : threadsOf(reply->results["threads"])) {
           key = each.id == wanted ? threadKeyOf(each.target) : key;
         }
         readMixed(key, std::move(native), done);
       }});
}

void PythonStacks::readMixed(python::ThreadKey thread, std::vector<Frame> native,
                             const Answer<std::vector<Frame>>& done) {
  using Frames = std::vector<python::Frame>;
  const auto read = [thread](python::Memory& memory, const python::Layout& layout,
                             std::uint64_t runtime) {
    return python::readFrames(memory, layout, runtime, thread);
  };
  ask<Frames>(read, [this, native = std::move(native), done](const Result<Frames>& frames) {
    if (frames) {
      m_problem = frames->empty() ? kOtherInterpreter : "";
      done(mixFrames(native, *frames));
    } else if (!isFaultOfPython(frames.error())) {
      done(frames.error());
    } else {
      m_problem = sentence(frames.error());
      done(native);
    }
  });
}

void PythonStacks::locals(std::uint64_t frame, const Answer<std::vector<Variable>>& done) {
  using Variables = std::vector<python::Variable>;
  const auto read = [frame](python::Memory& memory, const python::Layout& layout, std::uint64_t) {
    return python::readLocals(memory, layout, frame, python::Names::Own);
  };
  ask<Variables>(read, [done](const Result<Variables>& found) {
    done(found ? Result<std::vector<Variable>>(variablesFrom(*found)) : found.error());
  });
}

void PythonStacks::globals(std::uint64_t frame, const Answer<std::vector<Variable>>& done) {
  using Variables = std::vector<python::Variable>;
  const auto read = [frame](python::Memory& memory, const python::Layout& layout, std::uint64_t) {
    return python::readGlobals(memory, layout, frame, python::Names::Own);
  };
  ask<Variables>(read, [done](const Result<Variables>& found) {
    done(found ? Result<std::vector<Variable>>(variablesFrom(*found)) : found.error());
  });
}

void PythonStacks::object(std::uint64_t frame, const std::string& path,
                          const Answer<VarObject>& done) {
  const auto way = python::pathOf(path);
  if (!way) {
    done(notAName(path));
    return;
  }
  const auto read = [frame, way](python::Memory& memory, const python::Layout& layout,
                                 std::uint64_t) {
    return python::readPath(memory, layout, frame, *way);
  };
  ask<python::Value>(read, [path, done](const Result<python::Value>& value) {
    done(value ? Result<VarObject>(pythonVarOf(*value, path, path)) : value.error());
  });
}

void PythonStacks::evaluate(std::uint64_t frame, const std::string& path,
                            const Answer<std::string>& done) {
  object(frame, path, [done](const Result<VarObject>& value) {
    done(value ? Result<std::string>(value->value) : value.error());
  });
}

void PythonStacks::parts(const std::string& name, int first, int count,
                         const Answer<VarPage>& done) {
  const auto whole = PythonHandle::from(name);
  if (!whole || first < 0 || count < 0) {
    done(Error{ErrorCode::Usage, "'" + name + "' is no value of Python", {}});
    return;
  }
  const auto read = [place = whole->place, first, count](
                        python::Memory& memory, const python::Layout& layout,
                        std::uint64_t) -> Result<python::PartPage> {
    return python::readParts(memory, layout, place, static_cast<std::size_t>(first),
                             static_cast<std::size_t>(count));
  };
  ask<python::PartPage>(read, [whole = *whole, done](const Result<python::PartPage>& page) {
    done(page ? Result<VarPage>(pythonPageOf(*page, whole)) : page.error());
  });
}

}  // namespace pf::mi
