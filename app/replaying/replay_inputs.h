// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay says of its inputs, and of ranks that end otherwise than the recorded ones.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/collation/inputs.h"
#include "replay_engine/base/result.h"
#include "replay_engine/protocol/messages.h"

namespace pf::app {

/// What a recorded run used besides messages.
struct RecordedUse {
  std::vector<db::NotGuaranteed> notGuaranteed;
  std::vector<db::SeenInput> inputs;
  std::vector<db::RankInfo> ranks;
  std::string host;  ///< of the recorder; what ranks saw elsewhere is not looked at
};
Result<RecordedUse> recordedUse(db::TraceStore& store);

class ReplayInputs {
 public:
  using Lines = std::vector<std::string>;

  /// Before the ranks begin: looks at the files that they used, and names those that are others
  /// now.
  [[nodiscard]] Lines look(const RecordedUse& used);
  /// Names the variables of a rank's environment that are others, once for all ranks. `quiet`: not
  /// those that are given back.
  [[nodiscard]] Lines launched(const protocol::RankLaunched& rank, bool quiet);
  /// An error if a rank ended by itself before its record does, or, of a run that was whole,
  /// otherwise than recorded.
  [[nodiscard]] std::optional<Error> ended(const protocol::RankExited& rank,
                                           const db::TraceStore& store) const;
  /// A rank has come to MPI_Init: advice() names its program where it is another build than the recorded one.
  void noteBuild(const protocol::RankHello& rank, const db::TraceStore& store);
  /// `text`, and what is known that a divergence may come from besides.
  [[nodiscard]] std::string advice(std::string text) const;
  /// What a verdict says of a replay that is as recorded although its inputs are others: "inputs
  /// differ: a, b and 3 more"; empty: none is.
  [[nodiscard]] std::string atEnd() const;

 private:
  ChangedInputs m_changed;
  std::set<std::string> m_variables;  ///< that were told
  std::string m_otherBuild;           ///< program of a rank that is not the recorded build
  bool m_threads = false;             ///< of the application, in the recorded run
};

}  // namespace pf::app
