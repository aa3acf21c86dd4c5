// SPDX-License-Identifier: GPL-3.0-or-later
// The last second of an agent: nothing that the program said is lost, nothing is left behind.
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "replay_engine/agent/agent.h"
#include "replay_engine/agent/log_syncer.h"

namespace pf::agent {

using namespace protocol;  // NOLINT(google-build-using-namespace): see agent_rank.cpp

namespace {
constexpr std::chrono::milliseconds kPause(5);
constexpr std::chrono::milliseconds kQuietMeansEnd(100);
constexpr std::chrono::milliseconds kEchoWithin(10'000);
constexpr std::chrono::milliseconds kGdbWithin(1500);
constexpr std::chrono::milliseconds kLastWords(500);
}  // namespace

void Agent::finish() {
  if (m_introduced && !replaying() && !m_daemon.valid()) {  // who makes the trace may be gone, too
    syncNow(logPath());  // not as the page says it: the rank may have written over that
    syncNow(contentsPath());
  }
  if (m_snapshots) {
    m_snapshots->killAll();  // they hold its output open
  }
  if (m_output) {
    drainOutput();
  }
  if (m_gdb.runs()) {
    drainGdb();
  }
  if (m_introduced) {
    report(false);
  }
  tell(exitReport());
  const auto deadline = Clock::now() + kLastWords;
  while (m_daemon.valid() && m_daemon.queued() > 0 && m_daemon.flush().ok() &&
         Clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
  }
  m_daemon.close();
}

/// Until both streams end, or a child of the program holds them open and says nothing.
void Agent::drainOutput() {
  const auto deadline = Clock::now() + kEchoWithin;
  auto lastNews = Clock::now();
  while (Clock::now() < deadline) {
    const std::size_t before = m_output->echoQueued(0) + m_output->echoQueued(1);
    const bool open = m_output->open(0) || m_output->open(1);
    if (before == 0 && (!open || Clock::now() - lastNews >= kQuietMeansEnd)) {
      return;
    }
    poll(kPause);
    const bool news = std::any_of(m_polled.begin(), m_polled.end(), [this](const ::pollfd& entry) {
      return entry.revents != 0 && entry.fd >= 0 && entry.fd != m_daemon.fd() &&
             entry.fd != m_signals.fd();
    });
    if (news) {
      lastNews = Clock::now();
    }
  }
}

/// Its rank has ended: GDB has something to say about that, and may be killed.
void Agent::drainGdb() {
  const auto deadline = Clock::now() + kGdbWithin;
  auto lastNews = Clock::now();
  while (m_gdb.runs() && Clock::now() < deadline) {
    if (Clock::now() - lastNews >= kQuietMeansEnd) {
      m_gdb.end();
    }
    m_gdb.killIfHung(0, kLastWords);
    poll(kPause);
    if (m_gdb.outFd() >= 0 &&
        std::any_of(m_polled.begin(), m_polled.end(), [this](const ::pollfd& entry) {
          return entry.fd == m_gdb.outFd() && entry.revents != 0;
        })) {
      lastNews = Clock::now();
    }
    if (m_gdb.reap()) {
      gdbEnded();
    }
  }
  m_gdb.signal(SIGKILL);
}

RankExited Agent::exitReport() const {
  const RankState state = m_page->state();
  RankExited out;
  out.rank = m_rank;
  out.phase = state.phase;
  out.serial = state.serial;
  const std::string who = m_rank >= 0 ? "rank " + std::to_string(m_rank) : "'" + m_command[0] + "'";
  if (WIFSIGNALED(m_status)) {
    out.exitStatus = -1;
    out.signal = WTERMSIG(m_status);
    out.text = who + " was ended by signal " + std::to_string(out.signal) + " (" +
               ::strsignal(out.signal) + ")";
  } else {
    out.exitStatus = WEXITSTATUS(m_status);
    out.text = who + " ended with status " + std::to_string(out.exitStatus);
  }
  if (state.phase == RankPhase::Launched) {
    out.text += " and never called MPI_Init";
  } else if (state.phase != RankPhase::Finalized) {
    out.text += " after its event " + std::to_string(state.serial) + ", without MPI_Finalize";
  }
  return out;
}

}  // namespace pf::agent
