// SPDX-License-Identifier: GPL-3.0-or-later
// What is debugged, as a session sees it: a replay, a running job, core files; in tests, a script. It takes orders and
// says what happens in the messages of the control daemon (replay_engine/protocol/messages.h), also where there is no
// daemon. Never blocks; lives as long as its cycle.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>

#include "db/store/trace_store.h"
#include "mi_bridge/fleet.h"
#include "replay_engine/protocol/messages.h"

class QThreadPool;

namespace pf::session {

class Target : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  /// started() or failed() follows, not from inside of this call.
  virtual void start() = 0;
  virtual void send(const protocol::Message& message) = 0;
  /// Brings the GDB that GdbState::Attached told of, and that the fleet has by now, to its rank. `pid`: as told.
  virtual void attach(mi::Fleet& fleet, int rank, pid_t pid, mi::Done done) {
    fleet.startAndAttach(rank, pid, std::move(done));
  }
  /// Ten times a second.
  virtual void tick() {}
  /// Ends it; closed() follows, not from inside of this call. Nothing else is said any more.
  virtual void close() = 0;
  /// What a divergence may come from besides, as a clause with its comma; empty: nothing is known.
  [[nodiscard]] virtual QString advice() const { return {}; }

 Q_SIGNALS:
  void started();
  void failed(const QString& text);
  void said(const pf::protocol::Message& message);
  /// A line about daemon, launcher or a debugger.
  void noticed(const QString& text, bool problem);
  /// The cycle's inputs are others than recorded: lines, and what a verdict says of them.
  void inputsChanged(const QStringList& lines, const QString& atEnd);
  /// The daemon is gone.
  void lost();
  /// The launcher has ended by itself. `words`: what it printed.
  void ended(int exitStatus, const QString& words);
  void closed();
};

/// Of a cycle.
struct ReplayRequest {
  db::TraceStore* store = nullptr;  ///< while the target is made
  bool allowRebuilt = false;        ///< a program that was changed since is not refused
  std::vector<Rank> ranks = {};     ///< that run, a union of groups; empty: all
  QThreadPool* ending = nullptr;    ///< where its job ends; outlives the target
};

/// Makes what a cycle debugs.
using ReplayFactory = std::function<Result<std::unique_ptr<Target>>(const ReplayRequest&)>;

}  // namespace pf::session
