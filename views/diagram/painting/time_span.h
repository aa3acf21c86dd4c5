// SPDX-License-Identifier: GPL-3.0-or-later
// Which times of a trace's axis a view shows: what "all of it" means, how far it can be zoomed and
// moved, and what becomes of it on another axis. `width`: of the plot, in pixels.
#pragma once

#include "views/diagram/painting/space_time_geometry.h"
#include "views/trace/trace_index.h"

namespace pf::views {

struct TimeSpan {
  double t0 = 0.0;
  double t1 = 1.0;

  [[nodiscard]] double width() const { return t1 - t0; }
  [[nodiscard]] TimeSpan shifted(double by) const { return {t0 + by, t1 + by}; }
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// Left free at both ends.
[[nodiscard]] double margin(const TraceIndex& trace);
/// All of it; of a short one steps no wider than they are well read.
[[nodiscard]] TimeSpan wholeSpan(const TraceIndex& trace, double width);
/// As near to `span` as can be shown.
[[nodiscard]] TimeSpan limitedSpan(const TimeSpan& span, const TraceIndex& trace, double width);
/// `fixed` stays where it is.
[[nodiscard]] TimeSpan zoomedSpan(const TimeSpan& span, double factor, double fixed,
                                  const TraceIndex& trace, double width);
/// As wide as `span`, with the event in its middle; without an empty half beside the ends.
[[nodiscard]] TimeSpan spanAround(EventRef event, const TimeSpan& span, const TraceIndex& trace);
/// After the plot, which was `before` pixels wide: keeps the scale of a short trace, the span of a
/// long one.
[[nodiscard]] TimeSpan resizedSpan(const TimeSpan& span, const TraceIndex& trace, double before,
                                   double width);
/// An event with the other ends of its messages, and what it could have taken.
[[nodiscard]] TimeSpan spanOfPartners(EventRef event, const TraceIndex& trace);
/// What `view` of `trace` becomes on the axis of `other`: as wide as the events take there that are
/// in view here. `event` stays where it is if it is in view, else what is in the middle.
[[nodiscard]] TimeSpan spanOnAxis(const TraceIndex& other, const TraceIndex& trace,
                                  const SpaceTimeGeometry& view, EventRef event);
/// The newer version `now` of the trace shows as much as `span` did of `before`, in its own times: all
/// of it, or up to the end, where that was shown.
[[nodiscard]] TimeSpan renewedSpan(const TimeSpan& span, const TraceIndex& before,
                                   const TraceIndex& now, double width);
/// A time of `before` as one of the newer version `now`: physical times count in other units when a
/// run has become long.
[[nodiscard]] double sameTime(double time, const TraceIndex& before, const TraceIndex& now);

}  // namespace pf::views
