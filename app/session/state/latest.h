// SPDX-License-Identifier: GPL-3.0-or-later
// Of several questions the latest: an answer to one before comes too late. One thread.
#pragma once

#include <memory>
#include <utility>

namespace pf::session {

template <typename T>
class Latest {
 public:
  /// What an answer goes by: the question, or null if another one has been asked since.
  class Guard {
   public:
    [[nodiscard]] T* get() const { return m_question.lock().get(); }
    explicit operator bool() const { return !m_question.expired(); }

   private:
    friend class Latest;
    explicit Guard(const std::shared_ptr<T>& question) : m_question(question) {}
    std::weak_ptr<T> m_question;
  };

  /// Asks: answers to what was asked before come too late from now on.
  T& begin(T question = {}) {
    m_question = std::make_shared<T>(std::move(question));
    return *m_question;
  }
  /// Nobody waits for an answer any more.
  void drop() { begin(); }
  [[nodiscard]] Guard guard() const { return Guard(m_question); }
  T& operator*() { return *m_question; }
  T* operator->() { return m_question.get(); }
  const T& operator*() const { return *m_question; }
  const T* operator->() const { return m_question.get(); }

 private:
  std::shared_ptr<T> m_question = std::make_shared<T>();
};

/// Of a question that holds nothing.
struct NoQuestion {};

}  // namespace pf::session
