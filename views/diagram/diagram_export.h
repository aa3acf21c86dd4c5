// SPDX-License-Identifier: GPL-3.0-or-later
// The space-time diagram as a file.
#pragma once

#include <QString>

class QSize;

namespace pf::views {

class SpaceTimeView;

/// Writes the view as PNG or SVG, by the suffix of `path`. False with `error` set if that failed.
[[nodiscard]] bool exportDiagram(const SpaceTimeView& view, const QString& path, const QSize& size,
                                 QString* error);

}  // namespace pf::views
