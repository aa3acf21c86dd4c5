// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/awaited_answers.h"

namespace pf::headless {

void AwaitedAnswers::ask(const std::set<int>& ranks, const std::function<void(int rank)>& askOne,
                         std::function<void()> then) {
  m_question.begin({.missing = ranks, .then = std::move(then), .asking = true});
  const auto guard = m_question.guard();
  for (const int rank : ranks) {
    askOne(rank);
    if (!guard) {
      return;
    }
  }
  m_question->asking = false;
  complete();
}

void AwaitedAnswers::answered(int rank) {
  m_question->missing.erase(rank);
  complete();
}

void AwaitedAnswers::complete() {
  if (!m_question->asking && m_question->missing.empty() && m_question->then) {
    std::exchange(m_question->then, {})();
  }
}

QList<int> AwaitedAnswers::silent() const {
  return {m_question->missing.begin(), m_question->missing.end()};
}

}  // namespace pf::headless
