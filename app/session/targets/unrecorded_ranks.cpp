// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/targets/unrecorded_ranks.h"

#include <csignal>
#include <cstring>

#include <QDateTime>
#include <QFileInfo>
#include <QMap>

#include "app/unrecorded_jobs/core_file.h"
#include "app/unrecorded_jobs/running_job.h"

namespace pf::session {
namespace {

/// One core file; `note` is added to if there is something to say of it.
Result<UnrecordedRank> rankOfCore(const QString& file, const QString& program,
                                  std::optional<Rank>& known, QString& note) {
  const Result<app::CoreFile> core = app::readCoreFile(file.toStdString());
  if (!core) {
    return core.error();
  }
  UnrecordedRank rank;
  rank.core = QString::fromStdString(core->path);
  rank.pid = core->pid;
  rank.program = program.isEmpty() ? QString::fromStdString(core->program) : program;
  const char* name = core->signal > 0 ? ::sigabbrev_np(core->signal) : nullptr;
  rank.end = name != nullptr ? QStringLiteral("SIG%1").arg(QString::fromLatin1(name)) : QString();
  const QFileInfo built(rank.program);
  if (core->cut) {
    note = QObject::tr("%1 is cut short: some values cannot be read.").arg(file);
  } else if (!built.exists()) {
    note = QObject::tr("The program %1 is not there: without it there are no names and lines.")
               .arg(rank.program);
    rank.program.clear();
  } else if (built.lastModified() > QFileInfo(file).lastModified()) {
    note = QObject::tr("%1 was built after %2 was written: names and lines may be wrong.")
               .arg(rank.program, QFileInfo(file).fileName());
  }
  known = core->rank;
  return rank;
}

}  // namespace

Result<UnrecordedRanks> ranksOfCores(const QStringList& files, const QString& program) {
  UnrecordedRanks out;
  out.title = files.size() == 1 ? QObject::tr("1 core file")
                                : QObject::tr("%1 core files").arg(files.size());
  QMap<int, UnrecordedRank> byRank;
  QList<UnrecordedRank> others;
  for (const QString& file : files) {
    std::optional<Rank> known;
    Result<UnrecordedRank> rank = rankOfCore(file, program, known, out.note);
    if (!rank) {
      return rank.error();
    }
    if (known && !byRank.contains(*known)) {
      rank->rank = *known;
      byRank[rank->rank] = *rank;
    } else {
      others.append(*rank);
    }
  }
  if (!others.isEmpty() && out.note.isEmpty()) {
    out.note =
        others.size() == 1
            ? QObject::tr("A core file does not say which rank it is of: it has a free number.")
            : QObject::tr(
                  "%1 core files do not say which rank they are of: they have free numbers.")
                  .arg(others.size());
  }
  for (UnrecordedRank& rank : others) {
    while (byRank.contains(rank.rank)) {
      ++rank.rank;
    }
    byRank[rank.rank] = rank;
  }
  out.ranks = byRank.values();
  return out;
}

Result<UnrecordedRanks> ranksOfJob(qint64 pid) {
  const Result<app::RunningJob> job = app::runningJob(static_cast<pid_t>(pid));
  if (!job) {
    return job.error();
  }
  UnrecordedRanks out;
  out.title = job->launcher != 0 ? QObject::tr("job %1").arg(job->launcher)
                                 : QObject::tr("process %1").arg(job->ranks.front().pid);
  out.about = QString::fromStdString(job->command);
  for (const app::RunningRank& rank : job->ranks) {
    out.ranks.append({rank.rank, rank.pid, QString::fromStdString(rank.program), {}, {}});
  }
  return out;
}

}  // namespace pf::session
