// SPDX-License-Identifier: GPL-3.0-or-later
// Logical breakpoints: moments of a run named by what the run does, not by code. The events that
// one stands for are looked up in the recorded execution, so they are the same in every replay, and
// a rank that has to stop there compares one number an event (RankPage::stopAt).
//
// Text form, one a breakpoint; ranks are world ranks, numbers count from 1:
//   event R:S                                rank R's event S
//   receive R#K                              the K-th event of rank R that takes a message
//   message from S [to R] [tag T] [comm C]   each event that takes such a message
//   race N                                   the N-th racing receive, as `photofinish races` lists them
//   collective N [comm C]                    the N-th collective of C (MPI_COMM_WORLD), on each rank
//   any receive                              each event that takes a message
//   start of main                            each rank's first event: where a replay can stop first, behind MPI_Init
//   divergence                               where a replay does something else than the recording; no event of it
// C is a communicator's name, or its number in the trace; it comes last and may have blanks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/races/races.h"

namespace pf {

enum class LogicalKind : std::uint8_t {
  Event,
  Receive,
  Message,
  Race,
  Collective,
  AnyReceive,
  Start,
  Divergence
};

/// The text form of Start.
inline constexpr const char* kStartOfMain = "start of main";

struct LogicalStop {
  LogicalKind kind = LogicalKind::Event;
  Rank rank = kUnknownRank;    ///< Event, Receive: of it; Message: the receiver, kUnknownRank = any
  std::uint64_t number = 0;    ///< Event: serial; Receive, Race, Collective: which
  Rank source = kUnknownRank;  ///< Message
  Tag tag = kAnyTag;           ///< Message: kAnyTag = any
  std::string comm;            ///< Message, Collective: as typed; empty = any, MPI_COMM_WORLD
  friend bool operator==(const LogicalStop&, const LogicalStop&) = default;
};

/// Whether the text begins as one of these forms does: then it is no place in the source.
[[nodiscard]] bool isLogicalStop(std::string_view text);

/// Usage, with the form that was expected, on anything else than the forms above.
[[nodiscard]] Result<LogicalStop> parseLogicalStop(std::string_view text);

/// The text form; parseLogicalStop() gives the same stop back.
[[nodiscard]] std::string toText(const LogicalStop& stop);

/// The events that it stands for, by rank and serial, each once; none for Divergence, or where the
/// execution has no such message. NotFound if it names a rank, event, race, collective or
/// communicator that is not there. `races` as `photofinish races` lists them. Needs matchMessages()
/// first.
[[nodiscard]] Result<std::vector<EventRef>> eventsOf(const LogicalStop& stop,
                                                     const Execution& execution,
                                                     const std::vector<Race>& races);

/// Serials of the events of a rank that take a message, in order: blocking receives, and the events
/// that observe the completion of others.
[[nodiscard]] std::vector<Serial> receivesOf(const RankHistory& rank);

}  // namespace pf
