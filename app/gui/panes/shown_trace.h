// SPDX-License-Identifier: GPL-3.0-or-later
// The trace that the window shows: in the diagram, the race list, the source and the panes of plugins, and what is
// selected in it. Selecting in one of them selects in all.
#pragma once

#include <QObject>

#include "app/gui/panes/window_views.h"
#include "views/trace/trace_index.h"

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class WindowDocks;

class ShownTrace : public QObject {
  Q_OBJECT
 public:
  ShownTrace(QWidget& window, const WindowViews& views, WindowDocks& docks,
             session::DebugSession& session);

  /// Empty: none that is in a file.
  [[nodiscard]] const QString& path() const { return m_path; }
  [[nodiscard]] const views::TraceIndexPtr& index() const { return m_index; }
  /// How the run ended, and what to do next.
  [[nodiscard]] QString outcome() const;

  void show(const QString& path, const views::TraceIndexPtr& index);
  /// Ranks that were not recorded: there are no events, and the source has the diagram's place.
  void showUnrecorded(const views::TraceIndexPtr& index);
  /// More is known of where its ranks stand.
  void renewUnrecorded(const views::TraceIndexPtr& index);
  /// A newer version of what is shown. What is selected stays. `physical`: as of SpaceTimeView::renewTrace().
  void renew(const QString& path, const views::TraceIndexPtr& index,
             const views::TraceIndexPtr& physical);

  void selectEvent(const EventRef& event);
  void selectRace(int race);
  /// The line of a file that the program has named in what it printed: as it names it, or by the end of a path of its call sites.
  void showPrintedPlace(const QString& file, int line);

 Q_SIGNALS:
  void damaged(const QString& problem);  ///< a part of it cannot be read

 private:
  void setEverywhere(const QString& path, const views::TraceIndexPtr& index);
  void connectDiagram();
  void connectRaces();
  void showSites(const EventRef& event, const EventRef& other);
  void showCallSites();
  void watchForDamage();
  void askBookmark(const EventRef& event);
  void askBenign(const QString& key, const QString& receive);
  void askBug(const QString& key, const QString& receive);
  void saveKnown();
  void loadKnown();

  QWidget& m_window;
  const WindowViews m_views;
  WindowDocks& m_docks;
  session::DebugSession& m_session;
  QString m_path;
  views::TraceIndexPtr m_index;
};

}  // namespace pf::gui
