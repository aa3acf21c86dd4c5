// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done in the space-time diagram beside what mouse and keys do in its canvas: actions
// for its tool bar, for menus and the command palette. What a canvas cannot do is a signal.
#pragma once

#include <initializer_list>

#include <QList>
#include <QObject>

#include "replay_engine/execution/execution.h"

class QAction;
class QIcon;
class QKeySequence;
class QWidget;

namespace pf::views {

class SpaceTimeCanvas;

enum class DiagramAction {
  ReplayHere,  ///< this and what follows is of the selected event
  BreakHere,
  Bookmark,
  Contents,
  Cone,
  PreviousRace,
  NextRace,
  Partner,
  NextAlternative,
  PreviousAlternative,
  SameSite,
  SameTag,
  ZoomToSelection,
  Overview,
  ZoomIn,
  ZoomOut,
  Fit,
  ZoomBack,
  ZoomForward,
  PhysicalAxis,
  Legend,
};

class DiagramActions : public QObject {
  Q_OBJECT
 public:
  /// Actions are children of `owner`.
  DiagramActions(SpaceTimeCanvas& canvas, QWidget& owner);

  [[nodiscard]] QAction* action(DiagramAction which) const;
  [[nodiscard]] QList<QAction*> actions(std::initializer_list<DiagramAction> which) const;
  /// What can be done with the trace and the selected event.
  void refresh();

 Q_SIGNALS:
  void replayToRequested(const pf::EventRef& event);
  void breakHereRequested(const pf::EventRef& event);
  void bookmarkRequested(const pf::EventRef& event);
  void contentsRequested(const pf::EventRef& event);
  void searchRequested(const QString& query);

 private:
  void makeEventActions();
  void makeMoves();
  void makeSearches();
  void makeZooms();
  void makeChoices();
  QAction* add(DiagramAction which, const QString& text, const QString& tip, const QIcon& icon,
               const QList<QKeySequence>& keys);
  void zoomBy(double factor);
  void findSameSite();
  void findSameTag();
  void refreshHistory();

  SpaceTimeCanvas& m_canvas;
  QWidget& m_owner;
  QList<QAction*> m_actions;  ///< by DiagramAction
};

}  // namespace pf::views
