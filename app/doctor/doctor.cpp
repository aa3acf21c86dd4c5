// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/doctor/doctor.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "app/doctor/gdb_check.h"
#include "app/doctor/mpi_checks.h"
#include "app/doctor/system_checks.h"
#include "app/version.h"

namespace pf::app {
namespace {

const char* wordOf(CheckState state) {
  return state == CheckState::Works     ? "works"
         : state == CheckState::Limited ? "limited"
                                        : "missing";
}

std::string lineOf(const Check& check) {
  const bool bad = check.needed && check.state == CheckState::Missing;
  std::string line = std::string(bad                                  ? "MISSING "
                                 : check.state == CheckState::Works   ? "works   "
                                 : check.state == CheckState::Limited ? "limited "
                                                                      : "none    ") +
                     check.name;
  line.resize(std::max<std::size_t>(line.size(), 26), ' ');
  line += " " + check.found;
  if (!check.version.empty() || !check.path.empty()) {
    line += "\n" + std::string(27, ' ') + check.version +
            (check.version.empty() || check.path.empty() ? "" : ", ") + check.path;
  }
  if (!check.remedy.empty()) {
    line += "\n" + std::string(27, ' ') + "→ " + check.remedy;
  }
  return line + "\n";
}

std::string asJson(const Checks& checks) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    all.push_back({{"name", check.name},
                   {"state", wordOf(check.state)},
                   {"needed", check.needed},
                   {"found", check.found},
                   {"remedy", check.remedy},
                   {"path", check.path},
                   {"version", check.version}});
  }
  const nlohmann::ordered_json document{
      {"photofinish", kVersion}, {"works", isFit(checks)}, {"checks", std::move(all)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Checks examine(const std::string& programs) {
  Checks checks = mpiChecks(programs);
  checks.push_back(askGdb());
  for (Check& check : systemChecks(programs)) {
    checks.push_back(std::move(check));
  }
  return checks;
}

bool isFit(const Checks& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.needed && check.state == CheckState::Missing;
  });
}

std::string doctorReport(const Checks& checks, bool json) {
  if (json) {
    return asJson(checks);
  }
  std::string text;
  for (const Check& check : checks) {
    text += lineOf(check);
  }
  return text + (isFit(checks)
                     ? "All that Photofinish needs works here.\n"
                     : "Something that Photofinish needs does not work here: see MISSING above.\n");
}

}  // namespace pf::app
