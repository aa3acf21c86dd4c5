// SPDX-License-Identifier: GPL-3.0-or-later
// What GDB's Python has written of an array (mi_bridge/array_query.h), as values. GDB ran the program's pretty printers for
// it: nothing in these files is taken for granted.
#pragma once

#include <QString>

#include "replay_engine/base/result.h"
#include "views/values/array_values.h"

namespace pf::session {

/// Of an array that is read: no more elements, and no more bytes of memory for them.
inline constexpr qint64 kMostArrayElements = 40'000'000;
inline constexpr qint64 kMostArrayBytes = qint64{512} << 20U;

/// Of the files in `directory`; `expression` and `rank` are put in. Peer: GDB's reason why there is no array, or what is
/// wrong with the files; System: they cannot be read.
[[nodiscard]] Result<values::ArrayValues> readArrayAnswer(const QString& directory,
                                                          const QString& expression, int rank);

}  // namespace pf::session
