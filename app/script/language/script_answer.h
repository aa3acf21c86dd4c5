// SPDX-License-Identifier: GPL-3.0-or-later
// The answer to the present command of a script: what is said, and how the command ends.
//
// - Each line begins with its ranks: "[0-2] 42".
// - A command ends once, by done() or fail(). Whatever would end it after that does nothing.
// - The answer before is kept for 'expect', unless a command takes its place.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <QList>
#include <QString>
#include <QStringList>

namespace pf::headless {

class ScriptAnswer {
 public:
  /// `failure`: why the command has failed, which may be empty; nothing: it is done.
  using Ended = std::function<void(const std::optional<QString>& failure)>;
  /// What goes with no command's answer.
  struct Besides {
    std::function<void(const QString& text)> told;  ///< by the session: warnings, what has happened
    std::function<void(const std::string& lines)> printed;  ///< by ranks, each line with its rank
  };
  /// Both there, the former as "photofinish: …".
  [[nodiscard]] static Besides standardError();

  explicit ScriptAnswer(Ended ended, Besides besides = standardError())
      : m_ended(std::move(ended)), m_besides(std::move(besides)) {}
  [[nodiscard]] const Besides& besides() const { return m_besides; }

  /// A command begins. It leaves the answer before for 'expect' as it is.
  void begin();
  /// … or takes its place.
  void replaceLast() { m_keepsLast = false; }
  void keepLast() { m_keepsLast = true; }
  /// A command has begun, and has not ended.
  [[nodiscard]] bool isOpen() const { return m_open; }
  /// It ends, and nobody hears of it.
  void drop() { m_open = false; }

  void say(const QList<int>& ranks, const QString& text);
  void sayForAll(const QString& text);
  void sayPlain(const QString& text) { m_lines << text; }
  /// One line for each text, with the ranks that have it.
  void sayEqualOnes(const std::map<int, QString>& texts);

  void done() { end({}); }
  void fail(const QString& why) { end(why); }

  [[nodiscard]] const QStringList& lines() const { return m_lines; }
  [[nodiscard]] const QStringList& last() const { return m_last; }

 private:
  void end(const std::optional<QString>& failure);

  Ended m_ended;
  Besides m_besides;
  QStringList m_lines;
  QStringList m_last;
  bool m_open = false;
  bool m_keepsLast = false;
};

}  // namespace pf::headless
