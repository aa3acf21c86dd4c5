// SPDX-License-Identifier: GPL-3.0-or-later
// How the run that is shown, or its replay, has failed, above diagram and source, with what can be done about it. It stays
// until it is answered, or another one is shown.
#pragma once

#include <optional>

#include <QFrame>
#include <QFutureWatcher>

#include "app/collation/failure.h"
#include "app/collation/printed_text.h"
#include "views/trace/trace_index.h"

class QBoxLayout;
class QLabel;
class QToolButton;

namespace pf::gui {

class FailureBanner : public QFrame {
  Q_OBJECT
 public:
  explicit FailureBanner(QWidget* parent = nullptr);

  /// `failed`: nothing hides it. Which race to look at first is worked out on another thread, and added.
  void showRun(const std::optional<app::WhatFailed>& failed, const app::LastPrinted& printed,
               const views::TraceIndexPtr& index);
  /// A program that is being recorded makes no progress: why. It can be ended from here.
  void showStuck(const QString& why);
  /// A replay has done something else than was recorded, at this event.
  void showDivergence(const EventRef& at, const QString& text);
  void clear();

 Q_SIGNALS:
  void failureWanted();                         ///< go to the failing receive
  void raceWanted(int race);                    ///< the one to look at first
  void raceFound(int race);                     ///< the one to look at first is known
  void waitsWanted();                           ///< who waits for whom at the end of the record
  void blameWanted();                           ///< which delivery is to blame
  void eventWanted(const pf::EventRef& event);  ///< where a replay has diverged
  void endWanted();                             ///< the recording that makes no progress
  /// A frame of the traceback. `file` is as Python printed it.
  void placeWanted(const QString& file, int line);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addTraceback(const std::vector<app::TracedFrame>& traceback);
  void addRaces(const views::TraceIndexPtr& index);
  void arrange();

  QBoxLayout* m_rows;
  QWidget* m_buttons;
  QLabel* m_text;
  QToolButton* m_there;
  QToolButton* m_raised;
  QToolButton* m_race;
  QToolButton* m_waits;
  QToolButton* m_blame;
  QToolButton* m_end;
  QToolButton* m_event;
  EventRef m_at;  ///< that m_event leads to
  int m_first = -1;
  /// The race to look at first; -1: none weighs more than others.
  QFutureWatcher<int> m_search;
};

}  // namespace pf::gui
