// SPDX-License-Identifier: GPL-3.0-or-later
// What has the name of a trace that is to be made, and the logs beside it. Private to app/traces.
#pragma once

#include <string>

#include "app/collation/collate.h"
#include "replay_engine/base/result.h"

namespace pf::app {

/// Usage unless nothing has the name `path`, or a trace: nothing else is overwritten.
Status mayBecomeTrace(const std::string& path);

/// How logs of a recording stand to the file that has the name of its trace.
enum class LogsAndTrace {
  Alone,  ///< there is no such file
  Made,   ///< it was made of these logs
  Later,  ///< the logs are of a later recording, or what the file is of cannot be read
  Earlier,
};
LogsAndTrace compareWithTrace(const RunFacts& logs, const std::string& trace);

/// Says where the file is that had the name of `trace`; `kept` empty: nowhere.
void sayKept(const std::string& trace, const std::string& kept);

}  // namespace pf::app
