// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_attached_ranks.h"

#include <utility>

namespace pf::headless {
namespace {

/// Its rank, or the GDB itself, has come to its end.
bool hasEnded(const mi::GdbSession* gdb) {
  return gdb != nullptr &&
         (gdb->state() == mi::SessionState::Exited || gdb->state() == mi::SessionState::Lost);
}

void describeCore(const QString& end, const std::string& who, Json& body) {
  const bool crashed = !end.isEmpty();
  body["reason"] = crashed ? "exception" : "entry";
  body["description"] = who + "core file" + (crashed ? ", " + end.toStdString() : std::string());
  if (crashed) {
    body["text"] = end.toStdString();
  }
}

}  // namespace

void AttachedRanks::take(const QList<session::UnrecordedRank>& ranks, const QList<int>& focus,
                         bool goOn) {
  m_ranks.clear();
  for (const session::UnrecordedRank& rank : ranks) {
    m_ranks[rank.rank] = rank;
  }
  m_focus = focus;
  m_goOn = goOn;
}

void AttachedRanks::begin() {
  m_lettingGo = m_pauseThen = false;
  m_session.debuggers().setFocus(m_focus);
}

/// None: it has no stop that is waited for.
AttachedRanks::Arrival AttachedRanks::arrivalOf(int rank, const QList<int>& withGdb) const {
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    const bool here = !m_lettingGo || gdb->stop().reason == mi::StopReason::Attached;
    return here ? Arrival::Here : Arrival::None;
  }
  const bool underWay = !m_lettingGo && withGdb.contains(rank) && !hasEnded(gdb);
  return underWay ? Arrival::UnderWay : Arrival::None;
}

AttachedRanks::Arrival AttachedRanks::arrive() {
  const QList<int> withGdb = m_session.debuggers().focus();
  QList<int> here;
  for (const int rank : std::as_const(m_focus)) {
    const Arrival arrival = arrivalOf(rank, withGdb);
    if (arrival == Arrival::UnderWay) {
      return arrival;
    }
    if (arrival == Arrival::Here) {
      here << rank;
    }
  }
  if (m_lettingGo) {
    return here.isEmpty() ? Arrival::Here : Arrival::UnderWay;
  }
  if (here.isEmpty()) {
    return Arrival::None;
  }
  m_lettingGo = m_goOn;
  if (m_lettingGo) {
    m_session.act(values::RankAction::Continue, here);
  }
  return m_lettingGo ? Arrival::UnderWay : Arrival::Here;
}

void AttachedRanks::pauseIfAsked() {
  if (std::exchange(m_pauseThen, false)) {
    m_session.act(values::RankAction::Pause, m_focus);
  }
}

void AttachedRanks::describe(int rank, const mi::StopEvent& stop, const std::string& reason,
                             Json& body) const {
  const session::UnrecordedRank& outside = m_ranks.at(rank);
  const std::string who = "rank " + std::to_string(rank) + ": ";
  if (!outside.core.isEmpty()) {
    describeCore(outside.end, who, body);
  } else if (stop.reason == mi::StopReason::Attached) {
    body["reason"] = reason;
    body["description"] = who + "attached to process " + std::to_string(outside.pid);
  }
}

}  // namespace pf::headless
