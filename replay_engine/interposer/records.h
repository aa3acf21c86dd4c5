// Records of messages, shared by the handlers of sends, receives, probes and completions.
#pragma once

#include "engine.h"
#include "real_calls.h"

namespace pf {

/// Size of `count` elements in bytes; 0 where MPI does not tell.
inline std::uint64_t bytesOf(int count, MPI_Datatype datatype) {
  int size = 0;
  if (count <= 0 || PF_REAL(Type_size)(datatype, &size) != MPI_SUCCESS || size <= 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(count) * static_cast<std::uint32_t>(size);
}

/// A wildcard's source as replayed: the recorded one, or itself where the record has ended.
int forcedSource(int source, std::uint32_t wildNumber);

/// The outcome of a wildcard receive, in logs that hold choices only.
void logWild(std::uint32_t wildNumber, int source);

/// Statuses that outlive the process: MPI fills them before a fatal error handler (truncation) ends
/// it, and the reader of the log finds there which message was taken. Null where they cannot be
/// had; at most kStatusSlots.
MPI_Status* survivingStatuses(int count);
/// Slot `slot` is for the receive with number `post`; it starts as `before`.
void surviveAs(std::uint32_t slot, std::uint32_t post, const MPI_Status& before);
/// No status of the call that is begun counts any more.
inline void forgetStatuses() {
  if (g_engine.events) {
    g_engine.log.header().begun.statuses = 0;
  }
}

}  // namespace pf
