// SPDX-License-Identifier: GPL-3.0-or-later
// What of the space-time diagram is at a point, say below the mouse.
#pragma once

#include <QPointF>

#include "views/diagram/painting/space_time_geometry.h"
#include "views/trace/trace_index.h"

namespace pf::views {

/// Invalid: none is near.
[[nodiscard]] EventRef eventAt(const TraceIndex& trace, const SpaceTimeGeometry& view,
                               QPointF position);
/// Of the messages that the racing receive `selected` could have taken instead the one whose dashed
/// line or number is there, counted from 1; 0: none.
[[nodiscard]] int alternativeAt(const TraceIndex& trace, const SpaceTimeGeometry& view,
                                EventRef selected, QPointF position);

}  // namespace pf::views
