// SPDX-License-Identifier: GPL-3.0-or-later
// Saved sessions: a file that brings back what was debugged, what was set, and how the window looked.
#pragma once

#include <functional>
#include <memory>

#include <QObject>

#include "app/gui/panes/window_views.h"
#include "app/session/records/session_file.h"

class QMainWindow;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class InspectionPanes;
class ShownTrace;
class Workspaces;

class SessionFiles : public QObject {
  Q_OBJECT
 public:
  struct Parts {
    QMainWindow& window;
    Workspaces& workspaces;
    const WindowViews& views;
    const ShownTrace& shown;
    InspectionPanes& inspection;
    session::DebugSession& session;
  };
  explicit SessionFiles(const Parts& parts);

  void ask();  ///< where to save it
  bool save(const QString& path);
  /// traceWanted() follows; or notOpened(), where its trace is gone: what was set waits for the next recording.
  void open(const QString& path);
  /// The trace that is shown now: what it does not have itself comes from the file that open() has read, if it is
  /// that file's.
  void apply();
  /// `trace` was made by this command here, with this standard input.
  void recorded(const QString& trace, const QStringList& command, const QString& input);

 Q_SIGNALS:
  void traceWanted(const QString& path);
  void notOpened();
  void said(const QString& text, bool problem);
  void used(const QString& path);  ///< saved, or opened

 private:
  void offerToRecord(const session::SessionFile& file);
  void applyBreakpoints(const session::SessionFile& file);
  void applyWatches(const session::SessionFile& file);
  void applyPart(const session::SessionFile& file);
  void applyRanks(const session::SessionFile& file);

  QMainWindow& m_window;
  Workspaces& m_workspaces;
  const WindowViews m_views;
  const ShownTrace& m_shown;
  InspectionPanes& m_inspection;
  session::DebugSession& m_session;
  std::unique_ptr<session::SessionFile>
      m_opening;  ///< its trace is being opened, or yet to be recorded
  struct GivenInput {
    QString trace;
    QString file;
  };
  GivenInput m_input;  ///< the file that a trace was recorded with, where that is known
};

}  // namespace pf::gui
