// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/trusted_trace.h"

#include "app/traces/own_traces.h"

namespace pf::session {

Result<LoadedTrace> loadToReplay(const QString& path, bool trusted) {
  const std::string file = path.toStdString();
  if (trusted) {
    if (Status taken = app::takeOver(file); !taken && taken.error().code != ErrorCode::System) {
      return taken.error();  // else it is for this process only
    }
  }
  const Status may = app::mayRun(file);
  return may ? loadTrace(path) : Result<LoadedTrace>(may.error());
}

}  // namespace pf::session
