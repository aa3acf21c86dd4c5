// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/python_lines.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "replay_engine/rank/engine/rank_link.h"

extern "C" {
__attribute__((visibility("hidden"), used)) volatile pf::cpython::LineStops pf_python;

/// Where the debugger stops: a line that it wants is about to be executed. Weak: a test puts another one in its place.
__attribute__((noinline, weak, visibility("hidden"), used)) void pf_python_line() {
  __asm__ volatile("nop" ::: "memory");
}
}

namespace pf {

std::atomic<bool> g_tellsLines = false;
std::atomic<bool> g_linesHeard = false;

namespace {

using cpython::kLinePlaces;
using cpython::LineStep;
using Object = void;  ///< PyObject, of any type

// What tracing tells of (cpython/pystate.h).
constexpr int kCall = 0;
constexpr int kLine = 2;
constexpr int kReturn = 3;
constexpr int kEvalInput = 258;  ///< Py_eval_input
constexpr int kFailed = -1;
constexpr long kSuspendable = 0x20 | 0x80 | 0x200;  ///< generators and coroutines (inspect.CO_…)

/// Of CPython's C API, all of it part of 3.11 to 3.13.
struct PythonApi {
  int (*isInitialized)();
  Object* (*threadState)();
  int (*ensure)();
  void (*leave)(int);
  void (*setTrace)(int (*)(Object*, Object*, int, Object*), Object*);
  int (*lineOf)(Object* frame);
  Object* (*codeOf)(Object* frame);
  Object* (*globalsOf)(Object* frame);
  Object* (*localsOf)(Object* frame);
  Object* (*attribute)(Object*, const char*);
  const char* (*utf8)(Object*);
  long (*asLong)(Object*);
  void (*release)(Object*);
  Object* (*ofSys)(const char*);
  Object* (*call)(Object*);
  Object* (*compile)(const char*, const char*, int);
  Object* (*evaluate)(Object*, Object*, Object*);
  int (*isTrue)(Object*);
  Object* (*error)();
  void (*clearError)();
  Object* none;
};
PythonApi g_python;
template <typename T>
bool take(T*& to, const char* name) {
  to = reinterpret_cast<T*>(dlsym(RTLD_DEFAULT, name));
  return to != nullptr;
}

/// Looked for again where it was not there: a program may load it later.
bool isPythonThere() {
  static bool there = false;
  if (there) {
    return true;
  }
  there =
      take(g_python.isInitialized, "Py_IsInitialized") &&
      take(g_python.threadState, "PyGILState_GetThisThreadState") &&
      take(g_python.ensure, "PyGILState_Ensure") && take(g_python.leave, "PyGILState_Release") &&
      take(g_python.setTrace, "PyEval_SetTrace") &&
      take(g_python.lineOf, "PyFrame_GetLineNumber") && take(g_python.codeOf, "PyFrame_GetCode") &&
      take(g_python.globalsOf, "PyFrame_GetGlobals") &&
      take(g_python.localsOf, "PyFrame_GetLocals") &&
      take(g_python.attribute, "PyObject_GetAttrString") &&
      take(g_python.utf8, "PyUnicode_AsUTF8") && take(g_python.asLong, "PyLong_AsLong") &&
      take(g_python.release, "Py_DecRef") && take(g_python.ofSys, "PySys_GetObject") &&
      take(g_python.call, "PyObject_CallNoArgs") && take(g_python.compile, "Py_CompileString") &&
      take(g_python.evaluate, "PyEval_EvalCode") && take(g_python.isTrue, "PyObject_IsTrue") &&
      take(g_python.error, "PyErr_Occurred") && take(g_python.clearError, "PyErr_Clear") &&
      take(g_python.none, "_Py_NoneStruct");
  if (!there) {
    (void)dlerror();  // what it would tell is not the program's
  }
  return there;
}

/// An object that is ours until the end of the block; null where CPython gave none, which is no error of the program's.
class Owned {
 public:
  explicit Owned(Object* object) : m_object(object) {
    if (object == nullptr) {
      g_python.clearError();
    }
  }
  ~Owned() {
    if (m_object != nullptr) {
      g_python.release(m_object);
    }
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] Object* get() const { return m_object; }
  explicit operator bool() const { return m_object != nullptr; }

 private:
  Object* m_object;
};

// Of the thread whose lines are told.
bool g_said = false;  ///< that the program's own trace function is in the way
int g_depth = 0;      ///< calls less returns, since tracing began
int g_stepFrom = 0;   ///< the depth of the frame that is stepped

/// The text that lies there now.
template <std::size_t N>
void copyOut(const volatile char (&from)[N], char (&to)[N]) {
  std::size_t i = 0;
  for (; i + 1 < N && from[i] != '\0'; ++i) {
    to[i] = from[i];
  }
  to[i] = '\0';
}

/// Without "." and what ".." takes back, in place: "/p/tests/../a.py" is /p/a.py.
void shorten(char* path) {
  char* to = path;
  for (const char* from = path; *from != '\0';) {
    const std::size_t length = std::strcspn(from, "/");
    const char* const next = from + length + (from[length] == '/' ? 1 : 0);
    const bool stays = length == 1 && from[0] == '.';
    const bool goesUp = length == 2 && from[0] == '.' && from[1] == '.';
    char* const last =
        to > path + 1
            ? static_cast<char*>(memrchr(path, '/', static_cast<std::size_t>(to - path - 1)))
            : nullptr;
    if (goesUp && to > path + 1 && std::strncmp(last != nullptr ? last + 1 : path, "../", 3) != 0) {
      to = last != nullptr ? last + 1 : path;
    } else if (!stays && !(goesUp && to == path + 1 && path[0] == '/')) {
      std::memmove(to, from, static_cast<std::size_t>(next - from));
      to += next - from;
    }
    from = next;
  }
  *to = '\0';
}

/// The same path, or the last parts of it. Both are shortened.
bool isSameFile(const char* one, const char* other) {
  const std::size_t sizes[2] = {std::strlen(one), std::strlen(other)};
  const bool oneIsLonger = sizes[0] >= sizes[1];
  const char* const longer = oneIsLonger ? one : other;
  const char* const shorter = oneIsLonger ? other : one;
  const std::size_t more = oneIsLonger ? sizes[0] - sizes[1] : sizes[1] - sizes[0];
  return shorter[0] != '\0' && std::strcmp(longer + more, shorter) == 0 &&
         (more == 0 || longer[more - 1] == '/');
}

/// The file of a frame's code, for as long as it lives.
class FileOf {
 public:
  explicit FileOf(Object* frame)
      : m_code(g_python.codeOf(frame)),
        m_name(m_code ? g_python.attribute(m_code.get(), "co_filename") : nullptr) {
    const char* const text = m_name ? g_python.utf8(m_name.get()) : nullptr;
    if (text == nullptr) {
      g_python.clearError();
    }
    m_text = text != nullptr ? text : "";
  }
  [[nodiscard]] const char* text() const { return m_text; }

 private:
  Owned m_code;
  Owned m_name;
  const char* m_text = "";
};

/// Python's answer, in the frame. One that it cannot work out is said, and is a reason to stop.
bool holds(const char* condition, Object* frame) {
  const Owned code(g_python.compile(condition, "<condition of a breakpoint>", kEvalInput));
  const Owned globals(g_python.globalsOf(frame));
  const Owned locals(g_python.localsOf(frame));
  const Owned value(code && globals && locals
                        ? g_python.evaluate(code.get(), globals.get(), locals.get())
                        : nullptr);
  const int answer = value ? g_python.isTrue(value.get()) : kFailed;
  if (answer < 0) {
    g_python.clearError();
    char text[1100];
    std::snprintf(text, sizeof text, "the condition of a breakpoint cannot be worked out: %s",
                  condition);
    sayOfRank(text);
  }
  return answer != 0;
}

std::uint64_t placesAt(Object* frame, std::uint32_t line) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kLinePlaces; ++i) {
    found |= pf_python.lines[i] == line ? std::uint64_t{1} << i : 0;
  }
  if (found == 0 || line == 0) [[likely]] {
    return 0;
  }
  char file[sizeof cpython::LinePlace::file];
  std::snprintf(file, sizeof file, "%s", FileOf(frame).text());
  shorten(file);
  for (std::size_t i = 0; i < kLinePlaces; ++i) {
    if ((found >> i & 1U) == 0) {
      continue;
    }
    cpython::LinePlace place;
    copyOut(pf_python.places[i].file, place.file);
    copyOut(pf_python.places[i].condition, place.condition);
    shorten(place.file);
    const bool stops = isSameFile(file, place.file) &&
                       (place.condition[0] == '\0' || holds(place.condition, frame));
    found &= stops ? ~std::uint64_t{0} : ~(std::uint64_t{1} << i);
  }
  return found;
}

/// Frames of the machinery of imports are nothing that anyone steps into.
bool endsStep(Object* frame) {
  switch (static_cast<LineStep>(pf_python.step)) {
    case LineStep::None:
      return false;
    case LineStep::Into:
      return std::strncmp(FileOf(frame).text(), "<frozen ", std::strlen("<frozen ")) != 0;
    case LineStep::Over:
      return g_depth <= g_stepFrom;
    case LineStep::Out:
      return g_depth < g_stepFrom;
  }
  return false;
}

void lineReached(Object* frame) {
  std::uint64_t reached = placesAt(frame, static_cast<std::uint32_t>(g_python.lineOf(frame)));
  if (pf_python.step != 0 && endsStep(frame)) {
    pf_python.step = 0;
    reached |= std::uint64_t{1} << cpython::kStepBit;
  }
  if (reached != 0) {
    pf_python.reached = reached;
    pf_python_line();
    pf_python.reached = 0;
  }
}

/// It may go on where it has left off.
bool isSuspendable(Object* frame) {
  const Owned code(g_python.codeOf(frame));
  const Owned flags(code ? g_python.attribute(code.get(), "co_flags") : nullptr);
  return flags && (g_python.asLong(flags.get()) & kSuspendable) != 0;
}

/// A frame that is stepped and returns hands the step on to what called it: what that calls next is deeper again.
void returned(Object* frame) {
  --g_depth;
  const auto step = static_cast<LineStep>(pf_python.step);
  if ((step == LineStep::Over || step == LineStep::Out) && g_depth < g_stepFrom &&
      !isSuspendable(frame)) {
    g_stepFrom = g_depth + (step == LineStep::Out ? 1 : 0);
  }
}

/// A Py_tracefunc. The program's own code is not called while it runs, but by conditions, whose lines are not told.
int trace(Object* /*ours*/, Object* frame, int what, Object* /*argument*/) {
  g_linesHeard.store(true, std::memory_order_relaxed);
  if (pf_python.stepIsNew != 0) {  // asked for since the last line, call or return
    pf_python.stepIsNew = 0;
    g_stepFrom = g_depth - pf_python.stepOuter;
  }
  switch (what) {
    case kCall:
      ++g_depth;
      break;
    case kReturn:
      returned(frame);
      break;
    case kLine:
      lineReached(frame);
      break;
    default:
      break;
  }
  return 0;
}

/// A debugger, a profiler of coverage … that is written in Python, or another library's.
bool isTracedByProgram() {
  Object* const getter = g_python.ofSys("gettrace");  // not ours to release
  const Owned now(getter != nullptr ? g_python.call(getter) : nullptr);
  return now && now.get() != g_python.none;
}

/// This thread keeps the interpreter's lock.
void tellLines(bool tell) {
  if (!isTracedByProgram()) {
    g_python.setTrace(tell ? &trace : nullptr, nullptr);
    pf_python.telling = tell ? static_cast<std::uint32_t>(getpid()) : 0;
    return;
  }
  pf_python.telling = 0;
  if (tell && !g_said) {
    g_said = true;
    sayOfRank(
        "breakpoints and steps by lines of Python do nothing here: the program has a trace "
        "function of its own (sys.settrace)");
  }
}

}  // namespace

/// Python's main thread is the process' first. mpi4py calls MPI_Finalize when there is no interpreter any more.
void changePythonLines(bool tell) {
  if (gettid() != getpid()) {
    return;
  }
  if (isPythonThere() && g_python.isInitialized() != 0 && g_python.threadState() != nullptr) {
    const int before = g_python.ensure();
    const bool raises = g_python.error() != nullptr;  // a destructor that calls MPI, say: not now
    if (!raises) {
      tellLines(tell);
    }
    g_python.leave(before);
    if (raises) {
      return;
    }
  } else {
    pf_python.telling = 0;
  }
  g_tellsLines.store(tell, std::memory_order_relaxed);
}

void offerPythonLines() {
  pf_python.ready = 1;
}

void forgetPythonLines() {
  pf_python.wanted = 0;
  pf_python.step = 0;
  for (volatile std::uint32_t& line : pf_python.lines) {
    line = 0;
  }
}

}  // namespace pf
