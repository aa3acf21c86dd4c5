// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of races, the list of races with its filter, and the details of the selected race.
//
// Data in:  setTrace(), selectRace().
// Out:      raceSelected(race), replayToRequested(event) by Enter or double click,
//           eventSelected(event) and sourceRequested(event) for a message in the details,
//           alternativeSelected(message).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QHash>
#include <QStringList>
#include <QWidget>

#include "views/models/race_list_model.h"
#include "views/trace/chunks/background.h"
#include "views/trace/trace_index.h"

class QAction;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSplitter;
class QTableView;
class QTreeWidget;
class QTreeWidgetItem;

namespace pf::views {

class FittedColumns;
class RaceClassesView;
class RaceFilterModel;

class RaceListView : public QWidget {
  Q_OBJECT
 public:
  explicit RaceListView(QWidget* parent = nullptr);

  void setTrace(const TraceIndexPtr& trace);
  /// A newer version of the same run: filter, order and what is selected stay.
  void renewTrace(const TraceIndexPtr& trace);
  /// What the user says has failed: the weights go by it. Not valid: what the recording has.
  void setFailing(const EventRef& event);
  /// What somebody has said of classes, by their keys (race_classes.h).
  void setVerdicts(const RaceBaseline& verdicts);
  /// What others hold of a race, a line each: behind the details of the selected one.
  void setJudges(std::function<QStringList(int race)> judges) { m_judges = std::move(judges); }
  /// Selects a race (index into TraceData::races) without emitting; -1 clears. A race that the
  /// filter hides stays hidden.
  void selectRace(int race);
  [[nodiscard]] int selectedRace() const;
  /// Shows this message (taken, or an alternative) of the selected race in the details, without
  /// emitting.
  void selectMessage(std::uint32_t message);

  [[nodiscard]] RaceClassesView* classes() const { return m_classes; }
  [[nodiscard]] QLineEdit* filterEdit() const { return m_filter; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QTreeWidget* details() const { return m_details; }
  [[nodiscard]] QAction* replayAction() const { return m_replay; }
  /// "Take this message instead": the selected one, or the first alternative of the selected race.
  [[nodiscard]] QAction* takeInsteadAction() const { return m_take; }
  [[nodiscard]] QAction* findAction() const { return m_find; }

 Q_SIGNALS:
  void raceSelected(int race);                        ///< -1 when none
  void replayToRequested(const pf::EventRef& event);  ///< the racing receive
  /// The receive of a race is to take what `send` sends.
  void takeInsteadRequested(const pf::EventRef& receive, const pf::EventRef& send);
  void sourceRequested(const pf::EventRef& event);  ///< show the call site of this event
  void alternativeSelected(std::uint32_t message);  ///< of the selected race
  void eventSelected(
      const pf::EventRef& event);  ///< an end chosen in the details: show it in the diagram

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showTrace(const TraceIndexPtr& trace, const JudgedRaces& judged);
  void showNewer(const TraceIndexPtr& trace, const JudgedRaces& judged);
  void keepSelection(const std::function<void()>& change);
  void onCurrent();
  void showDetails(int race);
  void showWhy(const QTreeWidgetItem& item);
  void fitWhy();
  void updateCount();
  void takeInstead();
  void layOut();
  void orderTabs();

  RaceClassesView* m_classes;
  RaceListModel* m_model;
  RaceFilterModel* m_proxy;
  QLineEdit* m_filter;
  QLabel* m_count;
  QTableView* m_table;
  FittedColumns* m_columns;
  FittedColumns* m_detailColumns = nullptr;
  QSplitter* m_parts;               ///< the lists, and the explanation below them
  bool m_partsAreTheUsers = false;  ///< their sizes
  QTreeWidget* m_details = nullptr;
  QLabel* m_why = nullptr;
  QAction* m_replay;
  QAction* m_take;
  QAction* m_find;
  bool m_quiet = false;
  int m_told = -1;    ///< that raceSelected() has told last
  int m_wanted = -1;  ///< selected while the races were being judged
  Background<JudgedRaces> m_judging;
  std::function<QStringList(int race)> m_judges;
  EventRef m_failing;
};

}  // namespace pf::views
