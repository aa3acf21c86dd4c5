// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/command.h"

namespace pf::mi {

Result<std::string> quote(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      return Error{ErrorCode::Usage,
                   "text for GDB has a control character at position " + std::to_string(i) + ": " +
                       toMiString(text.substr(0, 80)),
                   "remove line breaks, tabs and other control characters from it"};
    }
    if (byte == '"' || byte == '\\') {
      out += '\\';
    }
    out += text[i];
  }
  return out + '"';
}

}  // namespace pf::mi
