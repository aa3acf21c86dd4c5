// SPDX-License-Identifier: GPL-3.0-or-later
// An array as lines of text.
#pragma once

#include <QStringList>

#include "views/values/array_values.h"

namespace pf::headless {

/// More elements are counted, not listed.
inline constexpr qint64 kMostListed = 10000;

/// What it is, with its statistics; then a line a row, "[3][:] 1, 2.5" or "(:,3) 1, 2.5": the dimension in which elements lie
/// side by side goes across. Of one dimension eight a line. Texts stand in quotes; a structure has a line of its own.
[[nodiscard]] QStringList arrayLines(const values::ArraySummary& array);

}  // namespace pf::headless
