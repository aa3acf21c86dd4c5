// SPDX-License-Identifier: GPL-3.0-or-later
// The rank goes back to one of its snapshots.
#include <algorithm>
#include <csignal>

#include "replay_engine/agent/agent.h"
#include "replay_engine/agent/proc.h"

namespace pf::agent {

using protocol::WentBack;

namespace {
constexpr std::chrono::milliseconds kBackWithin(10'000);
}  // namespace

void Agent::goBack(const protocol::GoBack& order) {
  if (m_wayBack || !m_introduced || m_killed) {
    tell(WentBack{m_rank, 0, 0, false, "it is being started, or ended"});
    return;
  }
  const auto to = m_snapshots ? m_snapshots->latest(order.serial) : std::nullopt;
  if (!to) {
    const std::string why =
        m_snapshots ? obstacleText(m_page->page().noSnapshots.load()) : std::string();
    tell(WentBack{m_rank, 0, 0, false,
                  "no snapshot of rank " + std::to_string(m_rank) + " is kept" +
                      (why.empty() ? std::string() : ": " + why)});
    return;
  }
  m_wayBack = WayBack{*to, Clock::now(), false};
  RankPage& page = m_page->page();
  page.awake.store(0);
  page.trapOnStop.store(0);
  page.stopAt.store(to->serial);
  ::kill(m_program, SIGKILL);  // it ends when its GDB, if it has one, has been told so, too
}

/// The rank is gone: its children are ours now, and this one leaves another in its place.
void Agent::wakeSnapshot() {
  m_wayBack->woken = true;
  SnapshotKeeper::wake(m_wayBack->to);
}

void Agent::lookWhetherBack() {
  if (!m_wayBack) {
    return;
  }
  const pid_t awake = m_page->page().awake.load(std::memory_order_acquire);
  if (m_wayBack->woken && awake == m_wayBack->to.pid && !m_killed) {
    isBack(awake);
  } else if (m_wayBack->woken && !isDescendant(m_wayBack->to.pid, ::getpid())) {
    lostOnTheWay("its snapshot has ended");
  } else if (Clock::now() - m_wayBack->since >= kBackWithin) {
    lostOnTheWay(m_wayBack->woken ? "its snapshot does not wake" : "its process does not end");
  }
}

void Agent::isBack(pid_t process) {
  const std::uint64_t serial = m_wayBack->to.serial;
  m_wayBack.reset();
  m_program = process;
  m_divergedTold = false;
  m_trappedAt.reset();
  m_waiting = {};
  m_deadSince.reset();
  m_told = {};
  m_told.rank = m_rank;
  if (m_gdb.runs()) {
    m_page->page().trapOnStop.store(1);
  }
  m_page->wakeRank();
  tell(WentBack{m_rank, serial, process, false, {}});
  report(true);
}

void Agent::lostOnTheWay(const std::string& why) {
  tell(WentBack{m_rank, 0, 0, true,
                "rank " + std::to_string(m_rank) + " could not go back: " + why});
  m_wayBack.reset();
  m_snapshots->killAll();
  m_status = SIGKILL;
  m_ended = true;
}

}  // namespace pf::agent
