// SPDX-License-Identifier: GPL-3.0-or-later
// When ranks that were sent on have come to rest.
#include <algorithm>

#include "app/script/script_run.h"

namespace pf::headless {

using values::RankActivity;
using values::RankState;

namespace {

constexpr int kWaitsMs = 400;  ///< a rank that does nothing in a call for so long waits there …
constexpr int kWaitsMsEachRank = 15;  ///< … and so much longer for each rank that wants a core
constexpr int kToldMs = 150;          ///< that news of a rank may take
constexpr int kAllWaitMs = 12000;     ///< as settling as the session's own word
constexpr int kOthersMs = 10000;      ///< that ranks may go on computing once one has stopped
constexpr int kGdbsMs = 5000;         ///< that GDBs may take to make a breakpoint
constexpr int kLauncherMs = 8000;     ///< that the launcher may outlive the last rank
constexpr qsizetype kMostOutput = qsizetype{64} << 10U;

bool sameStates(const QList<RankState>& a, const QList<RankState>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const RankState& x, const RankState& y) {
        return x.activity == y.activity && x.serial == y.serial && x.detail == y.detail;
      });
}

}  // namespace

void ScriptRun::connectSession() {
  using S = session::DebugSession;
  connect(&m_session, &S::settled, this,
          [this] { m_settled = m_settled || m_session.isRunning(); });
  connect(&m_session, &S::rankStopped, this, [this](int rank) {
    m_stopped.insert(rank);
    m_framed.erase(rank);
  });
  connect(&m_session, &S::progress, this,
          [this](const QString& task) { m_progress = m_progress || !task.isEmpty(); });
  connect(&m_session.cycles(), &session::Cycles::changed, this, [this] {
    if (!m_session.cycles().none() && m_session.cycles().last().number != m_cycle) {
      m_cycle = m_session.cycles().last().number;
      m_settled = false;
      m_stopped.clear();
      m_told.clear();
      m_framed.clear();
      m_printed.clear();
      m_ended.reset();
    }
  });
  connect(&m_session, &S::ended, this, [this](int status) { m_ended = status; });
  connect(&m_session, &S::message, this, [this](const QString& text, bool problem) {
    if (m_leaving) {
      return;
    }
    if (!m_move) {
      std::fprintf(stderr, "photofinish: %s\n", sayable(text).toUtf8().constData());
    } else if (problem) {
      m_problem += (m_problem.isEmpty() ? QString() : QStringLiteral("\n")) + text;
    } else if (!text.startsWith(QLatin1String("Stopped: "))) {
      m_said << text;
    }
  });
  connectAnswers();
}

void ScriptRun::connectAnswers() {
  using S = session::DebugSession;
  connect(&m_session, &S::consoleText, this, [this](int rank, const QString& text, bool) {
    if (const auto asked = m_console.find(rank); asked != m_console.end()) {
      asked->second += text;
    }
  });
  connect(&m_session.inspector(), &session::Inspector::stackChanged, this,
          [this](int rank, const QList<values::StackFrame>& frames, int) {
            m_frames = rank == m_session.currentRank() ? frames : m_frames;
          });
  connect(&m_session.stacks(), &session::AllStacks::arrived, this,
          [this](const QList<values::RankStack>& stacks, qint64) {
            if (std::exchange(m_wantsStack, false) && m_busy) {
              showStack(stacks);
            }
          });
  connect(&m_session, &S::logged, this, [this](const values::LogEntry& entry) {
    say({entry.rank}, tr("log %1, after event %2: %3")
                          .arg(numberOf(entry.breakpoint))
                          .arg(entry.serial)
                          .arg(entry.text));
  });
  connect(&m_session, &S::output, this,
          [this](int rank, values::OutputStream stream, const QByteArray& bytes) {
            const std::string lines =
                m_lineBuffers.feed(rank, stream == values::OutputStream::Err ? 2 : 1,
                                   {bytes.constData(), static_cast<std::size_t>(bytes.size())});
            QByteArray& printed = m_printed[rank];
            printed = (printed + QByteArray::fromStdString(lines)).right(kMostOutput);
            std::fputs(marked(lines, "[rank " + std::to_string(rank) + "] ").c_str(), stderr);
          });
}

/// Does `act`, and completes the command once the ranks have come to rest.
void ScriptRun::move(const Move& how, const std::function<void()>& act) {
  m_move = how;
  m_settled = m_progress = false;
  m_stopped.clear();
  m_said.clear();
  m_problem.clear();
  m_someStopped.invalidate();
  act();
  m_wanted = m_session.currentRank();
  const bool underWay = m_progress || (m_session.isReplaying() && !m_session.isRunning());
  if (how.refusable && !underWay) {
    fail(m_problem.isEmpty() ? m_said.join(QLatin1Char('\n')) : m_problem);
  }
}

bool ScriptRun::rests(const RankState& state) {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (gdb == nullptr) {
    return state.activity == RankActivity::Stopped;
  }
  return gdb->state() == mi::SessionState::Stopped && !gdb->isAboutToRun() &&
         state.activity != RankActivity::Gated;
}

/// The rank's process is no more.
bool ScriptRun::gone(const RankState& state) {
  if (mi::GdbSession* gdb = m_session.debugger(state.rank); gdb != nullptr) {
    return gdb->state() == mi::SessionState::Exited;
  }
  const bool last =
      state.activity == RankActivity::Finished || state.activity == RankActivity::Failed;
  return last && !state.detail.isEmpty();  // else it is in MPI_Finalize
}

/// Ranks that are to stop with one that has come to a breakpoint.
QSet<int> ScriptRun::stopTogether(const QList<RankState>& states) {
  QSet<int> ranks;
  for (const RankState& state : states) {
    const int id =
        rests(state) && m_stopped.contains(state.rank) ? m_session.breakpointAt(state.rank) : 0;
    const values::Breakpoint* breakpoint = id == 0 ? nullptr : known(id);
    if (breakpoint == nullptr || breakpoint->stops == values::StopsWho::Alone) {
      continue;
    }
    bool ok = true;
    const QList<int> group = values::parseRankSet(breakpoint->group, ok);
    for (const RankState& other : states) {
      if (other.debugger &&
          (breakpoint->stops == values::StopsWho::All || group.contains(other.rank))) {
        ranks << other.rank;
      }
    }
  }
  return ranks;
}

/// Whether nobody is on the way any more.
bool ScriptRun::arrived() {
  const QList<RankState> states = m_session.rankStates();
  if (!sameStates(states, m_seen)) {
    m_seen = states;
    m_unchanged.start();
  }
  const QSet<int> together = stopTogether(states);
  bool computing = false;
  bool allGone = true;
  bool someWait = false;
  for (const RankState& state : states) {
    const bool ended = gone(state);
    allGone = allGone && ended;
    if (ended) {
      continue;
    }
    const bool at = rests(state);
    if (m_move->ranks.contains(state.rank) && !(at && m_stopped.contains(state.rank))) {
      return false;
    }
    const bool waits = !together.contains(state.rank) && (state.activity == RankActivity::InCall ||
                                                          state.activity == RankActivity::Finished);
    someWait = someWait || (!at && waits);
    computing = computing || (!at && !waits);
  }
  if (allGone) {  // the session says when the launcher has ended, too
    return m_unchanged.elapsed() > kLauncherMs;
  }
  const qint64 quiet = m_unchanged.elapsed();
  const bool settled =
      !m_move->settles || m_settled || (m_move->mayWait && !computing && quiet > kAllWaitMs);
  if (!settled) {
    return false;
  }
  if (!m_someStopped.isValid()) {
    m_someStopped.start();
  }
  if (computing) {
    return m_someStopped.elapsed() > kOthersMs;
  }
  return !someWait ||
         (quiet > kWaitsMs + kWaitsMsEachRank * states.size() && m_since.elapsed() > kToldMs);
}

void ScriptRun::look() {
  if (m_leaving) {
    if (!m_session.isReplaying()) {
      m_watch.stop();
      leave();
    }
    return;
  }
  if (!m_busy) {
    return;
  }
  const bool late = m_since.elapsed() > m_timeoutMs;
  if (m_changed && (gdbsAreIdle() || m_since.elapsed() > kGdbsMs)) {
    std::exchange(m_changed, {})();
    return;
  }
  if (!m_move) {
    if (late) {
      QList<int> silent(m_missing.begin(), m_missing.end());
      fail(tr("no answer within %1 s%2")
               .arg(m_timeoutMs / 1000.0)
               .arg(silent.isEmpty()
                        ? QString()
                        : tr(" from the GDB of rank %1").arg(values::rankSetText(silent))));
    }
    return;
  }
  const bool over = !m_session.isReplaying();
  const bool broken = !m_problem.isEmpty() && (over || m_session.isRunning());
  if (broken) {
    fail(m_problem);
  } else if (over || (m_session.isRunning() && arrived())) {
    moved();
  } else if (late) {
    fail(tr("not done within %1 s: %2").arg(m_timeoutMs / 1000.0).arg(stillMoving()));
  }
}

bool ScriptRun::gdbsAreIdle() {
  for (const RankState& state : m_session.rankStates()) {
    mi::GdbSession* gdb = m_session.debugger(state.rank);
    if (gdb != nullptr && gdb->queue().waiting() + gdb->queue().inFlight() > 0) {
      return false;
    }
  }
  return true;
}

QString ScriptRun::stillMoving() {
  if (!m_session.isRunning()) {
    return tr("the ranks are still being started");
  }
  QStringList parts;
  for (const RankState& state : m_session.rankStates()) {
    if (!gone(state) && !rests(state)) {
      parts << tr("rank %1 runs %2 (event %3)")
                   .arg(state.rank)
                   .arg(state.activity == RankActivity::InCall ? state.detail
                                                               : tr("in its own code"))
                   .arg(state.serial);
    }
  }
  return parts.isEmpty() ? tr("the replay has not said that it is there")
                         : parts.join(QLatin1String("; "));
}

/// All have come to rest: one of those that tell something becomes the current rank.
void ScriptRun::moved() {
  const bool onlyChanges = m_move->onlyChanges;
  m_move.reset();
  chooseRank();
  locate([this, onlyChanges] {
    for (const QString& text : std::as_const(m_said)) {
      sayForAll(sayable(text));
    }
    QList<int> all;
    for (int rank = 0; rank < rankCount(); ++rank) {
      all << rank;
    }
    const qsizetype before = m_answer.size();
    tell(all, true);
    if (m_answer.size() == before && !onlyChanges) {
      tell({m_session.currentRank()}, false);
    }
    const int current = m_session.currentRank();
    m_summaries[m_cycle] = m_ended ? tr("ended, exit status %1").arg(*m_ended)
                                   : tr("rank %1: %2").arg(current).arg(m_told[current]);
    if (m_ended) {
      sayForAll(tr("the replay has ended, exit status %1").arg(*m_ended));
    }
    warnOfBreakpoints();
    done();
  });
}

/// What a person would look at first: a signal, a breakpoint, anything that has stopped.
int ScriptRun::urgency(const RankState& state) {
  if (!rests(state)) {
    return 0;
  }
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (gdb == nullptr || !m_stopped.contains(state.rank)) {
    return 1;
  }
  switch (gdb->stop().reason) {
    case mi::StopReason::Signal:
      return 4;
    case mi::StopReason::Breakpoint:
    case mi::StopReason::Watchpoint:
    case mi::StopReason::WatchpointScope:
    case mi::StopReason::Other:
      return 3;
    case mi::StopReason::Event:
      return breakpointBefore({state.rank, state.serial + 1}) != 0 ? 3 : 2;
    case mi::StopReason::Attached:
      return 1;
    case mi::StopReason::Step:
    case mi::StopReason::Finished:
    case mi::StopReason::Location:
    case mi::StopReason::Paused:
    case mi::StopReason::Exited:
    case mi::StopReason::ExitedBySignal:
      break;
  }
  return 2;
}

/// The session takes the rank that has stopped last, which differs from run to run.
void ScriptRun::chooseRank() {
  int best = -1;
  int most = 0;
  for (const RankState& state : m_session.rankStates()) {
    const int now = urgency(state);
    if (now > most || (now == most && now > 0 && state.rank == m_wanted)) {
      most = now;
      best = state.rank;
    }
  }
  m_session.setCurrentRank(best >= 0 ? best : m_wanted);
}

}  // namespace pf::headless
