// When ranks that were sent on have come to rest, and what is told of them then.
#include "script_run.h"

#include <algorithm>

#include <QRegularExpression>

#include "app/replay.h"
#include "mi_bridge/stop_values.h"

namespace pf::headless {

using views::RankActivity;
using views::RankState;

namespace {

constexpr int kWaitsMs = 400;  ///< a rank that does nothing in a call for so long waits there …
constexpr int kWaitsMsEachRank = 15;  ///< … and so much longer for each rank that wants a core
constexpr int kToldMs = 150;          ///< that news of a rank may take
constexpr int kAllWaitMs = 12000;     ///< as settling as the session's own word
constexpr int kOthersMs = 10000;      ///< that ranks may go on computing once one has stopped
constexpr int kGdbsMs = 5000;         ///< that GDBs may take to make a breakpoint
constexpr int kLauncherMs = 8000;     ///< that the launcher may outlive the last rank
constexpr int kMostFrames = 63;
constexpr qsizetype kMostOutput = qsizetype{64} << 10U;

bool sameStates(const QList<RankState>& a, const QList<RankState>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const RankState& x, const RankState& y) {
        return x.activity == y.activity && x.serial == y.serial && x.detail == y.detail;
      });
}

QString placeOf(const std::vector<mi::Frame>& frames) {
  const mi::Frame& frame = frames[mi::firstUserFrame(frames).value_or(0)];
  QString text =
      QString::fromStdString(frame.function.empty() ? std::string("??") : frame.function) +
      QStringLiteral("()");
  if (frame.line > 0) {
    const QString file =
        QString::fromStdString(frame.fullname.empty() ? frame.file : frame.fullname);
    text += QStringLiteral(" at %1:%2").arg(file.section(QLatin1Char('/'), -1)).arg(frame.line);
  }
  return text;
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
  connect(&m_session, &S::cyclesChanged, this, [this] {
    if (!m_session.cycles().isEmpty() && m_session.cycles().last().number != m_cycle) {
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
  connect(&m_session, &S::stackChanged, this,
          [this](int rank, const QList<views::StackFrame>& frames, int) {
            m_frames = rank == m_session.currentRank() ? frames : m_frames;
          });
  connect(&m_session, &S::stacksArrived, this,
          [this](const QList<views::RankStack>& stacks, qint64) {
            if (std::exchange(m_wantsStack, false) && m_busy) {
              showStack(stacks);
            }
          });
  connect(&m_session, &S::logged, this, [this](const views::LogEntry& entry) {
    say({entry.rank}, tr("log %1, after event %2: %3")
                          .arg(numberOf(entry.breakpoint))
                          .arg(entry.serial)
                          .arg(entry.text));
  });
  connect(&m_session, &S::output, this,
          [this](int rank, views::OutputStream stream, const QByteArray& bytes) {
            const std::string lines =
                m_lineBuffers.feed(rank, stream == views::OutputStream::Err ? 2 : 1,
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

/// Whether nobody is on the way any more.
bool ScriptRun::arrived() {
  const QList<RankState> states = m_session.rankStates();
  if (!sameStates(states, m_seen)) {
    m_seen = states;
    m_unchanged.start();
  }
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
    const bool waits =
        state.activity == RankActivity::InCall || state.activity == RankActivity::Finished;
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
                        : tr(" from the GDB of rank %1").arg(views::rankSetText(silent))));
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

void ScriptRun::locate(const std::function<void()>& then) {
  m_then = then;
  m_missing.clear();
  m_places.clear();
  m_begun.clear();
  const quint64 number = ++m_question;
  for (const RankState& state : m_session.rankStates()) {
    if (m_session.debugger(state.rank) != nullptr && rests(state)) {
      m_missing.insert(state.rank);
    }
  }
  const std::set<int> asked = m_missing;
  m_missing.insert(-1);  // not before all are asked
  for (const int rank : asked) {
    mi::GdbSession* gdb = m_session.debugger(rank);
    gdb->inspect().frames(gdb->stop().thread, 0, kMostFrames,
                          [this, rank, number](const Result<std::vector<mi::Frame>>& frames) {
                            mi::GdbSession* here = m_session.debugger(rank);
                            if (number != m_question) {
                              return;
                            }
                            if (!frames || frames->empty() || here == nullptr) {
                              m_missing.erase(rank);
                              answered();
                              return;
                            }
                            m_places[rank] = placeOf(*frames);
                            mi::eventsBegun(
                                *here, [this, rank, number](const Result<std::uint64_t>& begun) {
                                  if (number == m_question) {
                                    if (begun) {
                                      m_begun[rank] = *begun;
                                    }
                                    m_missing.erase(rank);
                                    answered();
                                  }
                                });
                          });
  }
  m_missing.erase(-1);
  answered();
}

void ScriptRun::answered() {
  if (m_missing.empty() && m_then) {
    std::exchange(m_then, {})();
  }
}

void ScriptRun::tell(const QList<int>& ranks, bool changedOnly) {
  std::map<int, QString> texts;
  for (const RankState& state : m_session.rankStates()) {
    if (!ranks.contains(state.rank)) {
      continue;
    }
    const QString text = rankText(state);
    if (m_told[state.rank] != text || !changedOnly) {
      texts[state.rank] = text;
    }
    m_told[state.rank] = text;
  }
  sayEqualOnes(texts);
}

int ScriptRun::breakpointBefore(const EventRef& event) const {
  for (const views::Breakpoint& breakpoint : m_session.breakpoints()) {
    if (breakpoint.enabled && breakpoint.events.contains(event)) {
      return breakpoint.id;
    }
  }
  return 0;
}

/// "breakpoint 1 (sum.c:18), after event 3: main() at sum.c:18"
QString ScriptRun::stopText(const RankState& state, mi::GdbSession& gdb) {
  const auto begun = m_begun.find(state.rank);
  const Serial serial = begun == m_begun.end() ? state.serial : begun->second;
  const mi::StopEvent& stop = gdb.stop();
  const QString place = m_places[state.rank];
  const bool standing = stop.reason == mi::StopReason::Attached &&
                        state.detail.startsWith(QLatin1String("before event"));
  if (stop.reason == mi::StopReason::Event || standing) {
    const EventRef event{state.rank, serial + 1};
    const int id = breakpointBefore(event);
    const QString why =
        id == 0
            ? QString()
            : tr("breakpoint %1 (%2), ").arg(numberOf(id)).arg(views::breakpointPlace(*known(id)));
    return why + tr("before event %1: %2")
                     .arg(serial + 1)
                     .arg(QString::fromStdString(app::eventText(m_data->execution, event)));
  }
  const int id = m_session.breakpointAt(state.rank);
  QString why = QString::fromStdString(stop.describe());
  if (stop.reason == mi::StopReason::Watchpoint) {
    why = tr("watch %1: was %2, is %3")
              .arg(QString::fromStdString(stop.watchExpression),
                   QString::fromStdString(stop.oldValue), QString::fromStdString(stop.newValue));
  } else if (why.size() > 1 && why.at(1).isLower()) {
    why.replace(0, 1, why.at(0).toLower());
  }
  if (const views::Breakpoint* breakpoint = known(id); id != 0 && breakpoint != nullptr) {
    why = tr("breakpoint %1 (%2)").arg(numberOf(id)).arg(views::breakpointPlace(*breakpoint));
    const bool caught = breakpoint->kind == views::BreakpointKind::Catch;
    why += caught && !state.detail.startsWith(QLatin1String("breakpoint"))
               ? QStringLiteral(": ") + state.detail
               : QString();
  }
  return tr("%1, after event %2: %3").arg(why).arg(serial).arg(place);
}

QString ScriptRun::rankText(const RankState& state) {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (m_session.isRunning() && gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    return stopText(state, *gdb);
  }
  switch (state.activity) {
    case RankActivity::InCall:
      return tr("%1, event %2").arg(state.detail).arg(state.serial);
    case RankActivity::Stopped: {
      const EventRef event{state.rank, state.serial + 1};
      return tr("before event %1: %2")
          .arg(event.serial)
          .arg(QString::fromStdString(app::eventText(m_data->execution, event)));
    }
    case RankActivity::NotStarted:
    case RankActivity::Gated:
    case RankActivity::Running:
    case RankActivity::Failed:
    case RankActivity::Finished:
    case RankActivity::Lost:
      break;
  }
  if (state.activity == RankActivity::Finished && state.detail.isEmpty()) {
    return tr("in MPI_Finalize, event %1").arg(state.serial);
  }
  if (gone(state)) {
    static const QRegularExpression kRank(QStringLiteral("^rank \\d+ "));
    return QString(state.detail).remove(kRank);
  }
  const QString activity = views::activityText(state.activity);
  return (state.detail.isEmpty() ? activity : tr("%1: %2").arg(activity, state.detail)) +
         (state.serial == 0 ? QString() : tr(", after event %1").arg(state.serial));
}

}  // namespace pf::headless
