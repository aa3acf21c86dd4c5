// The directory of a recording's logs. Who looks at a recording sees all of it, locked by the
// recorder, or nothing.
#pragma once

#include <string>

#include "app/collate.h"
#include "base/unique_fd.h"

namespace pf::app {

/// Makes the directory, with `facts` in it, and locks it. Logs that are there already are another
/// recording's: they are kept aside, and refused (Usage) while that one goes on. The lock may be
/// invalid where the file system has none.
Result<UniqueFd> beginLogs(const std::string& path, const RunFacts& facts);

/// Removes it.
void endLogs(const std::string& path);

/// Held for as long as a recorder (or one who makes a trace of its logs) is at work in the
/// directory. Invalid: another one is.
UniqueFd lockLogs(const std::string& path);

/// Another one is at work in it, or so it has to be taken where the file system has no locks.
bool areLogsLocked(const std::string& path);

}  // namespace pf::app
