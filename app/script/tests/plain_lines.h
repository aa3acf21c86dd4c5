// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of an answer as a test compares and prints them.
#pragma once

#include <string>
#include <vector>

#include <QStringList>

namespace pf::headless {

using PlainLines = std::vector<std::string>;

inline PlainLines plain(const QStringList& lines) {
  PlainLines plain;
  for (const QString& line : lines) {
    plain.push_back(line.toStdString());
  }
  return plain;
}

inline std::string plain(const QString& text) {
  return text.toStdString();
}

}  // namespace pf::headless
