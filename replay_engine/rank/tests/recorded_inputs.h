// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank asks of the system in a test, by the routines that stand in for libc's, and what its
// log says of that.
#pragma once

#include <string>
#include <vector>

#include "replay_engine/log/rank_log.h"
#include "replay_engine/log_format/system_values.h"
#include "replay_engine/rank/inputs/system_values.h"

/// Declares pf_NAME, which a program's NAME would be.
#define PF_PROGRAMS(returns, name, ...) \
  extern "C" returns pf_##name(__VA_ARGS__) __asm__(PF_EXPORTED #name)

namespace pf::test {

/// Payloads of one kind.
const std::vector<unsigned char>& valuesIn(const RankLog& log, ValueKind kind);

/// "File data, Absent other": files that the rank looked at and their names in `directory`, in their
/// order. Others are left out.
std::string inputsIn(const RankLog& log, const std::string& directory);
/// "HOME LANG": variables that it asked for, but for those that all programs do.
std::string variablesIn(const RankLog& log);
/// Whether its replay is not guaranteed for this reason.
bool isNoted(const RankLog& log, NotGuaranteedKind kind);

/// A new directory until the end of the scope.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return m_path + "/" + name; }
  /// A file that is older than any run.
  void write(const std::string& name, const std::string& text = "text") const;

 private:
  std::string m_path;
};

}  // namespace pf::test
