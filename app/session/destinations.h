// SPDX-License-Identifier: GPL-3.0-or-later
// Where a user can ask a replay to go, counted from where its ranks are now.
#pragma once

#include <vector>

#include <QCoreApplication>
#include <QString>

#include "app/session/state/session_state.h"
#include "replay_engine/base/result.h"

namespace pf::session {

/// Where the ranks of a cycle are sent.
struct Goal {
  EventRef event;  ///< its rank stops just before it; invalid: all go to the end
  QString text;
  std::vector<Serial> cut = {};  ///< events that each rank does; empty: what `event` needs
  bool straight = false;         ///< back to there: no breakpoint stops on the way
};

/// Of the current rank, where nothing else is said.
enum class Move {
  NextEvent,
  PreviousEvent,  ///< the others go back where they depend on it
  NextReceive,
  PreviousReceive,
  NextDelivery,  ///< the next message of the recording is taken, and no other that need not be
  NextDeliveryAnywhere,  ///< the same of any rank: the first by logical time
  NextRace,              ///< the next racing receive of any rank, by logical time
  Failure,  ///< the receive that is marked as failing, or the one of the rank that failed
};

class Destinations {
  Q_DECLARE_TR_FUNCTIONS(pf::session::Destinations)
 public:
  explicit Destinations(const SessionState& state) : m_state(state) {}
  /// Of ranks that are on their way to `pending`, which is valid: from there on.
  Destinations(const SessionState& state, const Goal& pending)
      : m_state(state), m_pending(cutOf(pending)) {}

  /// All events of the trace are read (SessionState::events). `marked`: what is marked as failing. An error is a
  /// sentence for the user: there is no such event.
  [[nodiscard]] Result<Goal> of(Move move, const EventRef& marked) const;
  /// Why of() would fail, as a sentence; empty: it would not. It looks for no cut. Not of deliveries: empty.
  [[nodiscard]] QString whyNot(Move move, const EventRef& marked) const;
  /// Events that each rank has done when it is there. `goal.event` is valid.
  [[nodiscard]] std::vector<Serial> cutOf(const Goal& goal) const;
  /// The event that the rank does next, 1 where none runs.
  [[nodiscard]] Serial upcoming(int rank) const;

 private:
  [[nodiscard]] Result<Goal> found(Move move, const EventRef& marked) const;
  [[nodiscard]] Result<Goal> nextEvent() const;
  [[nodiscard]] Result<Goal> previousEvent() const;
  [[nodiscard]] Result<Goal> nextReceive() const;
  [[nodiscard]] Result<Goal> previousReceive() const;
  [[nodiscard]] Result<Goal> nextDelivery(bool anywhere) const;
  [[nodiscard]] Result<Goal> nextRace() const;
  /// A race of a rank that runs lies behind where that is.
  [[nodiscard]] bool isRaceAhead() const;
  [[nodiscard]] Result<Goal> failure(const EventRef& marked) const;
  [[nodiscard]] EventRef deliveryAfter(int rank, const std::vector<Serial>& done) const;
  [[nodiscard]] std::uint32_t timeOf(const EventRef& event) const;
  [[nodiscard]] Serial begun(int rank) const;
  [[nodiscard]] bool stands(int rank) const;
  [[nodiscard]] std::vector<Serial> done() const;
  [[nodiscard]] const RankHistory& history(int rank) const;

  const SessionState& m_state;
  std::vector<Serial> m_pending;  ///< events that each rank will have done; empty: where they are
};

}  // namespace pf::session
