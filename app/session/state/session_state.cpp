// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/state/session_state.h"

#include <algorithm>
#include <iterator>

#include <QCoreApplication>

#include "replay_engine/groups/replay_groups.h"
#include "views/values/debug_values.h"

namespace pf::session {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("pf::session::SessionState", text);
}

/// In what the rank is, while it runs by what its agent says.
void describeRunning(const RankNow& now, values::RankState& state) {
  if (now.state.inCall == 0) {
    state.activity = now.state.phase == RankPhase::Running ? values::RankActivity::Running
                                                           : values::RankActivity::NotStarted;
    return;
  }
  state.activity = values::RankActivity::InCall;
  state.detail = tr("in %1").arg(QString::fromStdString(now.state.call));
  if (now.state.waitPeer >= 0) {
    state.detail += tr(", waiting for rank %1").arg(now.state.waitPeer);
  } else if (now.state.waitPeer == kAnySource) {
    state.detail += tr(", waiting for any source");
  }
}

void describe(const RankNow& now, values::RankState& state) {
  state.serial = now.state.serial;
  state.inside = now.inside();
  state.debugger = now.attached;
  state.host = now.host;
  state.pid = now.pid;
  state.where = now.where;
  state.detail = now.why;
  if (now.exited) {
    state.activity = now.state.phase == RankPhase::Finalized ? values::RankActivity::Finished
                                                             : values::RankActivity::Failed;
    state.detail = now.end;
  } else if (now.state.phase == RankPhase::Diverged) {
    state.activity = values::RankActivity::Failed;
    state.detail = tr("diverged");
  } else if (now.state.phase == RankPhase::Stopped) {
    state.activity = values::RankActivity::Stopped;
    state.detail = tr("before event %1, %2")
                       .arg(now.state.serial + 1)
                       .arg(QString::fromStdString(now.state.call));
  } else if (!now.why.isEmpty()) {
    state.activity = values::RankActivity::Stopped;
  } else if (now.state.phase == RankPhase::Gated || now.state.phase == RankPhase::Hello) {
    state.activity = values::RankActivity::Gated;
  } else if (now.state.phase == RankPhase::Finalized) {
    state.activity = values::RankActivity::Finished;
  } else {
    describeRunning(now, state);
  }
}

}  // namespace

bool SessionState::runs(int rank) const {
  return part.empty() ? knows(rank) : std::ranges::binary_search(part, rank);
}

QString SessionState::notInReplay(int rank) const {
  const auto words = [](const std::vector<Rank>& ranks) {
    return (ranks.size() == 1 ? tr("rank %1") : tr("ranks %1"))
        .arg(values::rankSetText(QList<int>(ranks.begin(), ranks.end())));
  };
  std::vector<Rank> both = part;
  const auto groups =
      ReplayGroups::parse(run.groups.value_or("all"), static_cast<int>(rankInfos.size()));
  if (groups && knows(rank)) {
    std::ranges::copy(groups->members(groups->groupOf(rank)), std::back_inserter(both));
    std::ranges::sort(both);
  }
  return tr("Rank %1 is not in this replay, which runs %2 alone. To debug it too, debug %3.")
      .arg(rank)
      .arg(words(part), both.size() < rankInfos.size() ? words(both) : tr("all ranks"));
}

Serial SessionState::serialOf(int rank) const {
  const auto found = now.find(rank);
  return found == now.end() ? 0 : found->second.state.serial;
}

bool SessionState::standsBeforeEvent(int rank) const {
  const auto found = now.find(rank);
  return found != now.end() && found->second.state.phase == RankPhase::Stopped;
}

std::vector<Serial> SessionState::eventsDone() const {
  std::vector<Serial> done(rankInfos.size(), 0);
  for (std::size_t rank = 0; rank < done.size(); ++rank) {
    done[rank] = runs(static_cast<int>(rank)) ? 0 : whole().execution.ranks[rank].events.size();
  }
  for (const auto& [rank, each] : now) {
    if (runs(rank)) {
      done[static_cast<std::size_t>(rank)] = each.state.serial - (each.inside() ? 1 : 0);
    }
  }
  return done;
}

RanksNow SessionState::ranksNow() const {
  RanksNow ranks{std::vector<Serial>(rankInfos.size(), 0),
                 std::vector<bool>(rankInfos.size(), false)};
  for (const auto& [rank, each] : now) {
    if (runs(rank)) {
      ranks.begun[static_cast<std::size_t>(rank)] = each.state.serial;
      ranks.standing[static_cast<std::size_t>(rank)] = each.state.phase == RankPhase::Stopped;
    }
  }
  return ranks;
}

mi::GdbSession* SessionState::debugger(int rank) const {
  const auto found = now.find(rank);
  return found != now.end() && found->second.attached ? fleet.session(rank) : nullptr;
}

mi::GdbSession* SessionState::stoppedDebugger(int rank) const {
  mi::GdbSession* gdb = debugger(rank);
  return gdb != nullptr && gdb->state() == mi::SessionState::Stopped ? gdb : nullptr;
}

QList<values::RankState> SessionState::rankStates() const {
  QList<values::RankState> states;
  for (std::size_t r = 0; r < rankInfos.size(); ++r) {
    values::RankState state;
    state.rank = static_cast<Rank>(r);
    if (!runs(state.rank)) {
      state.activity = values::RankActivity::NotInReplay;
    }
    if (const auto found = now.find(state.rank); found != now.end()) {
      describe(found->second, state);
    } else if (source != Source::Recording) {
      state.activity = values::RankActivity::NotHere;
      state.detail = source == Source::Cores ? tr("no core file of it is open")
                     : phase == Phase::Idle  ? tr("let go of")
                                             : tr("no process of it was found on this host");
    } else if (r < trace->ends.size()) {
      state.detail = tr("recorded: %1").arg(trace->ends[r].text);
    }
    states.append(state);
  }
  return states;
}

std::vector<values::ReplayPosition> SessionState::positions() const {
  std::vector<values::ReplayPosition> all;
  for (const auto& [rank, each] : now) {
    const bool stopped = each.state.phase == RankPhase::Stopped || !each.why.isEmpty();
    const bool inside = each.inside();
    all.push_back({rank, each.state.serial + (inside ? 0 : 1), stopped, inside});
  }
  return all;
}

}  // namespace pf::session
