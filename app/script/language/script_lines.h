// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a script that are still to be carried out, in their order, and which one it is at.
#pragma once

#include <deque>
#include <optional>
#include <string>

namespace pf::headless {

class ScriptLines {
 public:
  /// `name`: of the script, for messages. `typed`: by somebody, so that an error ends nothing.
  ScriptLines(std::string name, bool typed) : m_name(std::move(name)), m_typed(typed) {}

  void add(const std::string& line) { m_lines.push_back(line); }
  void noMore() { m_noMore = true; }
  /// Those that are left are for nothing.
  void end();
  /// The next one; nothing: there is none by now.
  [[nodiscard]] std::optional<std::string> take();
  [[nodiscard]] bool isEmpty() const { return m_lines.empty(); }
  /// None is there, and none comes.
  [[nodiscard]] bool isOver() const { return m_lines.empty() && m_noMore; }
  [[nodiscard]] bool isTyped() const { return m_typed; }
  /// "walk.txt:3: " of the line that was taken last; empty where the lines are typed.
  [[nodiscard]] std::string place() const;

 private:
  std::string m_name;
  bool m_typed;
  std::deque<std::string> m_lines;
  bool m_noMore = false;
  int m_number = 0;  ///< of the line that was taken last, from 1
};

}  // namespace pf::headless
