// SPDX-License-Identifier: GPL-3.0-or-later
// One replay of a trace: its job, followed to its end. Private to app/replaying.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/job/job_driver.h"
#include "app/replaying/replay.h"
#include "app/replaying/replay_inputs.h"
#include "app/replaying/survey.h"
#include "app/replaying/verdict_text.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {

/// One replay, seen from the command line.
class ReplayRun final : public JobFollower {
 public:
  ReplayRun(const ReplayOptions& options, db::TraceStore& store)
      : m_options(options), m_store(store) {}

  Result<int> run();

  /// ReplayOptions::until, where the trace does not say it.
  void goTo(Destination destination) { m_given = std::move(destination); }
  [[nodiscard]] bool cameShort() const { return m_cameShort; }
  /// What a survey of a part of the job saw.
  [[nodiscard]] Execution& seen() { return *m_execution; }
  /// An execution of the part that runs, where the trace has none.
  void know(Execution execution) { m_execution = std::move(execution); }

 private:
  Status plan();
  Status sayWhatIsNotRecorded();
  Status adjust(JobOptions& options, const std::string& logs);
  void adjustSurvey(JobOptions& options, const std::string& logs) const;
  Status follow(JobOptions options);
  Status keepSeen(const std::string& logs, const std::string& words);
  void diverged(const protocol::RankDiverged& diverged);
  void endReached();
  void surveyReachedItsStops();
  void heard(const protocol::Message& message) override;
  void daemonLost() override;
  void noticed(const std::string& text) override { tell(text); }
  void turn() override { sayWhoIsMissing(); }
  [[nodiscard]] bool isDone() const override;
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
  [[nodiscard]] Status sayWhatWasSurveyed() const;
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
  SurveyEnd m_surveyEnd;
  bool m_waitingForUser = false;
  std::chrono::steady_clock::time_point m_started = std::chrono::steady_clock::now();
  bool m_saidWhoIsMissing = false;
  std::optional<int> m_badEnd;  ///< exit status of the first rank that ended badly, as of a shell
  std::optional<int> m_result;
};

}  // namespace pf::app
