// SPDX-License-Identifier: GPL-3.0-or-later
// What several ranks say to the same question, as the answer of a command that fails where none of
// them has an answer.
#pragma once

#include <map>

#include <QString>

#include "app/script/language/script_answer.h"

namespace pf::headless {

class RankValues {
 public:
  void clear();
  void add(int rank, const QString& value);
  /// In place of a value.
  void addError(int rank, const QString& why);
  void sayIn(ScriptAnswer& answer) const { answer.sayEqualOnes(m_texts); }
  /// One rank at least has a value.
  [[nodiscard]] bool some() const { return m_some; }
  /// Of the first rank. There is one.
  [[nodiscard]] const QString& first() const { return m_texts.begin()->second; }

 private:
  std::map<int, QString> m_texts;
  bool m_some = false;
};

}  // namespace pf::headless
