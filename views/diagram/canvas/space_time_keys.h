// SPDX-License-Identifier: GPL-3.0-or-later
// What keys do in the space-time diagram. False: another key, or it does nothing now.
#pragma once

class QKeyEvent;

namespace pf::views {

class EventCursor;
class SpaceTimeViewport;

/// Moves what is in view, not the selection.
[[nodiscard]] bool moveView(SpaceTimeViewport& viewport, const QKeyEvent& event);
[[nodiscard]] bool moveSelection(EventCursor& cursor, const QKeyEvent& event);
[[nodiscard]] bool asksForMenu(const QKeyEvent& event);

}  // namespace pf::views
