// SPDX-License-Identifier: GPL-3.0-or-later
// The line that a rank writes at a logpoint, as its values come in one after another. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/dap/wire/dap_messages.h"

namespace pf::headless {

class LogpointLine {
 public:
  explicit LogpointLine(std::vector<LogPiece> pieces = {});

  /// The expression whose value is put in next; null: the line is complete.
  [[nodiscard]] const std::string* wanted() const;
  void put(const Result<std::string>& value);
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  /// Up to the next expression.
  void takeText();

  std::vector<LogPiece> m_pieces;
  std::size_t m_next = 0;
  std::string m_text;
};

}  // namespace pf::headless
