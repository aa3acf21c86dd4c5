// SPDX-License-Identifier: GPL-3.0-or-later
// The space-time diagram with its tools: ranks as rows, logical or physical time across.
//
// Data in:  setTrace(), setReplayPositions(), setMarks(), setRankHeaders(), selectEvent(),
// selectRace(). Out:      eventSelected, replayToRequested, breakHereRequested, bookmarkRequested,
// raceSelected, alternativeSelected, contentsRequested.
// Mouse: click selects (an event, or a dashed line of what a receive could have taken), double
// click replays to there, drag
//        pans; drag on the axis, or Shift+drag, zooms to a span; wheel zooms around the pointer,
//        over the rank names (or with Ctrl) it changes the row height, with Shift it pans.
// Keys:  arrows, Home/End, Enter, + - F Z, Alt+Left/Alt+Right (zoom back and forth), Shift+arrows
// and Page Up/Down pan,
//        Ctrl+Up/Down row height, R, Shift+R, A, Shift+A (alternatives), P, C, B, M, D (contents), O (overview),
//        / (find events), N, Shift+N, S, T (find the same call site, tag), X (physical axis), Menu,
//        Esc.
#pragma once

#include <vector>

#include <QList>
#include <QWidget>

#include "views/diagram/tools/diagram_actions.h"
#include "views/diagram/tools/rank_rows_menu.h"
#include "views/trace/analyses/rank_arrangement.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

class QAction;
class QPaintDevice;
class QScrollBar;

namespace pf::views {

class AxisChoice;
class DiagramFooter;
class LegendStrip;
class Minimap;
class SearchBar;
class SpaceTimeCanvas;

class SpaceTimeView : public QWidget {
  Q_OBJECT
 public:
  explicit SpaceTimeView(QWidget* parent = nullptr);

  /// Shows a trace from its start; null empties the view.
  void setTrace(TraceIndexPtr trace);
  /// A newer version of the same run in the place of the present one: all that was chosen stays, and the former picture
  /// until there is one of it. `physical`: of the same, where the physical axis is wanted.
  void renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical);
  /// Where each rank is in the present cycle; empty when nothing is replayed.
  void setReplayPositions(std::vector<ReplayPosition> positions);
  /// The cut that is drawn.
  [[nodiscard]] const std::vector<ReplayPosition>& replayPositions() const;
  void setMarks(std::vector<EventMark> marks);
  /// Of a comparison: by rank the first event that differs or follows from that (0 = none). All
  /// that comes before is drawn veiled. Empty: no comparison.
  void setDifferent(std::vector<Serial> from);
  /// Text below each rank's name; without it, or where it is empty, how the rank ended.
  void setRankHeaders(std::vector<RankHeader> headers);

  /// Commands of the menus of a row's name and of the selected event, for the ranks of these.
  void setRankCommands(RankCommands add);
  /// Named groups of ranks, to show only or to collapse.
  void setGroups(const QList<RankGroup>& groups);
  /// Which ranks are shown, in which order, which share a row.
  void setArrangement(const RankArrangement& arrangement);
  [[nodiscard]] const RankArrangement& arrangement() const;

  /// What makes the pyramid of the physical axis; without it views of many events look at each of
  /// them.
  void setPyramidMaker(PyramidMaker maker);
  /// Shows this axis as soon as it is there, and of later traces that have it.
  void setAxis(TimeAxis axis);
  /// What is shown.
  [[nodiscard]] TimeAxis axis() const;
  /// What was asked for.
  [[nodiscard]] TimeAxis wantedAxis() const;

  void selectEvent(const EventRef& event);  ///< scrolls to it; does not take the focus
  void selectRace(int race);                ///< index into TraceData::races
  /// Draws this one of the messages that the selected racing receive could have taken stronger.
  void chooseAlternative(std::uint32_t message);
  [[nodiscard]] EventRef selectedEvent() const;
  [[nodiscard]] SpaceTimeCanvas* canvas() const { return m_canvas; }

  void renderTo(QPaintDevice* device, const QSizeF& size) const;

  [[nodiscard]] QAction* action(DiagramAction which) const { return m_actions->action(which); }
  /// Zoom in, out, fit, back, forward, axis, legend: for a View menu.
  [[nodiscard]] QList<QAction*> viewActions() const;
  /// Find events, next and previous of those found.
  [[nodiscard]] QList<QAction*> searchActions() const;
  /// Hide, show only, collapse, sort: for a menu.
  [[nodiscard]] QList<QAction*> rankActions() const;
  /// What else can be done with a selected event.
  void addToMenuOfEvents(QAction* action) { m_ofEvents.append(action); }
  [[nodiscard]] SearchBar* searchBar() const { return m_search; }
  /// As a strip: what lies around the rows goes where there is no room for it.
  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 110}; }

 Q_SIGNALS:
  void eventSelected(const pf::EventRef& event);  ///< invalid when the selection is cleared
  void raceSelected(int race);                    ///< with eventSelected, when the event races
  void arrangementChanged(const pf::views::RankArrangement& arrangement);
  void alternativeSelected(int race, std::uint32_t message);  ///< by the user, in the diagram
  void replayToRequested(const pf::EventRef& event);   ///< stop the rank just before this event
  void breakHereRequested(const pf::EventRef& event);  ///< a logical breakpoint on this event
  void bookmarkRequested(const pf::EventRef& event);
  void contentsRequested(const pf::EventRef& event);  ///< of its messages

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeToolBar();
  void fitHeight();
  void call(QWidget* tool);
  void layOut();
  void connectCanvas();
  void connectActions();
  void connectSearch();
  void onAlternative(int number);
  void onSelection(const EventRef& event);
  void onAxis();
  void syncBars();
  void updateFooter();
  void showMenu(const QPoint& globalPosition);

  SpaceTimeCanvas* m_canvas;
  Minimap* m_minimap;
  RankRowsMenu* m_rankRows;
  SearchBar* m_search;
  QScrollBar* m_rows;
  LegendStrip* m_legend;
  DiagramFooter* m_footer;
  DiagramActions* m_actions;
  AxisChoice* m_axis;
  QList<QAction*> m_ofEvents;
  QWidget* m_toolBar = nullptr;
  QWidget* m_called = nullptr;  ///< that is there by the user's wish, whatever the height
};

}  // namespace pf::views
