// SPDX-License-Identifier: GPL-3.0-or-later
// How long the turns of the event loop last: the time from when it wakes up to when it would wait
// again. Needs Qt's own dispatcher (QT_NO_GLIB=1), whose signals lie around each turn.
#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QElapsedTimer>
#include <QMetaEnum>

namespace pf::gui::test {

class TurnMeter : public QApplication {
 public:
  struct Long {
    double milliseconds = 0.0;
    QString heaviest;  ///< receiver and event that took most of it
  };

  TurnMeter(int& argc, char** argv) : QApplication(argc, argv) {
    m_clock.start();
    const auto end = [this] { endTurn(); };
    connect(eventDispatcher(), &QAbstractEventDispatcher::awake, this, end, Qt::DirectConnection);
    connect(eventDispatcher(), &QAbstractEventDispatcher::aboutToBlock, this, end,
            Qt::DirectConnection);
  }

  bool notify(QObject* receiver, QEvent* event) override {
    const bool first = !m_running;
    if (first) {
      m_running = true;
      m_since = now();
      m_cpuSince = cpu();
    }
    ++m_depth;
    const double begin = now();
    const QString name = m_depth == 1 ? nameOf(receiver, event) : QString();
    const bool result = QApplication::notify(receiver, event);
    --m_depth;
    if (m_depth == 0) {
      if (const double took = now() - begin; took > m_heaviest) {
        m_heaviest = took;
        m_heaviestName = name;
      }
      if (m_running) {
        m_busy += now() - m_since;
        m_cpuBusy += cpu() - m_cpuSince;
        m_running = false;
      }
    }
    return result;
  }

  /// Turns begin to count from here on.
  void begin() {
    m_turns.clear();
    m_longComputed = 0;
    m_long.clear();
  }
  [[nodiscard]] std::size_t turns() const { return m_turns.size(); }
  [[nodiscard]] const std::vector<Long>& longTurns() const { return m_long; }
  /// Share of turns that took at most kBound, in percent.
  [[nodiscard]] double share() const {
    return m_turns.empty() ? 100.0
                           : 100.0 * static_cast<double>(m_turns.size() - m_long.size()) /
                                 static_cast<double>(m_turns.size());
  }
  /// The same by what the thread computed: a turn does not count what other programs took of the
  /// processor, nor what it waited.
  [[nodiscard]] double computedShare() const {
    return m_turns.empty() ? 100.0
                           : 100.0 - 100.0 * static_cast<double>(m_longComputed) /
                                         static_cast<double>(m_turns.size());
  }
  [[nodiscard]] double longest() const {
    return m_turns.empty() ? 0.0 : *std::max_element(m_turns.begin(), m_turns.end());
  }

  static constexpr double kBound = 30.0;  ///< ms

 private:
  [[nodiscard]] double now() const { return static_cast<double>(m_clock.nsecsElapsed()) / 1e6; }
  [[nodiscard]] static double cpu() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
  }
  static QString nameOf(QObject* receiver, QEvent* event) {
    return QStringLiteral("%1 %2, event %3")
        .arg(QString::fromLatin1(receiver->metaObject()->className()), receiver->objectName())
        .arg(QString::fromLatin1(QMetaEnum::fromType<QEvent::Type>().valueToKey(event->type())));
  }
  /// Also of a loop inside of an event (a dialog): what it waits is no turn.
  void endTurn() {
    if (m_running) {
      m_busy += now() - m_since;
      m_cpuBusy += cpu() - m_cpuSince;
      m_running = false;
    }
    if (m_busy > 0.0) {
      m_turns.push_back(m_busy);
      m_longComputed += m_cpuBusy > kBound ? 1 : 0;
      if (m_busy > kBound) {
        m_long.push_back({m_busy, m_heaviestName});
      }
    }
    m_busy = 0.0;
    m_cpuBusy = 0.0;
    m_heaviest = 0.0;
    m_heaviestName.clear();
  }

  QElapsedTimer m_clock;
  std::vector<double> m_turns;  ///< ms
  std::vector<Long> m_long;
  int m_depth = 0;
  bool m_running = false;
  double m_since = 0.0;
  double m_busy = 0.0;
  double m_cpuSince = 0.0;
  double m_cpuBusy = 0.0;
  std::size_t m_longComputed = 0;
  double m_heaviest = 0.0;
  QString m_heaviestName;
};

}  // namespace pf::gui::test
