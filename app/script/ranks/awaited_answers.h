// SPDX-License-Identifier: GPL-3.0-or-later
// What the present command of a script has asked, of the GDBs of ranks or of others, and waits for.
// An answer that comes after the command's end, or after another question, does nothing.
#pragma once

#include <functional>
#include <set>
#include <utility>

#include <QList>

#include "app/session/state/latest.h"

namespace pf::headless {

class AwaitedAnswers {
 public:
  /// Something that is not asked of ranks, or not of each.
  void begin() { m_question.begin(); }
  /// Asks each of `ranks` by `askOne`; `then` once each has answered(), and not before all are asked.
  void ask(const std::set<int>& ranks, const std::function<void(int rank)>& askOne,
           std::function<void()> then);
  /// To the present question: from within inTime().
  void answered(int rank);
  /// Nobody waits any more.
  void drop() { m_question.drop(); }
  /// Ranks that have not answered.
  [[nodiscard]] QList<int> silent() const;

  /// `take` for an answer to the present question, where it comes in time.
  template <typename Take>
  [[nodiscard]] auto inTime(Take take) const {
    return [guard = m_question.guard(), take = std::move(take)](const auto&... answer) {
      if (guard) {
        take(answer...);
      }
    };
  }

 private:
  struct Question {
    std::set<int> missing;
    std::function<void()> then;
    bool asking = false;  ///< not all have been asked
  };
  void complete();

  session::Latest<Question> m_question;
};

}  // namespace pf::headless
