// SPDX-License-Identifier: GPL-3.0-or-later
// "Debug only these ranks": in the menu Replay and the menus of the rank list, of a row's name, of an event and of the matrix. Ranks that
// cannot run without others are offered with them, and where none can, all ranks are.
#pragma once

#include <QList>
#include <QObject>

#include "app/gui/panes/window_views.h"

class QAction;
class QMenu;

namespace pf {
struct Error;
}

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class PartActions : public QObject {
  Q_OBJECT
 public:
  PartActions(QWidget& window, const WindowViews& views, session::DebugSession& session);

  /// Of the ranks that are selected in the list; of all.
  [[nodiscard]] QList<QAction*> actions() const { return {m_only, m_all}; }
  /// What can be done now.
  void refresh();
  /// Begins a cycle of these alone, or asks what to do instead.
  void debugOnly(const QList<int>& ranks);
  /// Debugs the part that the trace keeps, and says so.
  void restore();
  /// What can be done with these ranks, for the menu of a pane that shows them.
  void addTo(QMenu& menu, const QList<int>& ranks);

 Q_SIGNALS:
  void said(const QString& text, bool problem);

 private:
  /// With all that they cannot run without. Empty: the trace has no groups.
  [[nodiscard]] QList<int> withGroups(const QList<int>& ranks) const;
  void begin(const QList<int>& ranks);
  void debugAll();
  void offerGroups(const QList<int>& ranks, const QList<int>& whole);
  void offerAll(const Error& why);
  void offer(const QString& text, const QString& advice, const QString& button,
             const std::function<void()>& does);

  QWidget& m_window;
  const WindowViews m_views;
  session::DebugSession& m_session;
  QAction* m_only;
  QAction* m_all;
};

}  // namespace pf::gui
