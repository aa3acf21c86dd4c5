// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "replay_engine/base/caught.h"
#include "replay_engine/base/shown_text.h"

namespace pf::cli {
namespace {

/// What begins this style on a terminal (ECMA-48, SGR).
const char* beginOf(app::TextStyle style) {
  switch (style) {
    case app::TextStyle::Bold:
      return "\x1b[1m";
    case app::TextStyle::Dim:
      return "\x1b[2m";
    case app::TextStyle::Alarm:
      return "\x1b[1;31m";
    case app::TextStyle::Plain:
      break;
  }
  return "";
}

}  // namespace

int fail(const Error& error) {
  tell(error.text());
  return exitStatus(error.code);
}

int ended(const Status& status) {
  return status ? 0 : fail(status.error());
}

void show(std::string_view text) {
  put(shown(text));
}

bool takesColours(bool terminal, const char* term, const char* noColour) {
  const bool forbidden = noColour != nullptr && *noColour != '\0';
  return terminal && !forbidden && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

void showStyled(std::string_view text, app::TextStyle style) {
  static const bool coloured =
      takesColours(isatty(STDOUT_FILENO) == 1, std::getenv("TERM"), std::getenv("NO_COLOR"));
  const char* const begin = beginOf(style);
  if (!coloured || *begin == '\0') {
    show(text);
    return;
  }
  const bool line = text.ends_with('\n');
  put(begin);
  show(text.substr(0, text.size() - (line ? 1 : 0)));
  put(line ? "\x1b[0m\n" : "\x1b[0m");
}

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int print(const Result<std::string>& text, bool json) {
  if (!text) {
    return fail(text.error());
  }
  (json ? put : show)(*text);
  return 0;
}

}  // namespace pf::cli
