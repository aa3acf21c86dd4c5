// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/replay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <map>
#include <set>

#include "app/collation/launch_context.h"
#include "app/job/job_driver.h"
#include "app/recording/log_directory.h"
#include "app/recording/record.h"
#include "app/replaying/forced_deliveries.h"
#include "app/replaying/part_of_job.h"
#include "app/replaying/replay_inputs.h"
#include "app/replaying/survey.h"
#include "app/replaying/verdict_text.h"
#include "app/traces/own_traces.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/log_format/payload_format.h"
#include "replay_engine/log_format/system_values.h"

namespace pf::app {

namespace {

std::atomic<bool> g_endAsked = false;

/// The end of a survey of a run that was cut: how long a rank may take to it that seems to wait.
constexpr std::chrono::seconds kOnItsWayFor(20);
constexpr int kLookAgainMs = 100;
/// Surveys of a run that was cut: the rank that ends it may be quicker than it was, and take another with it.
constexpr int kSurveys = 3;
/// Of most programs; one that takes longer until MPI_Init is spoken of.
constexpr std::chrono::seconds kStartsWithin(10);

/// One replay, seen from the command line.
class Replay final : public JobFollower {
 public:
  Replay(const ReplayOptions& options, db::TraceStore& store)
      : m_options(options), m_store(store) {}

  Result<int> run();

  /// ReplayOptions::until, where the trace does not say it.
  void goTo(Destination destination) { m_given = std::move(destination); }
  [[nodiscard]] bool cameShort() const { return m_cameShort; }
  /// What a survey of a part of the job saw.
  [[nodiscard]] const Execution& seen() const { return *m_execution; }

 private:
  Status plan();
  Status sayWhatIsNotRecorded();
  Status adjust(JobOptions& options, const std::string& logs);
  void surveyReachedItsStops();
  [[nodiscard]] bool someAreOnTheirWay() const;
  void heard(const protocol::Message& message) override;
  void daemonLost() override;
  void noticed(const std::string& text) override { tell(text); }
  void turn() override { sayWhoIsMissing(); }
  [[nodiscard]] bool isDone() const override { return m_failure || m_result || g_endAsked; }
  [[nodiscard]] pollfd alsoWaitsFor(bool) const override {
    return {m_waitingForUser ? STDIN_FILENO : -1, POLLIN, 0};
  }
  void otherCame() override { askUser(); }
  void otherContents(const protocol::RankDiverged& differs);
  void verdict(const protocol::Verdict& verdict);
  void stalled(const protocol::Verdict& verdict);
  void exited(const protocol::RankExited& rank);
  void stopped();
  void offerDebugger();
  void sayWhoIsMissing();
  void sayWhatWasDone() const;
  [[nodiscard]] std::optional<Error> notCome(int status) const;
  [[nodiscard]] bool stopsOnTheWay() const { return m_options.until || !m_options.cut.empty(); }
  void askUser();
  [[nodiscard]] bool runs(Rank rank) const {
    return m_running.empty() || std::ranges::find(m_running, rank) != m_running.end();
  }
  const Execution& execution();  ///< empty where it cannot be read
  void say(const std::string& text) const {
    if (!m_options.quiet) {
      tell(text);
    }
  }

  const ReplayOptions& m_options;
  db::TraceStore& m_store;
  std::unique_ptr<Job> m_job;
  std::optional<Execution> m_execution;
  std::future<Result<Destination>>
      m_destination;  ///< of ReplayOptions::until, while the job starts
  std::optional<Destination> m_given;
  std::optional<Error> m_failure;
  OtherContents m_contents;
  ReplayInputs m_inputs;
  std::string m_target;         ///< of ReplayOptions::until: what event it is
  std::vector<Rank> m_running;  ///< of a part of the job; empty: all ranks
  std::vector<Serial> m_cut;    ///< of ReplayOptions::cut: events that each rank does
  std::vector<protocol::RankHello> m_hellos;
  std::map<Rank, Serial> m_done;  ///< events of ranks that have ended
  bool m_free = false;            ///< ranks have been let go at the end of a recording that was cut
  bool m_holding = false;         ///< ranks are held at the end of their records
  bool m_cameShort = false;       ///< a survey saw less than was recorded
  std::map<Rank, Serial> m_begun;  ///< events that each rank has begun, as far as is known
  std::optional<std::chrono::steady_clock::time_point> m_surveyWaitsUntil;
  bool m_surveyGoesOn = false;  ///< ranks that ended inside of a call have not begun it yet
  bool m_waitingForUser = false;
  std::chrono::steady_clock::time_point m_started = std::chrono::steady_clock::now();
  bool m_saidWhoIsMissing = false;
  std::optional<int> m_badEnd;  ///< exit status of the first rank that ended badly, as of a shell
  std::optional<int> m_result;
};

const Execution& Replay::execution() {
  if (!m_execution) {
    Result<Execution> read = loadExecution(m_store);
    m_execution = read ? std::move(*read) : Execution{};
  }
  return *m_execution;
}

Status Replay::plan() {
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
      m_surveyGoesOn = *stops != plan.stops;
      plan.stops = std::move(*stops);
    }
  }
  return m_job->send(plan);
}

/// A replay that may differ says so before it does.
Status Replay::sayWhatIsNotRecorded() {
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
void Replay::surveyReachedItsStops() {
  const auto now = std::chrono::steady_clock::now();
  if (!std::exchange(m_surveyGoesOn, false)) {
    m_surveyWaitsUntil = m_surveyWaitsUntil.value_or(now + kOnItsWayFor);
    if (!someAreOnTheirWay() || now >= *m_surveyWaitsUntil) {
      m_result = m_store.run().exitStatus.value_or(0);
      return;
    }
    poll(nullptr, 0, kLookAgainMs);
  }
  protocol::Plan plan;
  plan.openGate = true;
  plan.stops = stopsAtEnd(m_store);
  (void)m_job->send(plan);
}

/// A rank that takes long in a call counts as one that waits, though it will go on.
bool Replay::someAreOnTheirWay() const {
  return std::any_of(m_store.ranks().begin(), m_store.ranks().end(), [&](const db::RankInfo& rank) {
    const auto begun = m_begun.find(rank.rank);
    return begun != m_begun.end() && !seenAgain(begun->second, rank.lastSerial, rank.complete);
  });
}

void Replay::stopped() {
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
void Replay::sayWhoIsMissing() {
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
void Replay::sayWhatWasDone() const {
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

/// Names the processes, and waits for the user.
void Replay::offerDebugger() {
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

void Replay::askUser() {
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
void Replay::stalled(const protocol::Verdict& verdict) {
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
void Replay::exited(const protocol::RankExited& rank) {
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
std::optional<Error> Replay::notCome(int status) const {
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

void Replay::verdict(const protocol::Verdict& verdict) {
  switch (verdict.kind) {
    case protocol::VerdictKind::CutReached:
      if (stopsOnTheWay()) {
        stopped();
      } else if (m_options.survey) {
        surveyReachedItsStops();
      } else if (m_holding) {
        m_holding = false;
        say(m_options.stopAtEnd ? "the recording ends here; the ranks are held"
            : m_running.empty() ? "the recording ends here; from now on the ranks run freely"
                                : "the recording ends here; without the others, these ranks do "
                                  "nothing more in MPI");
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

void Replay::otherContents(const protocol::RankDiverged& differs) {
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

void Replay::heard(const protocol::Message& message) {
  if (const auto* diverged = std::get_if<protocol::RankDiverged>(&message); diverged != nullptr) {
    if (diverged->goesOn) {
      otherContents(*diverged);
      return;
    }
    const DivergenceText text = divergenceText(execution(), *diverged);
    if (diverged->got.starts_with(kDamagedThere) && m_contents.none()) {
      m_failure = cameToDamage(*diverged, text);
      return;
    }
    m_failure = Error{
        ErrorCode::Divergence,
        "replay divergence at rank " + std::to_string(diverged->rank) + ", event " +
            std::to_string(diverged->serial) + text.twoLines() + text.history +
            (m_contents.none() ? "" : "\n  before that: " + m_contents.first()),
        isOfGroup(*diverged)
            ? "That is beyond what its group can do alone: replay all ranks (without --group and "
              "--ranks)."
            : m_inputs.advice("The program does something else than the recorded run: was it, its "
                              "input or its environment changed?")};
  } else if (const auto* said = std::get_if<protocol::Verdict>(&message); said != nullptr) {
    verdict(*said);
  } else if (const auto* hello = std::get_if<protocol::RankHello>(&message); hello != nullptr) {
    m_hellos.push_back(*hello);
    m_inputs.noteBuild(*hello, m_store);
  } else if (const auto* state = std::get_if<protocol::RankState>(&message); state != nullptr) {
    m_begun[state->rank] = state->serial;
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

void Replay::daemonLost() {
  m_failure = Error{ErrorCode::Peer, "the control daemon is gone",
                    "Start the replay again; the trace is whole."};
}

/// What was asked of this replay, told to its job. `logs`: of a survey.
Status Replay::adjust(JobOptions& options, const std::string& logs) {
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
  if (m_options.survey && m_options.quiet) {  // 'races' in a shell where OMP_NUM_THREADS is not set
    const auto facts = m_store.launchFacts();
    const auto contexts = contextsOf(facts ? *facts : std::vector<db::LaunchFact>(), 1);
    if (!contexts.empty()) {
      options.session.environment =
          recordedVariables(contexts.begin()->second, options.session.variables);
    }
  }
  if (m_options.survey) {
    options.session.mode |= kRecordChoices | kRecordEvents;
    options.session.logDirectory = logs;
  }
  if ((m_options.survey || m_options.stopAtEnd) && !m_store.run().complete) {
    options.session.mode |= kHoldAfter;
  }
  return {};
}

Result<int> Replay::run() {
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
  if (m_options.survey && m_options.quiet) {
    std::fprintf(
        stderr,
        "photofinish: this trace has choices only; running %s once more to see its events …\n",
        m_running.empty() ? "the program" : "the group");
  }
  options->stallAfter = m_options.stallAfter;
  if (Status status = sayWhatIsNotRecorded(); !status) {
    return status.error();
  }
  Result<std::unique_ptr<Job>> job = Job::start(std::move(*options));
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
  if (m_failure) {
    return *m_failure;
  }
  if (m_options.survey && !m_running.empty()) {
    Result<Execution> part = seenOfPart(m_store, logs->path(), m_running, lastWords(words.get()));
    if (!part) {
      return part.error();
    }
    m_execution = std::move(*part);
  } else if (m_options.survey) {
    const Status kept = keepSurvey(m_store, logs->path(), lastWords(words.get()));
    if (!kept) {
      m_cameShort = kept.error().code == ErrorCode::Divergence;
      return kept.error();
    }
  }
  sayWhatWasDone();
  if (const std::string differing = m_inputs.atEnd(); !differing.empty()) {
    tell("the replay has ended; " + differing);
  }
  return *m_result;
}

}  // namespace

void endReplays() {
  g_endAsked = true;
}

namespace {

/// Of a trace without events. A survey would run all ranks, which may be too many for this machine: where the others of a
/// part are when one of its ranks is at an event, a survey of the part tells.
Result<int> replayPart(const ReplayOptions& options, db::TraceStore& store) {
  if (!options.cut.empty()) {
    return Error{ErrorCode::Usage,
                 "this trace has choices only, and that needs the events of all ranks, also of "
                 "those that do not run",
                 "'photofinish replay FILE --survey', where all ranks can run, puts them into the "
                 "trace; 'record --mode all' keeps them."};
  }
  const Result<std::vector<Rank>> ranks = ranksOfPart(store, options.part);
  if (!ranks) {
    return ranks.error();
  }
  Destination destination;
  if (ranks->size() == 1) {  // there is nobody else to stop
    destination.cut.assign(static_cast<std::size_t>(store.run().ranks), 0);
    destination.cut[static_cast<std::size_t>(options.until->rank)] = options.until->serial - 1;
  } else {
    ReplayOptions survey;
    survey.trace = options.trace;
    survey.part.ranks = *ranks;
    survey.survey = survey.quiet = true;
    survey.force = options.force;
    survey.launcherOptions = options.launcherOptions;
    Replay look(survey, store);
    if (const Result<int> done = look.run(); !done) {
      return done;
    }
    Result<Destination> found = destinationIn(look.seen(), *options.until);
    if (!found) {
      return found.error();
    }
    destination = std::move(*found);
  }
  Replay replay(options, store);
  replay.goTo(std::move(destination));
  return replay.run();
}

/// What to ask for, so that a rank runs that is to be stopped.
std::string whoRuns(const db::TraceStore& store, Rank rank) {
  const std::string other = "name an event of a rank that does.";
  const Result<ReplayGroups> groups =
      ReplayGroups::parse(store.run().groups.value_or("all"), store.run().ranks);
  if (!groups || rank < 0 || rank >= store.run().ranks) {
    return "N" + other.substr(1);
  }
  const std::uint32_t group = groups->groupOf(rank);
  return "--group " + std::to_string(group) +
         " runs that rank (its group: " + rangesText(groups->members(group)) + "); or " + other;
}

/// Usage unless a part of the job that is asked for can be replayed, with the rank that is to be stopped in it.
Status partIsThere(db::TraceStore& store, const ReplayOptions& options) {
  if (options.part.isWhole()) {
    return {};
  }
  const Result<std::vector<Rank>> ranks = ranksOfPart(store, options.part);
  if (!ranks) {
    return ranks.error();
  }
  if (options.deliveries == "tagged") {
    return Error{ErrorCode::Usage,
                 "a part of the job has no tags of its own for messages from outside",
                 "Leave out --force tagged."};
  }
  if (options.boundedBuffers) {
    return Error{
        ErrorCode::Usage,
        "--bounded-buffers holds messages back until their receivers are ready, and a part "
        "of the job has receivers that do not run",
        "Leave out --bounded-buffers, or replay all ranks."};
  }
  if (options.until && std::ranges::find(*ranks, options.until->rank) == ranks->end()) {
    return Error{ErrorCode::Usage,
                 "event " + std::to_string(options.until->serial) + " is of rank " +
                     std::to_string(options.until->rank) +
                     ", which is to be stopped, but does not run in this replay",
                 whoRuns(store, options.until->rank)};
  }
  return {};
}

/// Usage where a rank called MPI with several threads.
Status canHoldBack(db::TraceStore& store) {
  const Result<std::optional<Rank>> threaded = rankWithThreads(store);
  if (!threaded) {
    return threaded.error();
  }
  return !*threaded ? Status()
                    : Status(Error{ErrorCode::Usage,
                                   "rank " + std::to_string(**threaded) +
                                       " calls MPI with several threads: its messages cannot be "
                                       "held back",
                                   "Replay it without --bounded-buffers."});
}

}  // namespace

Result<int> replay(const ReplayOptions& options) {
  if (Status may = mayRun(options.trace); !may) {
    return may.error();
  }
  const auto mode =
      options.survey ? db::TraceStore::Mode::ReadWrite : db::TraceStore::Mode::ReadOnly;
  Result<db::TraceStore> store =
      openTrace(options.trace, options.deliveries.empty() ? mode : db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (Status status = partIsThere(*store, options); !status) {
    return status.error();
  }
  if (options.until) {  // before a survey is made for it
    if (Status status = eventIsThere(*store, *options.until); !status) {
      return status.error();
    }
  }
  if (options.boundedBuffers) {
    if (Status can = canHoldBack(*store); !can) {
      return can.error();
    }
  }
  if (((options.until || !options.cut.empty() || options.boundedBuffers) && !options.survey) ||
      !options.deliveries.empty()) {
    Result<bool> known = store->hasExecution();
    if (!known) {
      return known.error();
    }
    if (!*known && !options.part.isWhole() && (options.until || !options.cut.empty())) {
      return replayPart(options, *store);
    }
    if (!*known && options.part.isWhole()) {
      if (Status status = surveyIfNeeded(options.trace); !status) {
        return status.error();
      }
    }
    store = openTrace(options.trace, mode);
    if (!store) {
      return store.error();
    }
  }
  if (Status status = canForce(*store, options.deliveries); !status) {
    return status.error();
  }
  for (int left = store->run().complete ? 1 : kSurveys;; --left) {
    Replay replay(options, *store);
    Result<int> done = replay.run();
    if (done || !replay.cameShort() || left == 1) {
      return done;
    }
  }
}

}  // namespace pf::app
