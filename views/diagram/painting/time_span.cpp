// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/painting/time_span.h"

#include <algorithm>
#include <cmath>

#include "views/trace/analyses/trace_causality.h"

namespace pf::views {

namespace {

constexpr double kFreeSteps = 0.9;     // steps
constexpr double kWidestStep = 260.0;  // pixels of one step of logical time
constexpr double kFitStep = 96.0;      // the same where all is shown
constexpr double kNarrowest = 16;      // of the physical axis's finest unit

double narrowest(const TraceIndex& trace, double width) {
  return trace.axis() == TimeAxis::Logical ? width / kWidestStep : kNarrowest;
}

double widest(const TraceIndex& trace, double width) {
  return std::max(trace.lastTime() + 2 * margin(trace) + 1, narrowest(trace, width));
}

/// The event in view that is nearest to the middle.
EventRef middleEvent(const TraceIndex& trace, const SpaceTimeGeometry& view) {
  const double middle = (view.t0 + view.t1) / 2;
  EventRef nearest;
  double least = 0;
  for (const Rank rank : view.ranksInView()) {
    const EventRef event = trace.times().nearest(
        rank, static_cast<std::uint32_t>(std::clamp(middle, 0.0, 1.0 * trace.lastTime())));
    const double distance = std::abs(trace.time(event) - middle);
    if (event.valid() && (!nearest.valid() || distance < least)) {
      nearest = event;
      least = distance;
    }
  }
  return nearest;
}

bool isInView(const TraceIndex& trace, const SpaceTimeGeometry& view, EventRef event) {
  return trace.contains(event) && trace.time(event) >= view.t0 && trace.time(event) <= view.t1;
}

/// Times on the axis of `other` of the events in view; all of it if they are all, or none.
struct Extent {
  double first = 0;
  double last = 0;
  bool all = true;
};

Extent extentOn(const TraceIndex& other, const TraceIndex& trace, const SpaceTimeGeometry& view) {
  Extent extent{static_cast<double>(other.lastTime()), 1};
  for (const Rank rank : view.ranksInView()) {
    const auto [from, to] = trace.times().serialsIn(rank, view.t0, view.t1);
    extent.all = extent.all && from <= 1 && to > trace.lastSerial(rank);
    if (from < to) {
      extent.first = std::min(extent.first, 1.0 * other.time({rank, from}));
      extent.last = std::max(extent.last, 1.0 * other.time({rank, to - 1}));
    }
  }
  extent.all = extent.all || extent.last < extent.first;
  return extent;
}

}  // namespace

double margin(const TraceIndex& trace) {
  return kFreeSteps * trace.step();
}

TimeSpan wholeSpan(const TraceIndex& trace, double width) {
  const double least = trace.axis() == TimeAxis::Logical ? width / kFitStep : 0;
  const double first = 1 - margin(trace);
  return {first, std::max(trace.lastTime() + margin(trace), first + least)};
}

TimeSpan limitedSpan(const TimeSpan& span, const TraceIndex& trace, double width) {
  const double end = trace.lastTime() + 2 * margin(trace);
  const double least = std::min(narrowest(trace, width), 1e9);
  const double wide = std::max(std::clamp(span.width(), least, widest(trace, width)), 0.5);
  const double middle = (span.t0 + span.t1) / 2;
  const double low = -wide * 0.5;
  const double start = std::clamp(middle - wide / 2, low, std::max(low, end - wide * 0.5));
  return {start, start + wide};
}

TimeSpan zoomedSpan(const TimeSpan& span, double factor, double fixed, const TraceIndex& trace,
                    double width) {
  const double least = std::max(0.5, narrowest(trace, width));
  const double wide = std::clamp(span.width() / factor, least, widest(trace, width));
  const double share = (fixed - span.t0) / span.width();
  const double start = fixed - wide * share;
  return {start, start + wide};
}

TimeSpan spanAround(EventRef event, const TimeSpan& span, const TraceIndex& trace) {
  const double wide = span.width();
  const double start =
      std::max(1 - margin(trace),
               std::min(trace.time(event) - wide / 2, trace.lastTime() + margin(trace) - wide));
  return {start, start + wide};
}

TimeSpan resizedSpan(const TimeSpan& span, const TraceIndex& trace, double before, double width) {
  constexpr double kSame = 1e-6;
  const TimeSpan whole = wholeSpan(trace, before);
  if (std::abs(span.t0 - whole.t0) < kSame && std::abs(span.t1 - whole.t1) < kSame) {
    return wholeSpan(trace, width);  // it showed everything
  }
  const double scale = before / span.width();
  const bool isShort = scale >= kFitStep * 0.99 || span.width() < width / kWidestStep;
  return trace.axis() == TimeAxis::Logical && isShort ? TimeSpan{span.t0, span.t0 + width / scale}
                                                      : span;
}

TimeSpan spanOfPartners(EventRef event, const TraceIndex& trace) {
  TimeSpan span{static_cast<double>(trace.time(event)), static_cast<double>(trace.time(event))};
  const auto include = [&](EventRef other) {
    if (trace.contains(other)) {
      span.t0 = std::min(span.t0, static_cast<double>(trace.time(other)));
      span.t1 = std::max(span.t1, static_cast<double>(trace.time(other)));
    }
  };
  for (const EventRef& partner : partnersOf(trace, event)) {
    include(partner);
  }
  for (const std::uint32_t race : trace.races().at(event)) {
    for (const std::uint32_t message : trace.data().races[race].alternatives) {
      if (message < trace.messages().count()) {
        include(EventRef(trace.execution().messages[message].send));
      }
    }
  }
  const double beside =
      std::max(trace.axis() == TimeAxis::Logical ? 1.5 : 500, span.width() * 0.15);
  return {span.t0 - beside, span.t1 + beside};
}

TimeSpan spanOnAxis(const TraceIndex& other, const TraceIndex& trace, const SpaceTimeGeometry& view,
                    EventRef event) {
  const Extent extent = extentOn(other, trace, view);
  if (extent.all) {
    return wholeSpan(other, view.plot.width());
  }
  const EventRef fixed = isInView(trace, view, event) ? event : middleEvent(trace, view);
  const double wide = (extent.last - extent.first) * (1 + 2 * 0.02) + 1;
  const double share =
      std::clamp((trace.time(fixed) - view.t0) / std::max(view.t1 - view.t0, 1e-9), 0.0, 1.0);
  const double start = other.time(fixed) - share * wide;
  return {start, start + wide};
}

TimeSpan renewedSpan(const TimeSpan& span, const TraceIndex& before, const TraceIndex& now,
                     double width) {
  const bool fromStart = span.t0 <= 1;
  const bool toEnd = span.t1 >= before.lastTime();
  const TimeSpan same{sameTime(span.t0, before, now), sameTime(span.t1, before, now)};
  if (toEnd && fromStart && now.lastTime() + margin(now) > same.t1) {
    return wholeSpan(now, width);
  }
  return toEnd && !fromStart
             ? same.shifted(now.lastTime() - sameTime(before.lastTime(), before, now))
             : same;
}

double sameTime(double time, const TraceIndex& before, const TraceIndex& now) {
  if (before.axis() == TimeAxis::Logical || now.axis() == TimeAxis::Logical) {
    return time;
  }
  const double units = before.times().nanoseconds(2) / std::max(now.times().nanoseconds(2), 1.0);
  return 1 + (time - 1) * units;
}

}  // namespace pf::views
