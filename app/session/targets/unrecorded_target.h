// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that were not started by us: core files, and jobs that run. Their GDBs are children of this process; there is no
// daemon, no agent and no recording. Ranks without a GDB go on; those that end are noticed within a second.
#pragma once

#include <sys/types.h>

#include <map>

#include <QElapsedTimer>
#include <QList>

#include "app/session/targets/target.h"

namespace pf::session {

class LocalGdb;

/// A rank that no agent of ours has started.
struct UnrecordedRank {
  int rank = 0;
  pid_t pid = 0;
  QString program;  ///< may be empty
  QString core;     ///< path; empty: it runs
  QString end;      ///< of a core file: "SIGSEGV"
};

/// Says GdbState::Attached once there is a GDB, which knows of no process yet.
class UnrecordedTarget final : public Target {
 public:
  explicit UnrecordedTarget(const QList<UnrecordedRank>& ranks);
  ~UnrecordedTarget() override;
  Q_DISABLE_COPY_MOVE(UnrecordedTarget)

  void start() override;
  void send(const protocol::Message& message) override;
  void attach(mi::Fleet& fleet, int rank, pid_t pid, mi::Done done) override;
  void tick() override;
  /// GDBs that are asked to end let go of their processes, which go on.
  void close() override;

 private:
  void startGdb(int rank);
  void endGdb(int rank);
  void signal(const protocol::GdbSignal& order);
  void askStacks(const protocol::AskStack& question);
  void gdbState(int rank, protocol::GdbCondition state, const QString& text = {});

  std::map<int, UnrecordedRank> m_ranks;
  std::map<int, LocalGdb*> m_gdbs;  ///< children of this object
  QElapsedTimer m_looked;           ///< for ranks that have ended
};

}  // namespace pf::session
