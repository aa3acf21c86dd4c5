// SPDX-License-Identifier: MIT
// Values that the application gives to the space-time diagram besides the trace.
#pragma once

#include <QString>

#include "replay_engine/execution/execution.h"
#include "views/values/namespaces.h"
#include "views/values/roles.h"

namespace pf::values {

/// Where a replayed rank is now: about to do event `next` (last + 1 when it has done them all), or inside of it.
struct ReplayPosition {
  Rank rank = 0;
  Serial next = 1;
  bool stopped = true;  ///< false: still running towards its stop
  bool inside = false;  ///< of the call that event `next` is: it has begun it
  friend bool operator==(const ReplayPosition&, const ReplayPosition&) = default;
};

enum class MarkKind { Bookmark, Breakpoint };

/// A user's mark on an event.
struct EventMark {
  EventRef event;
  MarkKind kind = MarkKind::Bookmark;
  QString text;
  friend bool operator==(const EventMark&, const EventMark&) = default;
};

/// Text of a row's header below "Rank n".
struct RankHeader {
  QString text;
  Tone tone = Tone::Muted;
  bool dimmed = false;  ///< the name, too
  friend bool operator==(const RankHeader&, const RankHeader&) = default;
};

}  // namespace pf::values
