// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/doctor/gdb_check.h"

#include <array>
#include <string_view>

#include "app/job/debugger_program.h"
#include "app/job/launcher.h"
#include "replay_engine/agent/child_output.h"

namespace pf::app {
namespace {

/// Of -list-features (GDB, GDB/MI Support Commands): without them a session does not work.
constexpr std::array<std::string_view, 4> kNeeded{
    "thread-info", "pending-breakpoints", "data-read-memory-bytes", "breakpoint-notifications"};
constexpr std::string_view kPythonSays = "photofinish asks: 42";
/// GDB 13 says so where the processor has larger registers (AMX) than it knows, of each write to those of vectors, and so of each
/// function of the program that it is to call.
constexpr std::string_view kCannotWrite = "Couldn't write extended state";

/// "GNU gdb (Debian 13.1-3) 13.1" of ~"GNU gdb (Debian 13.1-3) 13.1\n".
std::string versionIn(const std::string& answers) {
  const std::size_t at = answers.find("~\"GNU gdb");
  if (at == answers.npos) {
    return {};
  }
  const std::size_t begin = at + 2;
  return answers.substr(begin, answers.find_first_of("\\\"\n", begin) - begin);
}

}  // namespace

std::string gdbQuestions() {
  return "-list-features\n-gdb-version\n-gdb-set confirm off\n-gdb-set startup-with-shell off\n"
         "-file-exec-and-symbols /bin/true\n-interpreter-exec console starti\n"
         "-interpreter-exec console \"set var $xmm0.v4_int32[0] = 1\"\n"
         "-interpreter-exec console kill\n-gdb-set mi-async on\n"
         "-interpreter-exec console \"python print('photofinish asks: ' + str(6 * "
         "7))\"\n-gdb-exit\n";
}

Check gdbCheck(const std::string& path, const std::string& answers) {
  Check check{.name = "gdb",
              .state = CheckState::Missing,
              .needed = true,
              .found = "",
              .remedy = "Install gdb, or name one: --gdb PATH, PHOTOFINISH_GDB=PATH.",
              .path = path,
              .version = versionIn(answers)};
  if (path.empty()) {
    check.found =
        "there is no gdb on the search path: recording and replaying work, debugging does not";
    return check;
  }
  std::string lacking;
  for (const std::string_view feature : kNeeded) {
    if (answers.find("\"" + std::string(feature) + "\"") == answers.npos) {
      lacking += (lacking.empty() ? "" : ", ") + std::string(feature);
    }
  }
  if (answers.find("^done,features=") == answers.npos) {
    check.found = "does not speak GDB/MI 3";
    return check;
  }
  if (!lacking.empty()) {
    check.found = "lacks features of GDB/MI: " + lacking;
    check.remedy = "Use GDB 13 or later: --gdb PATH, PHOTOFINISH_GDB=PATH.";
    return check;
  }
  check.state = CheckState::Works;
  check.found = "speaks GDB/MI, with Python";
  check.remedy.clear();
  if (answers.find("~\"" + std::string(kPythonSays)) == answers.npos) {
    check.state = CheckState::Limited;
    check.found =
        "speaks GDB/MI, without Python: arrays and containers are shown without their values";
    check.remedy = "Use a GDB that was built with Python.";
  } else if (answers.find(kCannotWrite) != answers.npos) {
    check.state = CheckState::Limited;
    check.found =
        "speaks GDB/MI, with Python; does not know all registers of this processor: functions of "
        "the program cannot be called in expressions, nor its registers of vectors be set";
    check.remedy = "Use a later GDB (16 can): --gdb PATH, PHOTOFINISH_GDB=PATH.";
  }
  return check;
}

Check askGdb() {
  const std::string path = findInPath(gdbProgram());
  return gdbCheck(
      path, path.empty()
                ? std::string()
                : agent::outputOfProgram({path, "-nx", "-q", "--interpreter=mi3"}, gdbQuestions()));
}

}  // namespace pf::app
