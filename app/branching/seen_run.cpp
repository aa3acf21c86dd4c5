// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/seen_run.h"

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"

namespace pf::app {

Result<SeenRun> seenRun(LogFiles files, std::int32_t size) {
  SeenRun run;
  for (Rank rank = 0; rank < size; ++rank) {
    const auto file = files.find(rank);
    Result<RankLog> log = file != files.end()
                              ? readLog(file->second)
                              : Result<RankLog>(emptyLog(rank, size, "it has left no log"));
    if (!log) {
      return log.error();
    }
    run.logs.push_back(std::move(*log));
  }
  Result<Execution> execution = assemble(run.logs);
  if (!execution) {
    return execution.error();
  }
  run.execution = std::make_unique<Execution>(std::move(*execution));
  matchMessages(*run.execution);
  run.choices = std::make_unique<Choices>(*run.execution);
  run.files = std::move(files);
  return run;
}

Error threadsCallMpi(Rank rank) {
  return {ErrorCode::Usage, "rank " + std::to_string(rank) + " calls MPI from several threads",
          "Other orders of a program whose threads call MPI cannot be run yet."};
}

Status oneThreadARank(const SeenRun& run) {
  for (const RankLog& log : run.logs) {
    if (!log.lanes.empty()) {
      return threadsCallMpi(log.rank);
    }
  }
  return {};
}

Result<std::vector<std::vector<unsigned char>>> schedulesOf(const SeenRun& run,
                                                            const BranchStart& start) {
  ForcedPrefix prefix{start.done, {}};
  for (const RunStep& step : start.ahead) {
    prefix.choices.push_back(forcedTo(*run.execution, step.choice, step.took));
  }
  return schedulesOf(run.files, prefix);
}

}  // namespace pf::app
