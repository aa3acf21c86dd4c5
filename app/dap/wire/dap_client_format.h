// SPDX-License-Identifier: GPL-3.0-or-later
// How a client counts lines and columns and writes paths, as its 'initialize' says. Ours: from 1,
// and plain paths. Pure.
#pragma once

#include <cstdint>
#include <string>

#include <QString>

#include "app/dap/wire/dap_messages.h"

namespace pf::headless {

class ClientFormat {
 public:
  /// What a client has that says nothing.
  ClientFormat() = default;
  /// Of the arguments of 'initialize'.
  explicit ClientFormat(const Json& arguments);

  [[nodiscard]] std::string toClient(const QString& path) const;
  [[nodiscard]] QString fromClient(const std::string& path) const;
  /// The path in the 'source' of a request's arguments; empty: there is none.
  [[nodiscard]] QString sourcePath(const Json& arguments) const;
  /// A 'Source'.
  [[nodiscard]] Json source(const QString& path) const;
  [[nodiscard]] int lineToClient(int line) const { return line - (m_linesFrom1 ? 0 : 1); }
  /// 0: no line.
  [[nodiscard]] int lineFromClient(std::int64_t line) const;
  [[nodiscard]] int firstColumn() const { return m_columnsFrom1 ? 1 : 0; }

 private:
  bool m_linesFrom1 = true;
  bool m_columnsFrom1 = true;
  bool m_pathsAreUris = false;
};

}  // namespace pf::headless
