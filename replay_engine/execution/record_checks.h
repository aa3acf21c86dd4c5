// SPDX-License-Identifier: GPL-3.0-or-later
// What may be believed of a record that can be damaged. Private to the analysis.
#pragma once

#include <cstddef>

#include "replay_engine/execution/execution.h"

namespace pf {

[[nodiscard]] inline bool isRank(const Execution& execution, Rank rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < execution.ranks.size();
}

[[nodiscard]] inline bool isEvent(const RankHistory& history, Serial serial) {
  return serial >= 1 && serial <= history.events.size();
}

[[nodiscard]] inline bool isCancel(const Execution& execution, const Event& event) {
  return event.kind == EventKind::Local && event.call < execution.callNames.size() &&
         execution.callNames[event.call] == "MPI_Cancel";
}

/// The receive took a message, and both its post and its completion are events of the record.
[[nodiscard]] inline bool isCompleted(const RankHistory& history, const PostedReceive& receive) {
  return receive.state == ReceiveState::Complete && isEvent(history, receive.post) &&
         isEvent(history, receive.completion) && receive.post <= receive.completion;
}

/// The program never learned what became of the receive.
[[nodiscard]] inline bool isPending(const RankHistory& history, const PostedReceive& receive) {
  return receive.state == ReceiveState::Pending && isEvent(history, receive.post) &&
         receive.completion == 0;
}

/// A message of the record was delivered to it, seen by the program or not: a fact of
/// matchMessages().
[[nodiscard]] inline bool hasMessage(const Execution& execution, const RankHistory& history,
                                     const PostedReceive& receive) {
  return receive.message < execution.messages.size() &&
         (isCompleted(history, receive) || isPending(history, receive));
}

/// The send was synchronous and its rank saw it complete.
[[nodiscard]] inline bool observedSynchronous(const RankHistory& history, const SentMessage& send) {
  return send.synchronous && isEvent(history, send.syncCompletion) &&
         send.syncCompletion >= send.event;
}

}  // namespace pf
