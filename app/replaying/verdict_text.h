// SPDX-License-Identifier: GPL-3.0-or-later
// What is judged, and said, of a replay that does not do what the recording did: the same for the command line and for
// sessions.
#pragma once

#include <string>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/protocol/messages.h"

namespace pf::app {

/// What a rank did instead of what it had done.
struct DivergenceText {
  std::string expected;  ///< the recorded event; of contents with their size
  std::string got;       ///< with its place
  std::string history;   ///< lines, indented: what it did before that; may be empty

  /// The two, each in a line of its own.
  [[nodiscard]] std::string twoLines() const;
};
[[nodiscard]] DivergenceText divergenceText(const Execution& execution,
                                            const protocol::RankDiverged& diverged);

/// Ranks that did what they had done, but sent other contents.
class OtherContents {
 public:
  void note(const protocol::RankDiverged& differs) { m_seen.push_back(differs); }
  [[nodiscard]] bool none() const { return m_seen.empty(); }
  [[nodiscard]] std::size_t ranks() const { return m_seen.size(); }
  /// "other contents than recorded, first at rank 2, event 7": by time, as the others may have it from there.
  [[nodiscard]] std::string first() const;
  /// Of a replay that has ended: "the replay did what the recorded run did, but with …".
  [[nodiscard]] std::string atEnd() const;

 private:
  std::vector<protocol::RankDiverged> m_seen;  ///< once a rank
};

/// What it means that every rank waits. They may all be in a long operation, as they may have been in the recording.
enum class Stall {
  AsRecorded,  ///< the recording ends so, too
  Proven,      ///< they cannot get on, though they did
  MayGoOn
};
[[nodiscard]] Stall meaningOf(const protocol::Verdict& verdict, const db::RunInfo& run);
/// A sentence without its end: the verdict's own words follow.
[[nodiscard]] const char* words(Stall stall);

}  // namespace pf::app
