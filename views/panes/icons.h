// SPDX-License-Identifier: GPL-3.0-or-later
// Icons drawn in code: sharp at every scale, in the palette's colours, no files to ship.
#pragma once

#include <QIcon>

namespace pf::views {

enum class Icon {
  Continue,
  Pause,
  StepInto,
  StepOver,
  StepOut,
  ReplayHere,
  RestartCycle,
  NextReceive,
  RunToFailure,
  ZoomIn,
  ZoomOut,
  ZoomFit,
  ZoomBack,
  ZoomForward,
  NextRace,
  PreviousRace,
  Partner,
  Cone,
  Breakpoint,
  Bookmark,
  Add,
  Remove,
  Clear,
  Find,
  Record,
  Open,
  Save,
  Stop,
  Legend,
  Clock,
};

/// Follows the application's palette.
[[nodiscard]] QIcon icon(Icon which);

}  // namespace pf::views
