// SPDX-License-Identifier: GPL-3.0-or-later
// The lines that a rank is walked through by steps, on the way to where it has been before: how it goes on from each, and
// which of them is the line before. Calls that are gone back over are stepped over, and one that is stood in is returned
// from: what they do is no line of these. It knows no GDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mi_bridge/gdb_session.h"

namespace pf::session {

enum class LineMove : int {
  Step,    ///< to the line before, whatever function that is in
  Next,    ///< to the line before in this function or one that has called it
  Finish,  ///< to the line that called this function
};

struct LinePlace {
  std::string function;  ///< empty: before an event
  std::string file;
  int line = 0;
  int depth = 0;              ///< frames of the program, 0: not asked for
  std::uint64_t address = 0;  ///< in this cycle
  [[nodiscard]] bool isAt(const LinePlace& other) const {
    return function == other.function && file == other.file && line == other.line;
  }
};

class LineWalk {
 public:
  LineWalk() = default;
  /// `depth`: of where the rank is gone back from.
  LineWalk(LineMove move, int depth);

  void clear() { m_steps.clear(); }
  void beginsBeforeEvent() { came({}); }
  /// The first instruction of a function: its line has not begun.
  void beginsAtEntry(LinePlace place);
  void came(LinePlace place);
  /// How it goes on from the last place, if not as it would by itself.
  void goesOnBy(mi::RunKind kind) { m_steps.back().onwards = kind; }
  /// What is known of the i-th place later than that.
  void isDeep(std::size_t i, int depth);

  [[nodiscard]] std::size_t size() const { return m_steps.size(); }
  [[nodiscard]] const LinePlace& place(std::size_t i) const { return m_steps[i].place; }
  [[nodiscard]] const LinePlace& last() const { return m_steps.back().place; }
  /// How to go on from the last.
  [[nodiscard]] mi::RunKind onwards() const { return m_steps.back().onwards; }
  [[nodiscard]] mi::RunKind onwards(std::size_t i) const { return m_steps[i].onwards; }
  /// The steps from the first to the i-th.
  [[nodiscard]] std::vector<mi::RunKind> stepsTo(std::size_t i) const;
  /// Without those behind the i-th.
  void endAt(std::size_t i) { m_steps.resize(i + 1); }
  void endBefore(std::size_t i) { m_steps.resize(i); }
  /// Without those before the i-th.
  void beginAt(std::size_t i);
  void dropLast() { m_steps.pop_back(); }
  /// Of a walk in a function of this depth, that its frame was in, or one like it.
  [[nodiscard]] bool wasIn(const LinePlace& place) const;
  /// Whether it has all lines between the one before the last and the last: of what was stepped over there are none.
  [[nodiscard]] bool knows(LineMove move) const;

  /// Which one is the line before for whoever goes back so from this depth. Before an event is the last resort: a call of
  /// MPI lies on the way. `begun`: also in the middle of a line, where a call has returned that was stood in.
  [[nodiscard]] std::optional<std::size_t> before(LineMove move, int depth,
                                                  bool begun = false) const;

 private:
  struct Step {
    LinePlace place;
    mi::RunKind onwards = mi::RunKind::Step;
    bool begins = true;  ///< the line, as far as is known
  };
  /// As the place of the step behind the first `count`.
  [[nodiscard]] bool begins(const LinePlace& place, std::size_t count) const;

  int m_limit = 0;  ///< deeper frames are not looked into
  std::vector<Step> m_steps;
};

}  // namespace pf::session
