// SPDX-License-Identifier: GPL-3.0-or-later
// The logs of a recording, from the first to its trace. Private to what records: photofinish record, and runs of other orders.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "app/collation/collate.h"
#include "app/job/job.h"
#include "app/recording/input_tee.h"
#include "app/recording/output_tee.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// System while a rank runs whose log lies there: ranks go on when their recorder is killed.
Status noRankRuns(const std::string& logs);

std::uint64_t randomSalt();

/// How a run is recorded.
struct RunSettings {
  bool ownInput = true;            ///< our standard input is the program's, and a copy of it kept
  RepeatedInput* input = nullptr;  ///< of one recording of several; null: our standard input
  bool keepsOutput = false;        ///< and what launcher and program print
  bool endStuck = false;           ///< end the program once it cannot get on for certain
  std::chrono::milliseconds limit{0};  ///< end it after so long; 0: never
};

class RecordedLogs {
 public:
  /// `replace`: a trace of that name goes; else it is kept under a number.
  RecordedLogs(RunFacts facts, std::string trace, bool replace);

  Status begin();
  /// Where the ranks are to write.
  [[nodiscard]] const std::string& path() const { return m_logs; }
  [[nodiscard]] const RunFacts& facts() const { return m_facts; }
  /// Keeps what the program reads where it does not come from us.
  Status keepInput(const std::string& bytes);
  /// Runs the program: its exit status. Ctrl-C ends it, and not us.
  Result<int> run(JobOptions job, const RunSettings& settings);
  /// By Ctrl-C or SIGTERM to us.
  [[nodiscard]] static bool interrupted();
  /// It was ended because of RunSettings::limit.
  [[nodiscard]] bool timeWasUp() const { return m_timeWasUp; }
  /// Nothing of them is kept.
  void end();
  /// The trace of them, which takes their place; nothing where there is none, which is said.
  Result<std::optional<Collated>> makeTrace();

 private:
  [[nodiscard]] Status awaitRanks() const;
  void keepOutput(JobOptions& job);
  Result<std::optional<Collated>> sayWhyNot(const Error& error);

  RunFacts m_facts;
  const std::string m_trace;
  const std::string m_logs;  ///< their directory
  const bool m_replace;
  bool m_timeWasUp = false;
  UniqueFd m_lock;
  std::optional<InputTee> m_input;
  std::optional<OutputTee> m_output;
  bool m_daemonLost = false;
};

}  // namespace pf::app
