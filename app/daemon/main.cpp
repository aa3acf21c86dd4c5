// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish-daemon: the control daemon of one session.
#include "mpi_calls.h"
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/collation/call_sites.h"
#include "app/collation/collate.h"
#include "app/collation/launch_context.h"
#include "app/collation/logs_of_trace.h"
#include "app/files/private_file.h"
#include "app/replaying/forced_deliveries.h"
#include "app/traces/own_traces.h"
#include "replay_engine/base/caught.h"
#include "replay_engine/base/process_state.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/daemon/daemon.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/protocol/session_directory.h"
#include "replay_engine/steering/send_gates.h"

namespace {

struct Schedules {
  std::vector<std::string> paths;             ///< of each rank
  std::map<std::int32_t, std::string> notes;  ///< of ranks whose contents from outside are damaged
};
using Compiled = pf::Result<Schedules>;

/// Hands out the schedules of a trace: one file a rank, in the session directory. They are compiled
/// while the launcher starts; the first rank that asks waits for the rest of that.
class TraceSchedules final : public pf::daemon::ScheduleSource {
 public:
  TraceSchedules(std::vector<pf::db::RankInfo> ranks, pf::db::RunInfo run,
                 std::map<pf::Rank, pf::protocol::LaunchContext> contexts, bool own,
                 std::future<Compiled> compiled, bool force, int running)
      : m_ranks(std::move(ranks)),
        m_run(std::move(run)),
        m_contexts(std::move(contexts)),
        m_own(own),
        m_compiling(std::move(compiled)),
        m_force(force),
        m_running(running) {}

  [[nodiscard]] int ranks() const override { return static_cast<int>(m_ranks.size()); }
  [[nodiscard]] int running() const override { return m_running; }
  [[nodiscard]] pf::Result<std::string> schedulePath(std::int32_t rank) override {
    if (!m_compiled) {
      m_compiled = m_compiling.get();
    }
    const Compiled& compiled = *m_compiled;
    if (!compiled) {
      return compiled.error();
    }
    if (rank < 0 || static_cast<std::size_t>(rank) >= compiled->paths.size()) {
      return pf::Error{
          pf::ErrorCode::NotFound, "the recording has no rank " + std::to_string(rank), {}};
    }
    return compiled->paths[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::string noteOn(std::int32_t rank) const override {
    if (!m_compiled || !*m_compiled) {
      return {};
    }
    const auto forced = m_forced.find(rank);
    const auto note = (*m_compiled)->notes.find(rank);
    const std::string first = forced != m_forced.end() ? forced->second : std::string();
    const std::string second = note != (*m_compiled)->notes.end() ? note->second : std::string();
    return first + (first.empty() || second.empty() ? "" : "\n") + second;
  }
  [[nodiscard]] std::uint64_t lastEvent(std::int32_t rank) const override {
    return m_ranks[static_cast<std::size_t>(rank)].lastSerial;  // a rank that checkRank() knows
  }
  [[nodiscard]] pf::Status checkRank(const pf::protocol::RankHello& hello) override {
    if (hello.size != ranks()) {
      const std::vector<std::string> library = compareLibrary(hello);
      return pf::Error{pf::ErrorCode::Divergence,
                       "the recording has " + std::to_string(ranks()) + " ranks, this run has " +
                           std::to_string(hello.size) + (library.empty() ? "" : "; " + library[0]),
                       library.empty()
                           ? "Replay with the recorded number of ranks."
                           : "Build the program with the MPI library that it was recorded with."};
    }
    const std::vector<std::string> differences = compare(hello);
    if (m_force) {
      noteForced(hello.rank, differences);
    }
    if (m_force || differences.empty()) {
      return {};
    }
    std::string text;
    for (const std::string& difference : differences) {
      text += (differences.size() > 1 ? "\n  " : "") + difference;
    }
    if (differences.size() > 1) {
      text = "rank " + std::to_string(hello.rank) + " is not started as it was recorded:" + text;
    }
    return pf::Error{pf::ErrorCode::Divergence, text,
                     "Restore what was recorded, record anew, or replay with --force as far as it "
                     "goes (to have the events of such a run: 'photofinish replay --survey --force "
                     "FILE')."};
  }

 private:
  /// A replay that goes on with something else says so, once for all ranks.
  void noteForced(std::int32_t rank, const std::vector<std::string>& differences) {
    std::string& note = m_forced[rank];
    for (const std::string& difference : differences) {
      if (m_saidForced.insert(difference).second) {
        note += (note.empty() ? "" : "\n") + difference + "; going on because of --force";
      }
    }
  }

  [[nodiscard]] std::vector<std::string> compareLibrary(
      const pf::protocol::RankHello& hello) const {
    if (m_run.mpiLibrary.empty() || hello.mpiLibrary == m_run.mpiLibrary) {
      return {};
    }
    return {"this run uses " + hello.mpiLibrary + ", the recorded one used " + m_run.mpiLibrary};
  }

  /// In what this rank is not what was recorded, a line each.
  [[nodiscard]] std::vector<std::string> compare(const pf::protocol::RankHello& hello) const {
    std::vector<std::string> out;
    const pf::db::RankInfo& recorded = m_ranks[static_cast<std::size_t>(hello.rank)];
    if (!recorded.buildId.empty() && !hello.buildId.empty() && hello.buildId != recorded.buildId) {
      out.push_back(hello.executable + " is not the build that was recorded (build-id " +
                    hello.buildId.substr(0, 12) + ", recorded " + recorded.buildId.substr(0, 12) +
                    ")");
    }
    for (std::string& difference : compareLibrary(hello)) {
      out.push_back(std::move(difference));
    }
    if (const auto context = m_contexts.find(hello.rank); context != m_contexts.end()) {
      // What is never taken from the trace of somebody else is no difference either.
      const auto compared = [this](const pf::protocol::LaunchContext& each) {
        return m_own ? each : pf::app::withoutLoaders(each);
      };
      for (std::string& difference :
           pf::app::contextDifferences(compared(context->second), compared(hello.context))) {
        out.push_back(std::move(difference));
      }
    }
    return out;
  }

  std::vector<pf::db::RankInfo> m_ranks;
  pf::db::RunInfo m_run;
  std::map<pf::Rank, pf::protocol::LaunchContext> m_contexts;
  bool m_own;
  std::future<Compiled> m_compiling;
  std::optional<Compiled> m_compiled;
  bool m_force;
  std::map<std::int32_t, std::string> m_forced;  ///< what is said of ranks, with --force
  std::set<std::string> m_saidForced;
  int m_running;
};

pf::Status writeFile(const std::string& path, const std::vector<unsigned char>& bytes) {
  return pf::app::writeNewFile(path, bytes, "the schedule");
}

/// Ranks wait for their schedule before MPI_Init if they need it there: none may see half of it.
pf::Status writeWhole(const std::string& path, const std::vector<unsigned char>& bytes) {
  if (pf::Status status = writeFile(path + ".tmp", bytes); !status) {
    return status;
  }
  if (std::rename((path + ".tmp").c_str(), path.c_str()) != 0) {
    return pf::systemError("cannot write the schedule " + path, errno);
  }
  return {};
}

/// The gates of each rank's sends, and the file in which ranks tell each other how far they are.
pf::Status writeGates(pf::db::TraceStore& store, const std::string& directory) {
  const pf::Result<pf::Execution> execution = pf::app::loadExecution(store);
  if (!execution) {
    return execution.error();
  }
  const auto gates = pf::sendGates(*execution);
  for (std::size_t rank = 0; rank < gates.size(); ++rank) {
    std::vector<unsigned char> bytes(gates[rank].size() * sizeof(pf::Gate));
    if (!bytes.empty()) {
      std::memcpy(bytes.data(), gates[rank].data(), bytes.size());
    }
    const std::string path =
        pf::protocol::SessionDirectory::schedulePath(directory, static_cast<std::int32_t>(rank));
    if (pf::Status status = writeFile(path + ".gates", bytes); !status) {
      return status;
    }
  }
  return writeFile(directory + "/gates",
                   std::vector<unsigned char>(gates.size() * pf::kGateStride));
}

/// Of a replay of a part of the job: for each rank who is in its group, and who runs. It asks for that in MPI_Init.
pf::Status writeRunning(const std::string& directory, const pf::db::RunInfo& run,
                        const std::vector<std::int32_t>& running) {
  const auto groups = pf::ReplayGroups::parse(run.groups.value_or("all"), run.ranks);
  if (!groups) {
    return groups.error();
  }
  for (const std::int32_t rank : running) {
    if (rank >= run.ranks) {
      return pf::Error{pf::ErrorCode::Usage, "the trace has no rank " + std::to_string(rank), {}};
    }
    const auto members = groups->members(groups->groupOf(rank));
    std::vector<std::int32_t> numbers{run.ranks, static_cast<std::int32_t>(members.size())};
    numbers.insert(numbers.end(), members.begin(), members.end());
    numbers.insert(numbers.end(), running.begin(), running.end());
    std::vector<unsigned char> bytes(numbers.size() * sizeof(std::int32_t));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    const std::string path = pf::protocol::SessionDirectory::schedulePath(directory, rank);
    if (pf::Status status = writeFile(path + ".group", bytes); !status) {
      return status;
    }
  }
  return {};
}

bool runs(const std::vector<std::int32_t>& running, std::int32_t rank) {
  return running.empty() || std::ranges::find(running, rank) != running.end();
}

/// Contents from outside of its group for each of `running`. Of damaged ones there is what is before the damage: the rank gets
/// there, and says so; `notes` has it, too. Usage: they are not those that were recorded.
pf::Status extractContents(pf::db::TraceStore& store, const std::string& directory,
                           const std::vector<std::int32_t>& running,
                           std::map<std::int32_t, std::string>& notes) {
  for (const std::int32_t rank : running) {
    const std::string path =
        pf::protocol::SessionDirectory::schedulePath(directory, rank) + ".payload";
    pf::app::KnownContents known(store.run(), rank);
    const pf::Status status = store.extractPayload(rank, path, &known);
    if (!status &&
        (status.error().code != pf::ErrorCode::Damaged || access(path.c_str(), F_OK) != 0)) {
      return status;
    }
    if (!status) {
      notes[rank] = status.error().message + ": the rank can be replayed up to there";
    }
  }
  return {};
}

/// What a recording without events does not say for the comparison of each call comes from its survey, once there is one.
void takeSurvey(pf::db::TraceStore& store, std::vector<pf::RankLog>& logs, bool pinned) {
  auto survey = pf::app::readLogs(store, pf::db::TraceStore::Log::Survey, true);
  if (pinned && survey) {
    pf::app::takePins(logs, *survey);
  }
  for (std::size_t i = 0; survey && i < logs.size(); ++i) {
    const pf::db::RankInfo& rank = store.ranks()[i];
    if (pf::app::seenAgain((*survey)[i].serials, rank.lastSerial,
                           rank.complete)) {  // else it was of another run
      logs[i].checks = std::move((*survey)[i].checks);
      logs[i].sent = std::move((*survey)[i].sent);
      logs[i].given = std::move((*survey)[i].given);
    }
  }
}

/// Calls of threads that are not known again come in any order: none is compared.
void forgetOrderOfUnknownThreads(pf::RankLog& log) {
  if (std::any_of(log.notes.begin(), log.notes.end(), [&log](std::uint32_t site) {
        return site < log.sites.size() && log.sites[site].call == pf::kCallInit_thread;
      })) {
    log.checks.clear();
    log.sent.clear();
    log.given.clear();
    log.outgoing.clear();
    log.outgoingGiven.clear();
  }
}

/// Routines that make persistent collectives, and MPI_Isendrecv, were no events once: the recording has noted them. The call's
/// name, or nothing.
std::string followedSince(const pf::RankLog& log) {
  for (const std::uint32_t site : log.notes) {
    const std::uint32_t call = site < log.sites.size() ? log.sites[site].call : pf::kCallCount;
    const std::string name = call < pf::kCallCount ? pf::kCallNames[call] : "";
    const bool makes = name.ends_with("_init") || name.ends_with("_init_c");
    if (name.starts_with("MPI_Isendrecv") ||
        (makes && call != pf::kCallPsend_init && call != pf::kCallPrecv_init &&
         call != pf::kCallSession_init)) {
      return name;
    }
  }
  return {};
}

/// Compiles the schedules of `trace` into `directory`.
Compiled compileAll(pf::db::TraceStore& store, const std::string& directory,
                    const std::string& deliveries, bool bounded,
                    const std::vector<std::int32_t>& running) {
  Schedules made;
  if (pf::Status status = extractContents(store, directory, running, made.notes); !status) {
    return status.error();
  }
  if (bounded) {
    if (pf::Status status = writeGates(store, directory); !status) {
      return status.error();
    }
  }
  auto logs = pf::app::readLogs(store, pf::db::TraceStore::Log::Recorded, true);
  if (!logs) {
    return logs.error();
  }
  const bool checksInLogs = std::any_of(logs->begin(), logs->end(),
                                        [](const pf::RankLog& log) { return !log.checks.empty(); });
  const auto tags = pf::app::routesToForce(store, *logs, deliveries);
  if (!tags) {
    return tags.error();
  }
  if (!checksInLogs) {
    takeSurvey(store, *logs, deliveries == "pinned");
  }
  const bool threads = std::any_of(logs->begin(), logs->end(),
                                   [](const pf::RankLog& log) { return !log.lanes.empty(); });
  std::vector<std::string>& paths = made.paths;
  for (pf::RankLog& log : *logs) {
    if (const std::string call = followedSince(log); !call.empty()) {
      const bool exchanges = call.starts_with("MPI_Isendrecv");
      return pf::Error{pf::ErrorCode::Version,
                       "an older Photofinish has recorded it, which did not follow " + call +
                           (exchanges ? ", or a callback makes that" : ""),
                       exchanges ? "Record the program again, with MPI_Irecv and MPI_Isend where a "
                                   "function that MPI calls exchanges."
                                 : "Record the program again."};
    }
    forgetOrderOfUnknownThreads(log);
    paths.push_back(pf::protocol::SessionDirectory::schedulePath(directory, log.rank));
    if (!runs(running, log.rank)) {
      log = {};
      continue;
    }
    const pf::RankRoutes* const mine =
        tags->any() ? &tags->ranks[static_cast<std::size_t>(log.rank)] : nullptr;
    const auto schedule = pf::compileSchedule(log, mine, tags->lastPost, threads);
    if (pf::Status status = writeWhole(paths.back(), schedule); !status) {
      return status.error();
    }
    log = {};
  }
  return made;
}

/// Who started us has written them.
Compiled givenSchedules(const pf::db::TraceStore& store, const std::string& directory) {
  Schedules given;
  for (const pf::db::RankInfo& rank : store.ranks()) {
    given.paths.push_back(pf::protocol::SessionDirectory::schedulePath(directory, rank.rank));
  }
  return given;
}

constexpr std::chrono::milliseconds kTellRecording(2500);
/// For a replay of a trace that does not say how long its run has waited.
constexpr std::chrono::milliseconds kNotKnown(30000);

/// How long the ranks of the recorded run waited and went on.
void expectWaits(pf::daemon::LogicOptions& logic, const std::optional<std::uint64_t>& longest) {
  if (longest) {
    constexpr std::uint64_t kMost = 7ULL * 24 * 3600 * 1000;
    logic.recordedWait = std::chrono::milliseconds(std::min(*longest, kMost));
  } else if (!logic.stallAfterGiven) {
    logic.stallAfter = kNotKnown;
  }
}

int fail(const pf::Error& error) {
  pf::tell(error.text());
  return pf::exitStatus(error.code);
}

/// The command line.
struct Asked {
  std::string session;
  std::string trace;
  std::string deliveries;
  int readyFd = -1;
  bool force = false;
  bool bounded = false;
  bool branch = false;
  std::vector<std::int32_t> running;
  std::uint64_t stallAfter = 0;  ///< milliseconds
  std::uint64_t stallLimit = 0;

  void declare(CLI::App& app) {
    app.add_option("--session", session, "session directory")->required();
    app.add_option("--trace", trace, "trace to replay");
    app.add_option("--ready-fd", readyFd, "descriptor to write a byte to once peers can connect");
    app.add_flag("--force", force, "replay a program that is not the recorded build");
    app.add_option("--deliveries", deliveries, "pinned or tagged: how deliveries are forced");
    app.add_flag("--bounded-buffers", bounded, "make gates for the sends of the replay");
    app.add_flag("--branch", branch,
                 "schedules are in the session; behind them the ranks go on as in a recording");
    app.add_option("--running", running, "ranks that run, in ascending order; none: all")
        ->delimiter(',')
        ->check(CLI::NonNegativeNumber);
    app.add_option("--stall-after", stallAfter,
                   "milliseconds that every rank waits until it is told");
    app.add_option("--stall-limit", stallLimit, "milliseconds that every rank may wait at all");
  }
};

pf::daemon::DaemonOptions daemonOptions(const Asked& asked) {
  pf::daemon::DaemonOptions options;
  options.sessionDirectory = asked.session;
  options.readyFd = asked.readyFd;
  options.logic.callNames.assign(std::begin(pf::kCallNames), std::end(pf::kCallNames));
  options.logic.placeText = [places =
                                 std::map<std::pair<std::string, std::uint64_t>, std::string>()](
                                const pf::protocol::CodePlace& place) mutable {
    std::string& text = places[{place.module, place.offset}];
    text = text.empty() ? pf::app::placeText(place.module, place.offset) : text;
    return text;
  };
  options.logic.processState = pf::processState;
  options.logic.processTime = [host = pf::app::hostName()](const pf::protocol::RankHello& rank) {
    return rank.host == host ? pf::processTime(rank.pid) : std::int64_t{-1};
  };
  options.logic.stallLimit = std::chrono::milliseconds(asked.stallLimit);
  options.logic.stallAfterGiven = asked.stallAfter != 0;
  if (asked.stallAfter != 0) {
    options.logic.stallAfter = std::chrono::milliseconds(asked.stallAfter);
  } else if (asked.trace.empty() || asked.branch) {
    options.logic.stallAfter = kTellRecording;  // somebody waits in front of it
  }
  return options;
}

int serveTrace(const Asked& asked, pf::daemon::DaemonOptions& options) {
  auto store = pf::db::TraceStore::open(asked.trace, pf::db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return fail(store.error());
  }
  auto ranks = store->ranks();
  auto run = store->run();
  const auto launch = store->launchFacts();
  if (!launch) {
    return fail(launch.error());
  }
  if (!asked.branch) {
    expectWaits(options.logic, run.longestWait);
  }
  if (!asked.running.empty()) {
    if (pf::Status status = writeRunning(asked.session, run, asked.running); !status) {
      return fail(status.error());
    }
  }
  const auto count = static_cast<int>(asked.running.empty() ? ranks.size() : asked.running.size());
  auto contexts = pf::app::contextsOf(*launch, run.ranks);
  const pf::Result<pf::app::Owner> owner = pf::app::ownerOf(*store);
  const bool own = owner && *owner == pf::app::Owner::Own;
  std::future<Compiled> compiled = std::async(std::launch::async, [&store, &asked] {
    if (asked.branch) {
      return givenSchedules(*store, asked.session);
    }
    Compiled made =
        compileAll(*store, asked.session, asked.deliveries, asked.bounded, asked.running);
    (void)writeFile(asked.session + "/" + pf::kSchedulesMade, {});
    return made;
  });
  TraceSchedules source(std::move(ranks), std::move(run), std::move(contexts), own,
                        std::move(compiled), asked.force, count);
  return pf::daemon::runDaemon(options, source);
}

int daemonMain(int argc, char** argv) {
  CLI::App app{"Control daemon of a Photofinish session (started by photofinish)"};
  Asked asked;
  asked.declare(app);
  CLI11_PARSE(app, argc, argv);
  if (asked.readyFd >= 0) {
    fcntl(asked.readyFd, F_SETFD, FD_CLOEXEC);
  }
  pf::daemon::DaemonOptions options = daemonOptions(asked);
  if (asked.trace.empty()) {
    pf::daemon::NoSchedule none;
    return pf::daemon::runDaemon(options, none);
  }
  return serveTrace(asked, options);
}

}  // namespace

int main(int argc, char** argv) {
  return pf::lastCatch("photofinish", daemonMain, argc, argv);
}
