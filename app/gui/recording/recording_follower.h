// SPDX-License-Identifier: GPL-3.0-or-later
// Follows a recording that goes on: makes a trace of what it has so far, again and again, until it
// ends and its own trace is there. The traces are made by a process of its own with a low priority,
// and read on a thread. Takes a fifth of a processor's time. Lives on the GUI thread, and knows no
// widgets.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QThreadPool>
#include <QTimer>

#include "app/gui/recording/peek_directory.h"
#include "app/recording/record.h"
#include "app/session/records/session_records.h"
#include "app/trace_loading/trace_loader.h"
#include "views/trace/trace_index.h"

namespace pf::gui {

class RecordingFollower : public QObject {
  Q_OBJECT
 public:
  struct Version {
    QString path;
    bool last = false;  ///< the recording's own trace
    session::LoadedTrace trace;
    views::TraceIndexPtr index;
    views::TraceIndexPtr physical;    ///< where it was asked for
    QString carriedFrom;              ///< the version before; empty: there was none
    session::SessionRecords carried;  ///< of that one
    bool sameIds = true;              ///< as copyRecords() says
  };
  using VersionPtr = std::shared_ptr<Version>;

  explicit RecordingFollower(QObject* parent = nullptr);
  ~RecordingFollower() override;
  Q_DISABLE_COPY_MOVE(RecordingFollower)

  /// Asked before a version is handed out; until it says true, that waits.
  void setMayShow(std::function<bool()> may) { m_mayShow = std::move(may); }
  /// Asked when one is made.
  void setWantsPhysical(std::function<bool()> wants) { m_wantsPhysical = std::move(wants); }

  /// The recording that makes `trace`; its logs may not be there yet. `open`: what is shown now.
  void follow(const QString& trace, const QString& open);
  /// What was shown last is left where it is.
  void stop();
  [[nodiscard]] bool isFollowing() const { return !m_trace.isEmpty(); }
  [[nodiscard]] const QString& trace() const { return m_trace; }  ///< empty: none is followed
  /// `path` is a version of the recording that is followed.
  [[nodiscard]] bool made(const QString& path) const { return isFollowing() && path == m_shown; }

 Q_SIGNALS:
  /// A version to be shown now.
  void newer(const pf::gui::RecordingFollower::VersionPtr& version);
  /// One line, when it changes; empty: nothing is followed any more.
  void statusChanged(const QString& text);
  /// It is not followed any more, by itself. Without `problem` its own trace has been handed out.
  void ended(const QString& problem);

 private:
  /// Waits for its time; a process makes a version; it is read; waits until it may be shown; what
  /// was added goes over.
  enum class Phase { Waiting, Making, Loading, Ready, Carrying };
  struct Loaded {
    VersionPtr version;
    std::optional<Error> error;
    qint64 time = 0;  ///< of a processor, that reading took (ms)
  };

  void tick();
  void look();
  void looked(const app::RecordingNow& now);
  void make(const app::RecordingNow& now);
  void makingEnded(bool good, const QString& path);
  void load(const QString& path, bool last);
  void loaded(const Loaded& loaded, const QString& path, bool last);
  void carry();
  void handOut();
  void failed(const QString& why);
  void endProcess();
  void giveUp(const QString& problem);
  void setPause();
  void wait();
  void tell();
  template <typename T, typename Compute, typename Done>
  void work(Compute compute, Done done);

  std::function<bool()> m_mayShow = [] { return true; };
  std::function<bool()> m_wantsPhysical = [] { return false; };
  QString m_trace;
  QString m_lastTrace;  ///< that was followed
  Phase m_phase = Phase::Waiting;
  std::unique_ptr<PeekDirectory> m_directory;
  QPointer<QProcess> m_process;
  QThreadPool
      m_pool;  ///< one thread. Not of a low priority: it shares malloc's lock with the GUI thread
  quint64 m_number =
      0;  ///< of what is followed: what belongs to one of before says nothing any more
  QTimer m_tick;
  bool m_looking = false;
  bool m_seen = false;    ///< its logs
  bool m_ending = false;  ///< its own trace is being read
  QElapsedTimer m_waiting;
  QElapsedTimer m_making;
  qint64 m_before = 0;  ///< processor time of children (ms) when it began to be made
  qint64 m_cost = 0;    ///< of the last one: processor time (ms)
  qint64 m_pause = 0;   ///< ms to wait for the next one
  bool m_surveys =
      false;  ///< the recording has choices only: the program runs once more for each version
  std::uint64_t m_grown = 0;  ///< the logs, when the last version was made
  std::size_t m_events = 0;   ///< in the version that is shown
  QString m_shown;            ///< its path
  QString m_left;             ///< to be removed once something newer is shown
  QElapsedTimer m_asOf;
  QElapsedTimer m_asOfNext;  ///< of the one that is being made
  VersionPtr m_ready;
  QByteArray m_said;  ///< the end of what m_process said
  QString m_problem;  ///< why there is no newer one
  QString m_told;
};

}  // namespace pf::gui
