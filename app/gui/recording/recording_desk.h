// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that this window starts, one at a time, by the command line's `record`. One that goes on outlives the window.
#pragma once

#include <memory>

#include <QObject>
#include <QPointer>
#include <QProcess>

#include "app/gui/recording/record_dialog.h"

class QAction;

namespace pf::views {
class ProgressStrip;
}

namespace pf::gui {

class PeekDirectory;

class RecordingDesk : public QObject {
  Q_OBJECT
 public:
  /// `strip` tells of one that goes on, and ends it.
  RecordingDesk(QWidget& window, views::ProgressStrip& strip);
  ~RecordingDesk() override;
  Q_DISABLE_COPY_MOVE(RecordingDesk)

  [[nodiscard]] QAction* recordAction() const { return m_record; }
  /// Records the bundled program until a run of it fails.
  [[nodiscard]] QAction* exampleAction() const { return m_example; }
  /// "Look at what is recorded so far".
  [[nodiscard]] QAction* lookAction() const { return m_look; }
  /// The trace that one which goes on makes; empty: none does.
  [[nodiscard]] QString trace() const { return m_process != nullptr ? m_trace : QString(); }
  /// Records this, unless a recording goes on: problem() then.
  void record(const RecordRequest& request);
  /// Asks the one that goes on to end; what it has is a trace then.
  void endNow();
  /// The window closes: what is recorded goes on.
  void letGo();

 Q_SIGNALS:
  void begun(const QString& trace, bool follow);
  void printed(const QByteArray& text);  ///< the program, or `record`
  void stuck(const QString& why);        ///< the program makes no progress
  void recorded(const QString& trace, const QStringList& command, const QString& input);
  /// Of several runs one has failed; the last one that did not is `good`, empty if there was none. recorded() of the former
  /// follows.
  void foundFailing(const QString& good);
  /// None of several runs has failed. recorded() of the last one follows.
  void noneFailed(int runs);
  void failed(const QString& trace, int status);  ///< nothing is recorded
  void madeSoFar(const QString& trace);  ///< of what it has by now; it goes with the window
  void problem(const QString& text);

 private:
  void ask();
  void startExample();
  void start(const RecordRequest& request, const QStringList& words);
  [[nodiscard]] static QString freeName(const RecordRequest& request, const QStringList& words);
  void ended(QProcess* process, const RecordRequest& request, const QStringList& words, int status);
  void endedSearch(const RecordRequest& request, const QStringList& words);
  void heardLine(const RecordRequest& request, const QString& line);
  void heard(const RecordRequest& request, const QByteArray& text);
  void look();
  void refresh();

  QWidget& m_window;
  views::ProgressStrip& m_strip;
  QAction* m_record;
  QAction* m_example;
  QAction* m_look;
  QPointer<QProcess> m_process;
  QString m_trace;
  QString m_good;  ///< beside it, of several runs
  QString m_line;  ///< of what `record` says, not yet whole
  QString m_why;   ///< lines of it that say why the program makes no progress
  RecordRequest m_request;
  std::unique_ptr<PeekDirectory> m_peeks;
  int m_peekNumber = 0;
};

}  // namespace pf::gui
