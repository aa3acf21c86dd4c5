// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/follow_recording.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "app/collation/call_sites.h"
#include "app/job/job_driver.h"
#include "replay_engine/base/process_state.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf::app {
namespace {

using Clock = std::chrono::steady_clock;

/// A launcher that is asked to end its job takes some seconds. Open MPI's now and then never does.
constexpr std::chrono::seconds kLauncherEndsWithin(10);

/// A launcher that was killed leaves ranks, which find that out after a second or two.
constexpr std::chrono::seconds kRanksOutliveIt(15);

/// Tells of races while the program runs: the first one, and then each power of ten.
class RaceTeller {
 public:
  void note(const protocol::RankState& state) {
    if (state.rank < 0 || state.races == m_races[state.rank]) {
      return;
    }
    m_total += state.races - m_races[state.rank];
    m_races[state.rank] = state.races;
    if (m_total >= m_next) {
      std::fprintf(stderr, "photofinish: %llu racing %s so far\n",
                   static_cast<unsigned long long>(m_total),
                   m_total == 1 ? "delivery" : "deliveries");
      while (m_next <= m_total) {
        m_next *= 10;
      }
    }
  }

 private:
  std::map<Rank, std::uint32_t> m_races;
  std::uint64_t m_total = 0;
  std::uint64_t m_next = 1;
};

/// A script that starts a launcher, or a recorder that a launcher has started: the ranks have no
/// agents of their own.
Error noLauncher(const std::string& program, int ranks) {
  return Error{ErrorCode::Usage,
               "'" + program + "' was recorded as a program of one rank, but is " +
                   std::to_string(ranks) + " ranks; the run is ended",
               "Put 'photofinish record' in front of mpirun: photofinish record mpirun …; where a "
               "script starts mpirun, in the script."};
}

/// --groups names ranks that the job does not have: how many there are, the first rank that comes knows.
std::optional<Error> wrongGroups(const RunFacts& facts, int ranks) {
  if (!facts.groups) {
    return std::nullopt;
  }
  const Result<ReplayGroups> groups = ReplayGroups::parse(*facts.groups, ranks);
  if (groups) {
    return std::nullopt;
  }
  return Error{ErrorCode::Usage,
               "--groups '" + *facts.groups + "' does not fit the job, which has " +
                   std::to_string(ranks) + (ranks == 1 ? " rank; " : " ranks; ") +
                   groups.error().message,
               groups.error().advice};
}

/// Many ranks wait at the same place.
class Places {
 public:
  const std::string& of(const protocol::CodePlace& place) {
    if (!place.text.empty()) {  // a line of Python: the rank says it
      return place.text;
    }
    std::string& text = m_known[{place.module, place.offset}];
    if (text.empty() && !place.module.empty()) {
      text = placeText(place.module, place.offset);
    }
    return text;
  }

 private:
  std::map<std::pair<std::string, std::uint64_t>, std::string> m_known;
};

class Following final : public JobFollower {
 public:
  Following(Job& job, RunFacts& facts, InputTee* input, const Patience& patience)
      : m_job(job), m_facts(facts), m_input(input), m_patience(patience) {}

  Result<int> run();

 private:
  void heard(const protocol::Message& message) override;
  void daemonLost() override;
  void noticed(const std::string& text) override;
  void turn() override;
  [[nodiscard]] bool expectsMore() override;
  [[nodiscard]] pollfd alsoWaitsFor(bool ended) const override;
  void otherCame() override { m_input->pump(); }
  void exited(const protocol::RankExited& rank);
  void hello(const protocol::RankHello& rank);
  void moved(const protocol::RankState& state);
  void stalled(const protocol::Verdict& verdict);
  void diverged(const protocol::RankDiverged& rank);
  void endAs(Error why);
  void fileWhoIsStuck();
  void askToEnd();
  void insist();
  [[nodiscard]] bool ranksRun() const;

  Job& m_job;
  RunFacts& m_facts;
  InputTee* m_input;
  const Patience& m_patience;
  RaceTeller m_races;
  std::optional<Clock::time_point> m_asked;  ///< the launcher, to end the job
  std::optional<Clock::time_point> m_over;   ///< since when the launcher has ended
  bool m_insisted = false;
  bool m_stuck = false;                          ///< ended because it could not get on
  std::map<Rank, protocol::RankState> m_states;  ///< until the job was asked to end
  std::optional<protocol::Verdict> m_stall;      ///< no rank has got on since
  int m_unknownRanks = 0;
  std::optional<Error> m_wrongGroups;
  std::optional<Error> m_diverged;
};

pollfd Following::alsoWaitsFor(bool ended) const {
  return m_input != nullptr && !ended ? m_input->waiting() : pollfd{-1, 0, 0};
}

void Following::daemonLost() {
  std::fprintf(
      stderr, "photofinish: the control daemon is gone; the ranks go on and their recording too\n");
}

void Following::noticed(const std::string& text) {
  std::fprintf(stderr, "photofinish: %s\n", text.c_str());
}

void Following::turn() {
  if (m_patience.ended()) {
    askToEnd();
  }
  insist();
}

void Following::heard(const protocol::Message& message) {
  std::visit(protocol::Overloaded{
                 [&](const protocol::RankExited& m) { exited(m); },
                 [&](const protocol::RankState& m) { moved(m); },
                 [&](const protocol::RankHello& m) { hello(m); },
                 [&](const protocol::SessionState& m) { m_facts.longestWait = m.longestWait; },
                 [&](const protocol::Notice& m) { tell(m.text); },
                 [&](const protocol::Verdict& m) {
                   if (m.kind == protocol::VerdictKind::Stalled ||
                       m.kind == protocol::VerdictKind::Deadlock) {
                     stalled(m);
                   } else if (m.kind == protocol::VerdictKind::Refused) {
                     endAs({ErrorCode::Divergence, m.text, {}});
                   }
                 },
                 [&](const protocol::RankDiverged& m) { diverged(m); },
                 [](const auto&) {},
             },
             message);
}

void Following::exited(const protocol::RankExited& rank) {
  if (rank.rank < 0) {
    return;
  }
  RankEnd& end = m_facts.ends[rank.rank];
  if (rank.signal > 0) {
    end.signal = rank.signal;
  } else if (rank.exitStatus >= 0) {
    end.status = rank.exitStatus;
  }
}

void Following::hello(const protocol::RankHello& rank) {
  m_facts.ends[rank.rank].host = rank.host;
  m_facts.ends[rank.rank].pid = rank.pid;
  if (m_facts.launcher.empty() && rank.size > 1 && m_unknownRanks == 0) {
    m_unknownRanks = rank.size;
    askToEnd();
    return;
  }
  if (!m_wrongGroups) {
    m_wrongGroups = wrongGroups(m_facts, rank.size);
    if (m_wrongGroups) {
      askToEnd();
    }
  }
}

void Following::moved(const protocol::RankState& state) {
  m_races.note(state);
  if (m_asked || m_over || state.rank < 0) {
    return;  // what its end does to a rank is not what it did
  }
  const auto before = m_states.find(state.rank);
  if (before != m_states.end() && state.serial != before->second.serial) {
    m_stall.reset();
  }
  m_states[state.rank] = state;
}

void Following::fileWhoIsStuck() {
  Places places;
  for (const auto& [rank, state] : m_states) {
    if (m_stall && state.inCall != 0 && state.phase == RankPhase::Running) {
      m_facts.ends[rank].stuck =
          StuckIn{m_stall->proven, places.of(state.place), state.waitPeer, state.waitTag};
    }
  }
}

void Following::stalled(const protocol::Verdict& verdict) {
  m_stall = verdict;
  const bool ends = m_patience.endStuck && (verdict.proven || verdict.overLimit);
  const std::string how = std::string("it is left alone; ") +
                          (::isatty(STDERR_FILENO) != 0 ? "Ctrl-C" : "SIGINT to this process") +
                          " ends it, and the trace is made then";
  const std::string then = ends ? "it is ended"
                           : verdict.proven
                               ? how
                               : "that may be right, in a long operation or with much data; " + how;
  if (!m_patience.quiet) {
    std::fprintf(stderr,
                 "photofinish: the program makes no progress: %s\n"
                 "photofinish: %s\n",
                 shown(verdict.text).c_str(), then.c_str());
  }
  if (ends) {
    m_stuck = true;
    askToEnd();
  }
}

/// Only ranks of which the beginning is forced do.
void Following::diverged(const protocol::RankDiverged& rank) {
  const std::string where =
      "rank " + std::to_string(rank.rank) + ", event " + std::to_string(rank.serial);
  if (rank.goesOn) {
    if (!m_patience.quiet) {
      tell(where + ": a message holds something else than it held");
    }
    return;
  }
  endAs({ErrorCode::Divergence,
         where + ": expected " + rank.expected + ", the program called " + rank.got,
         {}});
}

void Following::endAs(Error why) {
  if (!m_diverged) {
    m_diverged = std::move(why);
  }
  askToEnd();
}

void Following::askToEnd() {
  if (!m_asked) {
    m_job.endLauncher();
    m_asked = Clock::now();
  }
}

/// A program without a launcher may take its time.
void Following::insist() {
  const bool may = m_stuck || !m_facts.launcher.empty();
  if (m_asked && !m_insisted && may && Clock::now() - *m_asked >= kLauncherEndsWithin) {
    m_insisted = true;
    std::fprintf(stderr,
                 "photofinish: it has not ended %d s after it was asked to: what is left of it is "
                 "killed\n",
                 static_cast<int>(kLauncherEndsWithin.count()));
    m_job.killAll();
  }
}

/// On this host, as far as they have told their pids, and nobody their ends.
bool Following::ranksRun() const {
  return std::any_of(m_facts.ends.begin(), m_facts.ends.end(),
                     [host = hostName()](const auto& rank) {
                       const RankEnd& end = rank.second;
                       return end.pid > 0 && end.host == host && !end.status && !end.signal &&
                              processRuns(end.pid);
                     });
}

bool Following::expectsMore() {
  m_over = m_over.value_or(Clock::now());
  return Clock::now() - *m_over < kRanksOutliveIt && ranksRun();
}

Result<int> Following::run() {
  const std::optional<int> ended = drive(m_job, *this);
  fileWhoIsStuck();
  if (m_unknownRanks != 0) {
    return noLauncher(m_facts.program, m_unknownRanks);
  }
  if (m_wrongGroups) {
    return *m_wrongGroups;
  }
  if (m_diverged) {
    return *m_diverged;
  }
  return m_stuck && *ended == 0 ? 1 : *ended;
}

}  // namespace

Result<int> followRecording(Job& job, RunFacts& facts, InputTee* input, const Patience& patience) {
  return Following(job, facts, input, patience).run();
}

}  // namespace pf::app
