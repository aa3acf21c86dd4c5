// SPDX-License-Identifier: MIT
// Records of messages, shared by the handlers of sends, receives, probes and completions.
#pragma once

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

/// The class of an error that MPI returned.
inline int classOf(int error) {
  int errorClass = MPI_SUCCESS;
  if (error != MPI_SUCCESS) {
    PF_REAL(Error_class)(error, &errorClass);
  }
  return errorClass;
}

/// Whether it is of this class, one that only MPI itself returns.
inline bool isError(int error, int errorClass) {
  return error == errorClass || (!kCodesAreClasses && classOf(error) == errorClass);
}

/// Whether a receive for which MPI returned `error` has taken a message.
inline bool hasStatus(int error) {
  return error == MPI_SUCCESS || classOf(error) == MPI_ERR_TRUNCATE;
}

/// Not so with nobody, or with a communicator that MPI will refuse.
inline bool isMessage(int peer, MPI_Comm comm) {
  return peer != MPI_PROC_NULL && comm != MPI_COMM_NULL;
}

/// Commits a record that has nothing but its call site.
inline void commitSite(RecordKind kind, const CallPlace& place) {
  const std::uint32_t site = siteNumber(place);  // may write a record of its own
  g_engine.log.put(kind, records::AtSite{site});
}

/// A wildcard's source as replayed: the recorded one, or itself where the record has ended.
int forcedSource(int source, std::uint32_t wildNumber);

/// Statuses that outlive the process: MPI fills them before a fatal error handler (truncation) ends
/// it, and the reader of the log finds there which message was taken. Null where they cannot be
/// had; at most kStatusSlots.
MPI_Status* survivingStatuses(int count);
/// Slot `slot` is for the receive with this survivorNumber(); it starts as `before`.
void surviveAs(std::uint32_t slot, std::uint32_t number, const MPI_Status& before);
/// What the reader of the log knows a receive by: its post number, or in logs without events the
/// wildcard number.
inline std::uint32_t survivorNumber(std::uint32_t post, bool wild, std::uint32_t wildNumber) {
  return g_engine.events ? post : wild ? wildNumber : kNone;
}
/// No status of the call that is begun counts any more.
inline void forgetStatuses() {
  if (g_engine.record) {
    g_engine.log.header().begun.statuses = 0;
  }
}

}  // namespace pf
