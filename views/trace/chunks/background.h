// SPDX-License-Identifier: GPL-3.0-or-later
// Works something out away from the thread that asked for it, and gives it there. QtCore only.
#pragma once

#include <memory>
#include <utility>

#include <QFutureWatcher>
#include <QObject>
#include <QPromise>
#include <QThreadPool>

namespace pf::views {

/// Of several runs only the last one's result is delivered; none after the destruction.
template <typename T>
class Background {
 public:
  Background() = default;
  ~Background() { forget(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// `compute()` on another thread, then `done(T)` on this one. It must hold what it looks at.
  template <typename Compute, typename Done>
  void run(Compute compute, Done done) {
    forget();
    m_watcher = new QFutureWatcher<std::shared_ptr<T>>;
    auto promise = std::make_shared<QPromise<std::shared_ptr<T>>>();
    QObject::connect(m_watcher, &QFutureWatcherBase::finished, m_watcher,
                     [this, done = std::move(done)] {
                       auto* const watcher = std::exchange(m_watcher, nullptr);
                       watcher->deleteLater();  // done() may run the next one
                       done(std::move(*watcher->result()));
                     });
    m_watcher->setFuture(promise->future());
    promise->start();
    QThreadPool::globalInstance()->start([promise, compute = std::move(compute)] {
      promise->addResult(std::make_shared<T>(compute()));
      promise->finish();
    });
  }
  /// What runs is not wanted any more.
  void forget() {
    if (auto* const watcher = std::exchange(m_watcher, nullptr)) {
      watcher->disconnect();
      watcher->deleteLater();
    }
  }
  [[nodiscard]] bool isBusy() const { return m_watcher != nullptr; }

 private:
  QFutureWatcher<std::shared_ptr<T>>* m_watcher = nullptr;  ///< of what runs
};

/// Traces of so many events are looked through at once, which takes some milliseconds.
inline constexpr std::size_t kFewEvents = 20000;

}  // namespace pf::views
