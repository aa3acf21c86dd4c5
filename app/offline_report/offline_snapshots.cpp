// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/offline_report/offline_snapshots.h"

#include <algorithm>
#include <utility>

#include "app/offline_report/offline_facts.h"

namespace pf::headless {
namespace {

constexpr std::size_t kMostSnapshots = 500;
constexpr double kLongest = 86400.0;  ///< seconds between two
constexpr int kStandingEveryMs = 10;
constexpr int kLooksForStanding = 200;

/// "event 17, waiting in MPI_Recv for any source".
std::string whereIs(const values::RankState& state) {
  if (state.activity == values::RankActivity::NotInReplay) {
    return "does not run";
  }
  const std::string detail = state.detail.toStdString();
  return "event " + std::to_string(state.serial) + (detail.empty() ? "" : ", " + detail);
}

}  // namespace

Snapshots::Snapshots(session::DebugSession& session, OfflineReport& report)
    : m_session(session), m_report(report) {
  connect(&m_timer, &QTimer::timeout, this, [this] { take({}); });
  m_wait.setInterval(kStandingEveryMs);
  connect(&m_wait, &QTimer::timeout, this, &Snapshots::ask);
  connect(&m_session.stacks(), &session::AllStacks::arrived, this, &Snapshots::arrived);
}

void Snapshots::start(double seconds) {
  m_since.start();
  if (seconds > 0.0) {
    m_report.snapshotEvery = std::min(seconds, kLongest);
    m_timer.start(static_cast<int>(m_report.snapshotEvery * 1e3));
  }
}

void Snapshots::take(const std::string& why) {
  if (m_asked || m_stopped || !m_session.isRunning()) {
    return;
  }
  if (m_report.snapshots.size() == kMostSnapshots) {
    stop();
    m_report.notes.push_back("After " + std::to_string(kMostSnapshots) +
                             " snapshots no more were taken.");
    return;
  }
  m_asked = true;
  m_next = {static_cast<double>(m_since.elapsed()) / 1e3, why, {}, {}};
  m_paused.clear();
  for (const values::RankState& state : m_session.rankStates()) {
    m_next.where.push_back(whereIs(state));
    if (state.activity == values::RankActivity::Running && running(state.rank) != nullptr) {
      m_paused << state.rank;
    }
  }
  if (!m_paused.isEmpty()) {
    m_session.act(values::RankAction::Pause, m_paused);
  }
  m_looks = 0;
  m_wait.start();
}

mi::GdbSession* Snapshots::running(int rank) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  return gdb != nullptr && gdb->state() == mi::SessionState::Running ? gdb : nullptr;
}

/// Once the paused ranks stand; a rank that does not come to that is shown without its stack.
void Snapshots::ask() {
  const bool stand = std::none_of(m_paused.begin(), m_paused.end(),
                                  [this](int rank) { return running(rank) != nullptr; });
  if (stand || ++m_looks > kLooksForStanding || !m_session.isRunning()) {
    m_wait.stop();
    m_session.stacks().ask();
  }
}

void Snapshots::arrived(const QList<values::RankStack>& stacks) {
  if (!m_asked || m_stopped) {
    return;
  }
  for (const values::RankStack& stack : stacks) {
    std::vector<ReportFrame> frames;
    for (const values::StackFrame& frame : stack.frames) {
      const std::string file = frame.file.toStdString();
      frames.push_back({frame.function.toStdString() + "()", placeText(file, frame.line),
                        sourceLine(file, frame.line)});
    }
    addStack(m_next.stacks, stack.rank, std::move(frames), stack.note.toStdString());
  }
  if (!stacks.isEmpty()) {
    m_report.snapshots.push_back(std::move(m_next));
  }
  for (const int rank : std::as_const(m_paused)) {
    mi::GdbSession* gdb = m_session.debugger(rank);
    if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
        gdb->stop().reason == mi::StopReason::Paused) {
      m_session.goOn(rank);
    }
  }
  m_asked = false;
  Q_EMIT taken();
}

void Snapshots::stop() {
  m_timer.stop();
  m_wait.stop();
  m_stopped = true;
  m_asked = false;
}

}  // namespace pf::headless

#include "moc_offline_snapshots.cpp"
