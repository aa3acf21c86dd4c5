// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include <cstdio>

#include "replay_engine/base/caught.h"
#include "replay_engine/base/shown_text.h"

namespace pf::cli {

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
