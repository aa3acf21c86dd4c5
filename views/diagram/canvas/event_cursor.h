// SPDX-License-Identifier: GPL-3.0-or-later
// Which event of the space-time diagram is selected, and which of the messages that it could have
// taken instead; how the selection moves. It stays within the trace of the viewport, and has it
// show where it goes.
#pragma once

#include <QObject>

#include "views/trace/trace_index.h"

namespace pf::views {

class SpaceTimeViewport;

class EventCursor : public QObject {
  Q_OBJECT
 public:
  explicit EventCursor(SpaceTimeViewport& viewport) : m_viewport(viewport) {}

  [[nodiscard]] EventRef selected() const { return m_selected; }
  /// Of the selected racing receive, counted from 1; 0: none is chosen.
  [[nodiscard]] int alternative() const { return m_alternative; }

  void select(EventRef event, bool reveal);
  void moveAlongRank(int step);
  void moveAcrossRanks(int step);
  void selectEnd(bool last);
  void selectRace(int direction);
  void selectPartner();
  /// Chooses the next (`step` > 0) or previous message that the selected racing receive could have
  /// taken instead.
  void stepAlternative(int step);
  void chooseAlternative(int number);  ///< from 1; 0: none. No selection of an event
  /// To the selected event with the other ends of its messages, and what it could have taken.
  void zoomToSelection();

  /// Nothing is selected in a new trace. No signal.
  void forget();
  /// Before the viewport shows `newer`, a version of the same run: what is selected stays. No signal.
  void renewTrace(const TraceIndex& newer);

 Q_SIGNALS:
  void selectionChanged(const pf::EventRef& event);
  void alternativeChanged(int number);

 private:
  void enter();

  SpaceTimeViewport& m_viewport;
  EventRef m_selected;
  int m_alternative = 0;
};

}  // namespace pf::views
