// SPDX-License-Identifier: GPL-3.0-or-later
// The signs of the space-time diagram, shared with its legend. Every kind has a shape of its own.
#pragma once

#include <QPainter>

#include "views/panes/theme.h"
#include "views/trace/trace_index.h"

namespace pf::views {

enum class Glyph {
  Send,
  Receive,
  WildcardReceive,
  Post,
  WildcardPost,
  Completion,
  Probe,
  SendReceive,
  Start,
  Collective,
  CollectivePost,
  Local,
  Failure,
  Bookmark,
  Breakpoint,
};

[[nodiscard]] Glyph glyphOf(const TraceIndex& trace, EventRef ref);
/// Draws a sign of radius `r` around `centre`.
void drawGlyph(QPainter& painter, Glyph glyph, QPointF centre, double r, const Theme& theme);
/// The ring that marks a racing receive.
void drawRaceRing(QPainter& painter, QPointF centre, double r, const Theme& theme);
/// A small label with a background of its own; `anchor` is its left centre.
void drawPill(QPainter& painter, QPointF anchor, const QString& text, const QColor& ink,
              const QColor& paper);

}  // namespace pf::views
