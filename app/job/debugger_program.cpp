// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job/debugger_program.h"

#include <cstdlib>

#include "app/files/paths.h"
#include "app/job/launcher.h"

namespace pf::app {
namespace {

constexpr const char* kVariable = "PHOTOFINISH_GDB";

Result<std::string> executable(const std::string& path) {
  const std::string found = findInPath(path);
  if (found.empty() || !isFile(found)) {
    return Error{ErrorCode::Usage, "'" + path + "' is no program that can be started as GDB",
                 std::string("Give the path of a GDB (--gdb, ") + kVariable +
                     "), or leave it out: the first 'gdb' of the search path is taken."};
  }
  return absolutePath(found);
}

}  // namespace

Status useGdb(const std::string& path) {
  if (path.empty()) {
    unsetenv(kVariable);
    return {};
  }
  const Result<std::string> found = executable(path);
  if (!found) {
    return found.error();
  }
  setenv(kVariable, found->c_str(), 1);
  return {};
}

std::string gdbProgram() {
  const char* const given = std::getenv(kVariable);
  return given != nullptr && *given != '\0' ? given : "gdb";
}

Status namedGdbIsThere() {
  const std::string gdb = gdbProgram();
  return gdb == "gdb" ? Status() : useGdb(gdb);
}

}  // namespace pf::app
