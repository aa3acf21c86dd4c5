// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/replay_run.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <set>

#include "app/collation/launch_context.h"
#include "app/collation/logs_of_trace.h"
#include "app/recording/log_directory.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/log_format/payload_format.h"
#include "replay_engine/log_format/system_values.h"

namespace pf::app {
namespace {

std::atomic<bool> g_endAsked = false;

/// Of most programs; one that takes longer until MPI_Init is spoken of.
constexpr std::chrono::seconds kStartsWithin(10);

}  // namespace

void endReplays() {
  g_endAsked = true;
}

bool ReplayRun::isDone() const {
  return m_failure || m_result || g_endAsked;
}

const Execution& ReplayRun::execution() {
  if (!m_execution) {
    Result<Execution> read = loadExecution(m_store);
    m_execution = read ? std::move(*read) : Execution{};
  }
  return *m_execution;
}

Status ReplayRun::plan() {
  protocol::Plan plan;
  plan.openGate = true;
  if (m_options.until) {
    Result<Destination> destination = m_given ? std::move(*m_given) : m_destination.get();
    if (!destination) {
      return destination.error();
    }
    m_target = std::move(destination->event);
    for (const Serial done : destination->cut) {
      plan.stops.push_back(done + 1);
    }
    plan.targetRank = m_options.until->rank;
  } else if (!m_options.cut.empty()) {
    for (const Serial done : m_cut) {
      plan.stops.push_back(done + 1);
    }
  } else {
    plan.stops = stopsAtEnd(m_store);
    m_holding = !plan.stops.empty();
    if (m_options.survey && m_holding) {
      Result<std::vector<std::uint64_t>> stops = stopsBeforeFailure(m_store);
      if (!stops) {
        return stops.error();
      }
      m_surveyEnd.goesOn = *stops != plan.stops;
      plan.stops = std::move(*stops);
    }
  }
  return m_job->send(plan);
}

/// A replay that may differ says so before it does.
Status ReplayRun::sayWhatIsNotRecorded() {
  const Result<RecordedUse> used = recordedUse(m_store);
  if (!used) {
    return used.error();
  }
  std::set<std::string> notes;  // once for all ranks
  for (const db::NotGuaranteed& each : used->notGuaranteed) {
    if (!each.what.starts_with(kContentsEnd)) {
      notes.insert(each.what);
    } else if (std::ranges::find(m_running, each.rank) != m_running.end()) {
      say("note: rank " + std::to_string(each.rank) + " can be replayed alone only up to " +
          each.what.substr(std::string_view(kContentsEnd).size()));
    }
  }
  for (const std::string& line : m_inputs.look(*used)) {
    tell(line);
  }
  for (const std::string& note : notes) {
    say("note: " + note + ": what is decided there is not recorded, this replay may differ");
  }
  return {};
}

/// All events of the record have been done, but for those in which a rank failed.
void ReplayRun::surveyReachedItsStops() {
  if (m_surveyEnd.isThere(m_store.ranks())) {
    m_result = m_store.run().exitStatus.value_or(0);
    return;
  }
  protocol::Plan plan;
  plan.openGate = true;
  plan.stops = stopsAtEnd(m_store);
  (void)m_job->send(plan);
}

void ReplayRun::stopped() {
  if (!m_options.until) {
    say("the ranks are stopped at the cut");
    offerDebugger();
    return;
  }
  const EventRef target = *m_options.until;
  say("rank " + std::to_string(target.rank) + " is stopped just before its event " +
      std::to_string(target.serial) + (m_target.empty() ? "" : ": " + m_target));
  offerDebugger();
}

/// The replay begins when all have called MPI_Init, which may be in a while, or never.
void ReplayRun::sayWhoIsMissing() {
  const auto ranks = static_cast<std::size_t>(m_store.run().ranks);
  const std::size_t expected = m_running.empty() ? ranks : m_running.size();
  if (m_saidWhoIsMissing || m_hellos.size() >= expected || !m_job->daemonAnswers() ||
      std::chrono::steady_clock::now() - m_started < kStartsWithin) {
    return;
  }
  m_saidWhoIsMissing = true;
  std::set<std::int32_t> missing;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (runs(static_cast<Rank>(rank))) {
      missing.insert(static_cast<std::int32_t>(rank));
    }
  }
  for (const protocol::RankHello& hello : m_hellos) {
    missing.erase(hello.rank);
  }
  std::string who;
  for (const std::int32_t rank : missing) {
    who += (who.empty() ? "" : ", ") + std::to_string(rank);
  }
  say("still waiting for MPI_Init of rank " + who + "; Ctrl-C ends the replay");
}

/// Of a part of a job that may have printed nothing, once each of its ranks has come to the end of its record.
void ReplayRun::sayWhatWasDone() const {
  if (m_running.empty() || m_options.survey || stopsOnTheWay() || !m_contents.none()) {
    return;
  }
  Serial events = 0;
  bool complete = true;
  for (const Rank rank : m_running) {
    const auto done = m_done.find(rank);
    const db::RankInfo& recorded = m_store.ranks()[static_cast<std::size_t>(rank)];
    if (done == m_done.end() || done->second < recorded.lastSerial) {
      return;
    }
    events += recorded.lastSerial;
    complete = complete && recorded.complete;
  }
  say((m_running.size() == 1 ? "rank " : "ranks ") + rangesText(m_running) +
      " alone did what was recorded (" + std::to_string(events) + " events" +
      (complete ? ")" : "; the recording ends there)"));
}

/// Of a part of the job; and what is not known of the others.
Status ReplayRun::sayWhatWasSurveyed() const {
  const Result<std::vector<Rank>> missing = ranksNotSurveyed(m_store);
  if (!missing) {
    return missing.error();
  }
  Serial events = 0;
  std::size_t fromOutside = 0;
  for (const Rank rank : m_running) {
    const RankHistory& seen = m_execution->ranks[static_cast<std::size_t>(rank)];
    events += seen.events.size();
    fromOutside += static_cast<std::size_t>(
        std::ranges::count_if(seen.receives, [this](const PostedReceive& receive) {
          return receive.state == ReceiveState::Complete && !runs(receive.source);
        }));
  }
  tell((m_running.size() == 1 ? "rank " : "ranks ") + rangesText(m_running) + " alone did " +
       std::to_string(events) + " events, and took " + std::to_string(fromOutside) +
       " messages of ranks that did not run");
  if (missing->empty()) {
    tell("with these, the trace has the events of all ranks: " +
         std::to_string(m_store.run().racingReceives.value_or(0)) + " receives race");
    return {};
  }
  tell(
      "of " + std::string(missing->size() == 1 ? "rank " : "ranks ") + rangesText(*missing) +
      " no event is known: not where their messages were sent, and not which receives race. Survey "
      "them as well (--survey --group N, one group after the other), or all ranks together");
  return {};
}

/// Names the processes, and waits for the user.
void ReplayRun::offerDebugger() {
  std::sort(m_hellos.begin(), m_hellos.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  for (const protocol::RankHello& hello : m_hellos) {
    say("  rank " + std::to_string(hello.rank) + " is process " + std::to_string(hello.pid) +
        " on " + hello.host);
  }
  say("attach a debugger with gdb -p PID; Enter goes on to the end, q or the end of input ends the "
      "replay");
  m_waitingForUser = true;
}

void ReplayRun::askUser() {
  char line[256];
  const ssize_t n = read(STDIN_FILENO, line, sizeof line);
  m_waitingForUser = false;
  if (n <= 0 || line[0] == 'q') {
    m_result = 0;
    return;
  }
  protocol::Plan free;
  free.openGate = true;
  (void)m_job->send(free);
}

/// Every rank waits: only what is proven ends a replay, and where the recording ends, too.
void ReplayRun::stalled(const protocol::Verdict& verdict) {
  const db::RunInfo& run = m_store.run();
  const Stall stall = meaningOf(verdict, run);
  const std::string text = std::string(words(stall)) + ":\n" + verdict.text;
  if (m_options.survey && !run.complete && stall != Stall::MayGoOn) {
    surveyReachedItsStops();
    return;
  }
  switch (stall) {
    case Stall::AsRecorded: {
      say(text);
      if (m_options.stopAtEnd && std::exchange(m_holding, false)) {
        offerDebugger();
        return;
      }
      // Not known of a run whose recorder was killed; who hangs does not end well.
      const int recorded = run.exitStatus.value_or(0);
      m_result = recorded != 0 ? recorded : 1;
      return;
    }
    case Stall::Proven:
      m_failure =
          Error{ErrorCode::Divergence, text,
                m_inputs.advice("Something that is not recorded (a file, a socket, a signal) "
                                "differs, or the program was changed.")};
      return;
    case Stall::MayGoOn:
      std::fprintf(stderr, "photofinish: %s: %s\nphotofinish: it goes on; Ctrl-C ends it.%s\n",
                   words(stall), verdict.text.c_str(), m_inputs.advice("").c_str());
      return;
  }
}

/// The launcher ends the others of a rank that has ended badly. Of a run that ended well, the first that is lost with its
/// agent, or that such a signal ends, was killed by somebody else.
void ReplayRun::exited(const protocol::RankExited& rank) {
  const bool lost = rank.signal < 0;
  const bool killed = lost || rank.signal == SIGKILL || rank.signal == SIGTERM;
  if (killed && !m_badEnd && !m_failure && m_store.run().complete &&
      m_store.run().exitStatus.value_or(0) == 0) {
    m_failure =
        Error{ErrorCode::Peer,
              rank.text + (lost ? ": a process of ours was killed, and its rank with it"
                                : ": nothing in the recorded run, nor Photofinish, did that"),
              "Start the replay again; the trace is whole."};
  }
  if (!lost && !m_badEnd && (rank.signal > 0 || rank.exitStatus > 0)) {
    m_badEnd = rank.signal > 0 ? 128 + rank.signal : rank.exitStatus;
    if (!m_running.empty() && rank.signal > 0 && !m_options.survey) {
      say(rank.text);  // there may be no launcher that does
    }
  }
}

/// Of recorded ranks, which all came then, some were never there, whatever the launcher's exit status is.
std::optional<Error> ReplayRun::notCome(int status) const {
  const bool all = std::ranges::all_of(
      m_store.ranks(), [](const db::RankInfo& rank) { return rank.lastSerial > 0; });
  std::string missing;
  for (const db::RankInfo& rank : m_store.ranks()) {
    const bool came = std::ranges::any_of(
        m_hellos, [&rank](const protocol::RankHello& hello) { return hello.rank == rank.rank; });
    if (all && !came && runs(rank.rank)) {
      missing += (missing.empty() ? "rank " : ", ") + std::to_string(rank.rank);
    }
  }
  if (missing.empty() || m_options.survey || m_job->connection() == nullptr) {
    return std::nullopt;
  }
  return Error{ErrorCode::Divergence,
               missing + " did not come to MPI_Init, and the launcher has ended with exit status " +
                   std::to_string(status),
               m_inputs.advice("The recorded run did: see what the launcher or the program says "
                               "above.")};
}

/// Of a recording that is cut.
void ReplayRun::endReached() {
  say(m_options.stopAtEnd ? "the recording ends here; the ranks are held"
      : m_running.empty() ? "the recording ends here; from now on the ranks run freely"
                          : "the recording ends here; without the others, these ranks do nothing "
                            "more in MPI");
  for (const db::RankInfo& rank : m_store.ranks()) {
    if (!rank.complete && runs(rank.rank)) {
      say("  rank " + std::to_string(rank.rank) + ": " + rank.cutReason);
    }
  }
  if (m_options.stopAtEnd) {
    offerDebugger();
  } else {
    m_free = true;
    (void)m_job->send(protocol::Plan{});
  }
}

void ReplayRun::verdict(const protocol::Verdict& verdict) {
  switch (verdict.kind) {
    case protocol::VerdictKind::CutReached:
      if (stopsOnTheWay()) {
        stopped();
      } else if (m_options.survey) {
        surveyReachedItsStops();
      } else if (std::exchange(m_holding, false)) {
        endReached();
      }
      break;
    case protocol::VerdictKind::Refused:
      m_failure = Error{ErrorCode::Divergence, verdict.text, {}};
      break;
    case protocol::VerdictKind::Stalled:
    case protocol::VerdictKind::Deadlock:
      stalled(verdict);
      break;
    case protocol::VerdictKind::Diverged:
    case protocol::VerdictKind::Ended:
    case protocol::VerdictKind::PastEnd:
      break;
  }
}

namespace {

/// Whether it is a group alone that cannot go on, and no other program.
bool isOfGroup(const protocol::RankDiverged& diverged) {
  return diverged.expected == kGroupCan || diverged.got.starts_with(kNotKept) ||
         diverged.got.starts_with(kDamagedThere);
}

Error cameToDamage(const protocol::RankDiverged& diverged, const DivergenceText& text) {
  return {ErrorCode::Damaged,
          "rank " + std::to_string(diverged.rank) + " cannot go on at event " +
              std::to_string(diverged.serial) + text.twoLines() + text.history,
          "Up to there it did what was recorded. Replay all ranks (without --group and --ranks), "
          "which needs no contents, or take another copy of the trace."};
}

}  // namespace

void ReplayRun::otherContents(const protocol::RankDiverged& differs) {
  if (m_free) {
    return;  // before its own record ends, but behind what others did that was not recorded
  }
  constexpr std::size_t kMostSaid = 4;
  m_contents.note(differs);
  if (m_contents.ranks() <= kMostSaid) {
    say("rank " + std::to_string(differs.rank) + ", event " + std::to_string(differs.serial) +
        ": other contents than recorded" + divergenceText(execution(), differs).twoLines());
  }
}

void ReplayRun::diverged(const protocol::RankDiverged& diverged) {
  if (diverged.goesOn) {
    otherContents(diverged);
    return;
  }
  const DivergenceText text = divergenceText(execution(), diverged);
  if (diverged.got.starts_with(kDamagedThere) && m_contents.none()) {
    m_failure = cameToDamage(diverged, text);
    return;
  }
  m_failure = Error{
      ErrorCode::Divergence,
      "replay divergence at rank " + std::to_string(diverged.rank) + ", event " +
          std::to_string(diverged.serial) + text.twoLines() + text.history +
          (m_contents.none() ? "" : "\n  before that: " + m_contents.first()),
      isOfGroup(diverged)
          ? "That is beyond what its group can do alone: replay all ranks (without --group and "
            "--ranks)."
          : m_inputs.advice("The program does something else than the recorded run: was it, its "
                            "input or its environment changed?")};
}

void ReplayRun::heard(const protocol::Message& message) {
  if (const auto* other = std::get_if<protocol::RankDiverged>(&message); other != nullptr) {
    diverged(*other);
  } else if (const auto* said = std::get_if<protocol::Verdict>(&message); said != nullptr) {
    verdict(*said);
  } else if (const auto* hello = std::get_if<protocol::RankHello>(&message); hello != nullptr) {
    m_hellos.push_back(*hello);
    m_inputs.noteBuild(*hello, m_store);
  } else if (const auto* state = std::get_if<protocol::RankState>(&message); state != nullptr) {
    m_surveyEnd.begun[state->rank] = state->serial;
    if (m_options.until && state->rank == m_options.until->rank && m_target.empty() &&
        state->phase == RankPhase::Stopped) {
      m_target = state->call;
    }
  } else if (const auto* rank = std::get_if<protocol::RankExited>(&message); rank != nullptr) {
    exited(*rank);
    m_done[rank->rank] = rank->signal < 0 ? 0 : rank->serial;
    if (!stopsOnTheWay() && !m_options.survey && !m_failure) {
      m_failure = m_inputs.ended(*rank, m_store);
    }
  } else if (const auto* launched = std::get_if<protocol::RankLaunched>(&message);
             launched != nullptr) {
    for (const std::string& line : m_inputs.launched(*launched, m_options.quiet)) {
      tell(line);
    }
  } else if (const auto* notice = std::get_if<protocol::Notice>(&message); notice != nullptr) {
    tell(notice->text);
  }
}

void ReplayRun::daemonLost() {
  m_failure = Error{ErrorCode::Peer, "the control daemon is gone",
                    "Start the replay again; the trace is whole."};
}

/// What a survey says is not printed. `logs`: what it sees.
void ReplayRun::adjustSurvey(JobOptions& options, const std::string& logs) const {
  options.session.mode |= kRecordChoices | kRecordEvents;
  options.session.logDirectory = logs;
  if (!m_options.quiet) {
    return;
  }
  std::fprintf(
      stderr,
      "photofinish: this trace has choices only; running %s once more to see its events …\n",
      m_running.empty() ? "the program" : "the group");
  // 'races' in a shell where OMP_NUM_THREADS is not set
  const auto facts = m_store.launchFacts();
  const auto contexts = contextsOf(facts ? *facts : std::vector<db::LaunchFact>(), 1);
  if (!contexts.empty()) {
    options.session.environment =
        recordedVariables(contexts.begin()->second, options.session.variables);
  }
}

/// What was asked of this replay, told to its job. `logs`: of a survey.
Status ReplayRun::adjust(JobOptions& options, const std::string& logs) {
  if (!m_options.part.isWhole()) {
    Result<std::vector<Rank>> ranks = ranksOfPart(m_store, m_options.part);
    if (!ranks) {
      return ranks.error();
    }
    m_running = std::move(*ranks);
    if (Status few = startFew(options, m_store, m_running); !few) {
      return few;
    }
  }
  options.deliveries = m_options.deliveries;
  options.session.giveBack = !m_options.environmentOfNow;
  if (m_options.sameAddresses && (options.session.mode & kSameAddresses) == 0) {
    return Error{ErrorCode::Usage,
                 "this run was recorded without --same-addresses: its memory lay elsewhere",
                 "Record it again with --same-addresses; its replays then have it by themselves."};
  }
  if (!m_options.cut.empty()) {
    Result<std::vector<Serial>> cut = cutBeforeAll(m_store, execution(), m_running, m_options.cut);
    if (!cut) {
      return cut.error();
    }
    m_cut = std::move(*cut);
  }
  if (m_options.boundedBuffers) {
    options.session.mode |= kBoundedBuffers;
  }
  if (m_options.survey) {
    adjustSurvey(options, logs);
  }
  if ((m_options.survey || m_options.stopAtEnd) && !m_store.run().complete) {
    options.session.mode |= kHoldAfter;
  }
  return {};
}

/// The job to its end; the error says what it failed by.
Status ReplayRun::follow(JobOptions options) {
  Result<std::unique_ptr<Job>> job = Job::start(std::move(options));
  if (!job) {
    return job.error();
  }
  m_job = std::move(*job);
  if (Status status = plan(); !status) {
    return status.error();
  }
  if (const std::optional<int> ended = drive(*m_job, *this); ended) {
    m_result = *ended != 0 ? *ended : m_badEnd.value_or(0);
    m_failure = notCome(*ended);
  } else if (!m_failure && !m_result) {
    m_failure = Error{ErrorCode::System, "the replay was ended", {}};
  }
  m_job.reset();
  if (!m_failure && !m_contents.none() && !m_options.ignoreContents) {
    m_failure =
        Error{ErrorCode::Divergence, m_contents.atEnd(),
              m_inputs.advice(
                  "Something that the program reads is not what it was (input, environment, memory "
                  "that is shared), or it sends bytes that it never sets: --ignore-contents goes "
                  "by the calls alone.")};
  }
  return m_failure ? Status(*m_failure) : Status();
}

/// `words`: what the launcher of the survey wrote.
Status ReplayRun::keepSeen(const std::string& logs, const std::string& words) {
  if (!m_running.empty()) {
    Result<Execution> part = m_options.quiet ? seenOfPart(m_store, logs, m_running, words)
                                             : keepSurveyOfPart(m_store, logs, m_running, words);
    if (!part) {
      m_cameShort = part.error().code == ErrorCode::Divergence;
      return part.error();
    }
    m_execution = std::move(*part);
    return m_options.quiet ? Status() : sayWhatWasSurveyed();
  }
  Status kept = keepSurvey(m_store, logs, words);
  m_cameShort = !kept && kept.error().code == ErrorCode::Divergence;
  return kept;
}

Result<int> ReplayRun::run() {
  if (m_options.until && !m_given) {  // while the job starts
    m_destination = std::async(std::launch::async, destinationOf, m_store.path(), *m_options.until);
  }
  protocol::SessionConfig session;
  Result<JobOptions> options =
      replayJob(m_store, session, m_options.jitterSeed, m_options.launcherOptions, m_options.force);
  if (!options) {
    return options.error();
  }
  Result<SurveyLogs> logs =
      m_options.survey ? SurveyLogs::make(m_store.path()) : SurveyLogs::none();
  if (!logs) {
    return logs.error();
  }
  if (Status status = adjust(*options, logs->path()); !status) {
    return status.error();
  }
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) {  // what the program says is no part of a report
    return systemError("cannot open /dev/null", errno);
  }
  if (stopsOnTheWay() || m_options.stopAtEnd) {
    options->input = null.get();  // ours is for the answer
  }
  const UniqueFd words(memfd_create("photofinish-words", MFD_CLOEXEC));
  if (m_options.survey) {
    options->output = null.get();
    options->error = words.valid() ? words.get() : null.get();
  }
  options->stallAfter = m_options.stallAfter;
  if (Status status = sayWhatIsNotRecorded(); !status) {
    return status.error();
  }
  if (Status done = follow(std::move(*options)); !done) {
    return done.error();
  }
  if (m_options.survey) {
    if (Status kept = keepSeen(logs->path(), lastWords(words.get())); !kept) {
      return kept.error();
    }
  }
  sayWhatWasDone();
  if (const std::string differing = m_inputs.atEnd(); !differing.empty()) {
    tell("the replay has ended; " + differing);
  }
  return *m_result;
}

}  // namespace pf::app
