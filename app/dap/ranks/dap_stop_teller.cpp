// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_stop_teller.h"

#include <algorithm>

#include "app/front_end/stall_text.h"

namespace pf::headless {

using session::Source;
using values::RankState;

namespace {

constexpr int kAwaited = 100;  ///< times that publish() puts itself off
constexpr int kPublishAfterMs = 30;

}  // namespace

StopTeller::StopTeller(session::DebugSession& session, DapClient& client, Threads& threads,
                       const BreakpointAnswers& breakpoints)
    : m_session(session),
      m_client(client),
      m_threads(threads),
      m_body(session, breakpoints, threads.attached()) {
  using S = session::DebugSession;
  m_publishSoon.setSingleShot(true);
  m_publishSoon.setInterval(kPublishAfterMs);
  const auto publishSoon = [this] { m_publishSoon.start(); };
  connect(&m_publishSoon, &QTimer::timeout, this, &StopTeller::publish);
  connect(&session, &S::ranksChanged, this, publishSoon);
  connect(&session.debuggers(), &session::Debuggers::focusChanged, this, publishSoon);
  connect(&session, &S::rankStopped, this, &StopTeller::onStopped);
  connect(&session, &S::stalled, this, &StopTeller::onStalled);
  connect(&session, &S::ended, this, [this](int status) { m_exitStatus = status; });
}

void StopTeller::end() {
  m_telling = false;
  m_publishSoon.stop();
}

/// It has run without our doing, by a line of the console, if the client knows it as stopped.
void StopTeller::onStopped(int rank) {
  if (m_told.knowsStopped(rank)) {
    leave(rank);
    tellContinued(rank);
  }
}

void StopTeller::onStalled(const QString& text, bool deadlock) {
  m_circumstances.stalled = stallText(text, deadlock);
  QList<int> ranks;
  for (const RankState& state : m_threads.all()) {
    if (state.debugger && !m_threads.atRest(state) && !m_threads.gone(state)) {
      ranks << state.rank;
    }
  }
  m_session.act(values::RankAction::Pause, ranks);
}

void StopTeller::leave(int rank) {
  m_told.resumed(rank);
  Q_EMIT resumed(rank);
}

void StopTeller::sent(const char* reason) {
  sentOn(std::set<int>(m_told.stopped()), reason);
  m_told.forgetGone();
  m_exitStatus.reset();
  m_moving = true;
  Q_EMIT elsewhere();
}

void StopTeller::sentOn(const std::set<int>& ranks, const char* reason) {
  for (const int rank : ranks) {
    leave(rank);
  }
  m_circumstances.goalReason = reason;
  m_circumstances.stalled.clear();  // whatever moves them
}

void StopTeller::pauseAsked() {
  m_circumstances.goalReason = "pause";
  m_threads.attached().askForPause(m_moving && m_session.source() == Source::Job);
}

void StopTeller::settled() {
  m_moving = m_moving && m_session.source() != Source::Recording;
  publish();
}

void StopTeller::publish() {
  if (!m_telling || !m_session.isRunning() || !haveArrived()) {
    return;
  }
  const QList<RankState> states = m_threads.all();
  if (awaitsGdbs(states)) {
    m_publishSoon.start();
    return;
  }
  std::vector<RankStanding> standings;
  for (const RankState& state : states) {
    standings.push_back(m_threads.standing(state));
  }
  const ToldRanks::News news = m_told.update(standings, m_session.currentRank());
  tellChanges(news.changes);
  tellStopped(news);
  if (news.stopped.empty() && m_session.source() == Source::Job &&
      std::all_of(standings.begin(), standings.end(), [](const auto& each) { return each.gone; })) {
    Q_EMIT allGone();
  }
}

/// False: on the way, or the session has ended with that.
bool StopTeller::haveArrived() {
  if (!m_moving || m_session.source() == Source::Recording) {
    return !m_moving;
  }
  switch (m_threads.attached().arrive()) {
    case AttachedRanks::Arrival::UnderWay:
      return false;
    case AttachedRanks::Arrival::None:
      Q_EMIT allGone();
      return false;
    case AttachedRanks::Arrival::Here:
      break;
  }
  m_moving = false;
  m_threads.attached().pauseIfAsked();
  return m_telling;
}

bool StopTeller::awaitsGdbs(const QList<RankState>& states) {
  const bool awaits = std::any_of(states.begin(), states.end(), [this](const RankState& state) {
    return m_threads.arrives(state);
  });
  if (awaits && ++m_awaited < kAwaited) {
    return true;
  }
  m_awaited = 0;
  return false;
}

void StopTeller::tellChanges(const std::vector<ToldRanks::Change>& changes) {
  for (const ToldRanks::Change& change : changes) {
    Q_EMIT resumed(change.rank);
    if (change.gone) {
      m_client.tell("thread", {{"reason", "exited"}, {"threadId", Threads::idOf(change.rank)}});
    } else {
      tellContinued(change.rank);
    }
  }
}

void StopTeller::tellContinued(int rank) {
  m_client.tell("continued", {{"threadId", Threads::idOf(rank)}, {"allThreadsContinued", false}});
}

void StopTeller::tellStopped(const ToldRanks::News& news) {
  for (std::size_t i = 0; i < news.stopped.size() && (i == 0 || !news.allStopped); ++i) {
    Json body = m_body.of(news.stopped[i], m_circumstances);
    body["allThreadsStopped"] = news.allStopped;
    if (i > 0 || (news.othersWere && body["reason"] == "pause")) {
      body["preserveFocusHint"] = true;
    }
    m_client.tell("stopped", std::move(body));
  }
}

}  // namespace pf::headless

#include "moc_dap_stop_teller.cpp"
