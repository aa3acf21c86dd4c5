// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/targets/unrecorded_target.h"

#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <QFutureWatcher>

#include "app/session/state/in_background.h"
#include "app/session/targets/local_gdb.h"
#include "app/unrecorded_jobs/running_job.h"
#include "replay_engine/agent/rank_stack.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::session {
namespace {

constexpr int kLookEveryMs = 1000;

struct Asked {
  int rank;
  pid_t pid;
  bool debugger;
};

protocol::RankStack stackOf(const Asked& asked, std::uint64_t question, const RankPage& nowhere) {
  protocol::RankStack stack;
  stack.rank = asked.rank;
  stack.question = question;
  if (auto frames = agent::stackOf(asked.pid, nowhere, asked.debugger)) {
    stack.frames = std::move(*frames);
  } else {
    const std::string why = asked.debugger ? std::string() : app::whyNotTraceable(asked.pid);
    stack.text = why.empty() ? frames.error().message : why;
  }
  return stack;
}

}  // namespace

UnrecordedTarget::UnrecordedTarget(const QList<UnrecordedRank>& ranks) {
  for (const UnrecordedRank& rank : ranks) {
    m_ranks[rank.rank] = rank;
  }
}

UnrecordedTarget::~UnrecordedTarget() = default;

void UnrecordedTarget::start() {
  m_looked.start();
  QMetaObject::invokeMethod(
      this, [this] { Q_EMIT started(); }, Qt::QueuedConnection);
}

void UnrecordedTarget::send(const protocol::Message& message) {
  std::visit(
      protocol::Overloaded{[this](const protocol::AttachGdb& order) {
                             for (const std::int32_t rank : order.ranks) {
                               startGdb(rank);
                             }
                           },
                           [this](const protocol::DetachGdb& order) {
                             for (const std::int32_t rank : order.ranks) {
                               endGdb(rank);
                             }
                           },
                           [this](const protocol::MiToGdb& text) {
                             if (const auto gdb = m_gdbs.find(text.rank); gdb != m_gdbs.end()) {
                               gdb->second->send(text.bytes);
                             }
                           },
                           [this](const protocol::GdbSignal& order) { signal(order); },
                           [this](const protocol::AskStack& question) { askStacks(question); },
                           [](const auto&) {}},
      message);
}

void UnrecordedTarget::gdbState(int rank, protocol::GdbCondition state, const QString& text) {
  protocol::GdbState said;
  said.rank = rank;
  said.state = state;
  said.pid = m_ranks[rank].pid;
  said.text = text.toStdString();
  Q_EMIT this->said(said);
}

void UnrecordedTarget::startGdb(int rank) {
  const auto outside = m_ranks.find(rank);
  if (outside == m_ranks.end() || m_gdbs.count(rank) != 0) {
    return;
  }
  if (outside->second.core.isEmpty()) {
    if (const std::string why = app::whyNotTraceable(outside->second.pid); !why.empty()) {
      gdbState(rank, protocol::GdbCondition::Failed,
               tr("process %1 cannot be debugged: %2")
                   .arg(outside->second.pid)
                   .arg(QString::fromStdString(why)));
      return;
    }
  }
  auto* gdb = new LocalGdb(this);
  m_gdbs[rank] = gdb;
  connect(gdb, &LocalGdb::said, this, [this, rank](const QByteArray& bytes) {
    Q_EMIT said(protocol::MiFromGdb{rank, bytes.toStdString()});
  });
  connect(gdb, &LocalGdb::ended, this, [this, rank](const QString& how) {
    gdbState(rank, protocol::GdbCondition::Died, how);
    QMetaObject::invokeMethod(
        this, [this, rank] { endGdb(rank); }, Qt::QueuedConnection);
  });
  gdb->start();
  gdbState(rank, protocol::GdbCondition::Attached);
}

void UnrecordedTarget::endGdb(int rank) {
  if (const auto gdb = m_gdbs.find(rank); gdb != m_gdbs.end()) {
    gdb->second->disconnect(this);
    gdb->second->deleteLater();
    m_gdbs.erase(gdb);
    gdbState(rank, protocol::GdbCondition::Detached);
  }
}

void UnrecordedTarget::attach(mi::Fleet& fleet, int rank, pid_t pid, mi::Done done) {
  if (m_ranks[rank].core.isEmpty()) {
    fleet.startAndAttach(rank, pid, std::move(done));
    return;
  }
  fleet.session(rank)->start([this, &fleet, rank, done](const Status& started) {
    mi::GdbSession* here = fleet.session(rank);
    if (!started || here == nullptr) {
      done(started);
      return;
    }
    const UnrecordedRank& wanted = m_ranks[rank];
    here->openCore(wanted.program.toStdString(), wanted.core.toStdString(), done);
  });
}

void UnrecordedTarget::signal(const protocol::GdbSignal& order) {
  const auto gdb = m_gdbs.find(order.rank);
  if (gdb == m_gdbs.end() || order.target != protocol::SignalTarget::Gdb) {
    return;  // a signal that GDB does not take would end somebody's job
  }
  order.signal == SIGINT ? gdb->second->interrupt() : gdb->second->terminate();
}

/// Ranks without a GDB end without telling anybody.
void UnrecordedTarget::tick() {
  if (m_looked.elapsed() < kLookEveryMs) {
    return;
  }
  m_looked.start();
  for (auto& [rank, outside] : m_ranks) {
    if (outside.core.isEmpty() && outside.pid > 0 && m_gdbs.count(rank) == 0 &&
        ::kill(outside.pid, 0) != 0 && errno == ESRCH) {
      outside.pid = 0;
      protocol::RankExited exited;
      exited.rank = rank;
      exited.text = tr("has ended").toStdString();
      Q_EMIT said(exited);
    }
  }
}

void UnrecordedTarget::askStacks(const protocol::AskStack& question) {
  std::vector<Asked> asked;
  for (const std::int32_t rank : question.ranks) {
    asked.push_back({rank, m_ranks[rank].pid, m_gdbs.count(rank) != 0});
  }
  auto* watcher = new QFutureWatcher<std::vector<protocol::RankStack>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    for (const protocol::RankStack& stack : watcher->result()) {
      Q_EMIT said(stack);
    }
  });
  watcher->setFuture(inBackground([asked, number = question.question] {
    const auto nowhere = std::make_unique<RankPage>();  // these ranks have no interposer
    std::vector<protocol::RankStack> stacks;
    stacks.reserve(asked.size());
    for (const Asked& each : asked) {
      stacks.push_back(stackOf(each, number, *nowhere));
    }
    return stacks;
  }));
}

void UnrecordedTarget::close() {
  for (const auto& [rank, gdb] : std::exchange(m_gdbs, {})) {
    gdb->disconnect(this);
    gdb->deleteLater();
  }
  QMetaObject::invokeMethod(
      this, [this] { Q_EMIT closed(); }, Qt::QueuedConnection);
}

}  // namespace pf::session
