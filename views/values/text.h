// SPDX-License-Identifier: GPL-3.0-or-later
// Text from outside (traces, programs, GDB) made safe and short for a label. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <QString>

#include "views/values/namespaces.h"

namespace pf::values {

using Qt::Literals::StringLiterals::operator""_s;

/// UTF-8 from the engine.
[[nodiscard]] QString fromUtf8(const std::string& text);

/// Control characters, ESC and direction overrides written as \xNN or \u{NNNN}; tab and newline
/// kept.
[[nodiscard]] QString visibleText(const QString& text);

/// visibleText() on one line: newlines and tabs become escapes too.
[[nodiscard]] QString oneLine(const QString& text);

/// Escaped and wrapped so that QToolTip shows `text` literally, line by line.
[[nodiscard]] QString plainToolTip(const QString& text);

/// "48 B", "1.5 KiB", "12 MiB".
[[nodiscard]] QString byteText(std::uint64_t bytes);

/// "1 message", "3 messages".
[[nodiscard]] QString counted(std::size_t n, const QString& one, const QString& many);

/// Last component of a path.
[[nodiscard]] QString baseName(const QString& path);
/// Whether `given`, as a user types it ("rows.f90", "src/rows.f90"), can be the source at `path`.
[[nodiscard]] bool namesSource(const QString& given, const QString& path);

/// A count as the int that Qt's models want (clamped).
[[nodiscard]] int toInt(std::size_t n);
[[nodiscard]] int toInt(qsizetype n);

/// A vector index from an int known not to be negative.
[[nodiscard]] constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace pf::values
