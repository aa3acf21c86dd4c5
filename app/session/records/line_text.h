// SPDX-License-Identifier: GPL-3.0-or-later
// A breakpoint's source line, found again after the program was changed and rebuilt.
#pragma once

#include <QString>
#include <QStringList>

namespace pf::session {

/// The lines of a source file; none if it cannot be read.
[[nodiscard]] QStringList linesOf(const QString& file);

/// The line (from 1) nearest to `line` that has `text`, blanks at its ends aside; 0 if none has, or `text` is blank.
[[nodiscard]] int findLine(const QStringList& lines, int line, const QString& text);

/// Whether the file was changed after `program` was built.
[[nodiscard]] bool isNewer(const QString& file, const QString& program);

/// What to say above a source file; empty if nothing. `program` as it was launched in `directory`.
[[nodiscard]] QString sourceNotice(const QString& file, const QString& program,
                                   const QString& directory);

}  // namespace pf::session
