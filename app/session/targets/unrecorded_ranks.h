// SPDX-License-Identifier: GPL-3.0-or-later
// What can be opened that no agent of ours has started: core files, and jobs that run on this host.
// Read on a worker thread; DebugSession::openCores() and attachTo() take the ranks.
#pragma once

#include "app/session/targets/unrecorded_target.h"

namespace pf::session {

struct UnrecordedRanks {
  QString title;  ///< "job 4711", "process 4712", "core files"
  QString about;  ///< command of the launcher; empty for core files
  QList<UnrecordedRank> ranks;
  QString note;  ///< what the user should know
};

/// What the files say of themselves; files that name no rank, or one that is taken, get free
/// numbers. `program`: for those that do not name theirs, or another build. Usage, NotFound: of the
/// first file that cannot be opened.
[[nodiscard]] Result<UnrecordedRanks> ranksOfCores(const QStringList& files,
                                                   const QString& program);

/// The job of a launcher or rank (app/unrecorded_jobs/running_job.h).
[[nodiscard]] Result<UnrecordedRanks> ranksOfJob(qint64 pid);

}  // namespace pf::session
