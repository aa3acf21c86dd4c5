// SPDX-License-Identifier: GPL-3.0-or-later
// Frames and variables of Python in a rank that GDB has stopped. GDB reads the rank's memory, page by page; mi_bridge/python
// makes sense of it. No debug information is needed: _PyRuntime and Py_Version are symbols that CPython exports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mi_bridge/command_queue.h"
#include "mi_bridge/python/frames.h"
#include "mi_bridge/records.h"
#include "replay_engine/base/result.h"

namespace pf::mi {

/// The interpreter executes Python in this frame.
[[nodiscard]] bool executesPython(const Frame& frame);

/// Of a thread's target-id: "Thread 0x7f2de81a8040 (LWP 31224)", "LWP 31224", "process 31224".
[[nodiscard]] python::ThreadKey threadKeyOf(const std::string& target);

/// Memory as GDB writes it: hexadecimal digits, in lower case. Empty where they are none.
[[nodiscard]] std::string bytesOf(const std::string& digits);

/// `native` with Python's frames in place of the interpreter's own, numbered anew. Frames of other libraries stay, with
/// their numbers of GDB in `gdbLevel`. `python`: of the same thread, the innermost one first.
[[nodiscard]] std::vector<Frame> mixFrames(const std::vector<Frame>& native,
                                           const std::vector<python::Frame>& python);

class PythonStacks {
 public:
  template <typename T>
  using Answer = std::function<void(Result<T>)>;

  explicit PythonStacks(CommandQueue& queue) : m_queue(queue) {}

  /// `native`, frames of GDB's thread `thread` (0: the selected one), mixed with Python's where it executes any. They stay as
  /// they are, and problem() says why, where Python's cannot be read. Fails only when the rank goes on meanwhile.
  void mix(int thread, std::vector<Frame> native, const Answer<std::vector<Frame>>& done);
  /// Of a frame that mix() gave, by its `python`.
  void locals(std::uint64_t frame, const Answer<std::vector<Variable>>& done);
  void globals(std::uint64_t frame, const Answer<std::vector<Variable>>& done);
  /// The value of a variable, by its name, as Python looks it up: local, then global; or of a part of it (python/path.h).
  /// Nothing else is evaluated, and nothing is called.
  void evaluate(std::uint64_t frame, const std::string& path, const Answer<std::string>& done);
  /// The same, to be opened.
  void object(std::uint64_t frame, const std::string& path, const Answer<VarObject>& done);
  /// Parts first..first+count-1 of what object() or parts() gave, by its name, until the rank goes on.
  void parts(const std::string& name, int first, int count, const Answer<VarPage>& done);

  /// Why the last stack shows no Python, and what helps, as a sentence; empty: it shows all there is.
  [[nodiscard]] const std::string& problem() const { return m_problem; }

 private:
  struct Question;
  using Asked = std::shared_ptr<Question>;
  template <typename T>
  using Read =
      std::function<Result<T>(python::Memory&, const python::Layout&, std::uint64_t runtime)>;

  template <typename T>
  void ask(Read<T> read, Answer<T> done);
  void askSymbols(const Asked& question);
  void takeVersion(const Asked& question, const Result<ResultRecord>& reply);
  void go(const Asked& question);
  void askPage(const Asked& question, std::uint64_t address);
  void takePage(const Asked& question, std::uint64_t address, const Result<ResultRecord>& reply);
  void askThread(int thread, std::vector<Frame> native, const Answer<std::vector<Frame>>& done);
  void readMixed(python::ThreadKey thread, std::vector<Frame> native,
                 const Answer<std::vector<Frame>>& done);

  CommandQueue& m_queue;
  std::string m_problem;
};

}  // namespace pf::mi
