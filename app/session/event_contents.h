// SPDX-License-Identifier: GPL-3.0-or-later
// What was in the messages of an event, as far as the trace has kept it: what the event received, and what others received of
// what it sent. Where nothing is kept, why, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <QList>
#include <QString>

#include "app/reports/message_contents.h"
#include "replay_engine/execution/execution.h"
#include "views/trace/trace_index.h"

namespace pf::session {

/// Bytes that are shown of an event, and entries that are listed.
inline constexpr std::size_t kContentsShown = std::size_t{64} << 10;
inline constexpr std::size_t kContentsListed = 1000;

/// A message, as the rank that received it was told of it (MPI, 3.2.5).
struct AskedMessage {
  Rank source = kUnknownRank;  ///< in MPI_COMM_WORLD
  Rank told = kUnknownRank;    ///< in its communicator
  Tag tag = kAnyTag;
  friend bool operator==(const AskedMessage&, const AskedMessage&) = default;
};

/// What one event received, or some of it.
struct AskedPart {
  EventRef receiver;
  std::vector<AskedMessage> messages;
  bool onlyThese = false;     ///< of all that it received
  std::vector<Rank> members;  ///< who took part in its collectives, besides its rank
};

struct AskedContents {
  EventRef event;
  std::vector<AskedPart> parts;  ///< the first one: what `event` itself received
  std::uint64_t notReceived =
      0;  ///< messages that it sent, or waits for, which no rank has received
  [[nodiscard]] bool isNone() const;  ///< it moves no contents, as far as the events tell
};
/// Looks at the trace as views do; reads no contents.
[[nodiscard]] AskedContents askedContents(const views::TraceIndex& trace, const EventRef& event);

struct FoundContents {
  EventRef receiver;
  Rank source = kUnknownRank;  ///< in MPI_COMM_WORLD, where that is known
  app::Contents contents;
};
struct EventContents {
  EventRef event;
  std::vector<FoundContents> found;
  QList<QString> notes;  ///< what is not there, and what to do: sentences
};
/// From the trace of that name; for a thread that may wait. Errors: as app::openTrace(). What is damaged is a note.
[[nodiscard]] Result<EventContents> readEventContents(const std::string& trace,
                                                      const AskedContents& asked);

}  // namespace pf::session
