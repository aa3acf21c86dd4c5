// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/debuggers.h"

#include <memory>
#include <string>
#include <vector>

#include <QDir>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QTimer>

#include "mi_bridge/transcript.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

constexpr int kAttachWithinMs = 20000;

// QT_LOGGING_RULES="photofinish.mi=true" shows all MI text.
Q_LOGGING_CATEGORY(miLog, "photofinish.mi", QtWarningMsg)

/// MI text to one GDB, through what is debugged.
class TargetTransport final : public mi::Transport {
 public:
  TargetTransport(int rank, Target* target) : m_rank(rank), m_target(target) {}
  void send(std::string_view bytes) override {
    qCDebug(miLog).noquote()
        << m_rank << "->"
        << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).trimmed();
    for (std::size_t i = 0; m_target != nullptr && i < bytes.size(); i += protocol::kMaxChunk) {
      m_target->send(protocol::MiToGdb{m_rank, std::string(bytes.substr(i, protocol::kMaxChunk))});
    }
  }

 private:
  int m_rank;
  QPointer<Target> m_target;
};

}  // namespace

void Debuggers::order(const protocol::Message& message) {
  if (m_target != nullptr) {
    m_target->send(message);
  }
}

void Debuggers::feed(const protocol::MiFromGdb& text) {
  qCDebug(miLog).noquote() << text.rank << "<-" << QByteArray::fromStdString(text.bytes).trimmed();
  m_state.fleet.feed(text.rank, text.bytes);
}

void Debuggers::join(const QSet<int>& ranks) {
  const qsizetype before = m_focus.size();
  for (const int rank : ranks) {
    if (m_state.runs(rank)) {
      m_focus.insert(rank);
    }
  }
  if (m_focus.size() != before) {
    Q_EMIT focusChanged(focus());
  }
}

void Debuggers::partChanged(std::size_t most) {
  m_focus.removeIf([this](int rank) { return !m_state.runs(rank); });
  if (m_state.part.size() <= most) {
    m_focus.unite({m_state.part.begin(), m_state.part.end()});
  } else if (m_focus.isEmpty()) {
    m_focus.insert(m_state.current);
  }
  Q_EMIT focusChanged(focus());
}

void Debuggers::attachAll() {
  protocol::AttachGdb attach;
  for (const int rank : std::as_const(m_focus)) {
    if (m_state.now.count(rank) != 0) {
      attach.ranks.push_back(rank);
      m_attaching.insert(rank);
    }
  }
  if (attach.ranks.empty()) {
    Q_EMIT attached();
    return;
  }
  Q_EMIT progress(tr("Attaching the debugger to %1 …")
                      .arg(values::counted(attach.ranks.size(), tr("rank"), tr("ranks"))));
  order(attach);
  QTimer::singleShot(kAttachWithinMs, m_target, [this, target = m_target] {
    if (target == m_target && !m_attaching.isEmpty()) {
      Q_EMIT message(tr("A debugger did not attach in time; going on without it."), true);
      m_attaching.clear();
      Q_EMIT attached();
    }
  });
}

void Debuggers::reattach(int rank, pid_t pid) {
  if (m_state.fleet.session(rank) == nullptr) {
    attachAll();
    return;
  }
  m_attaching.insert(rank);
  m_state.fleet.reattach(rank, pid, [this, rank](const Status& status) {
    onAttached(rank, status);
    Q_EMIT ranksChanged();
  });
}

/// It has its GDB, or will not have one in this cycle.
void Debuggers::noLongerAttaching(int rank) {
  if (m_attaching.remove(rank) && m_attaching.isEmpty()) {
    Q_EMIT attached();
  }
}

void Debuggers::onState(const protocol::GdbState& state) {
  const int rank = state.rank;
  switch (state.state) {
    case protocol::GdbCondition::Attached:
      keepTranscript(
          rank, m_state.fleet.add(rank, std::make_unique<TargetTransport>(rank, m_target.data())));
      m_target->attach(m_state.fleet, rank, state.pid,
                       [this, rank](const Status& status) { onAttached(rank, status); });
      break;
    case protocol::GdbCondition::Failed:
      m_state.now[rank].failedToAttach = true;
      Q_EMIT message(
          tr("Rank %1 has no debugger: %2").arg(rank).arg(QString::fromStdString(state.text)),
          true);
      noLongerAttaching(rank);
      break;
    case protocol::GdbCondition::Died:
    case protocol::GdbCondition::Detached:
      onDetached(state);
      noLongerAttaching(rank);
      break;
  }
  Q_EMIT ranksChanged();
}

void Debuggers::onAttached(int rank, const Status& status) {
  RankNow& now = m_state.now[rank];
  now.attached = status.ok();
  now.failedToAttach = !status.ok();
  if (!status) {
    Q_EMIT message(tr("Rank %1: %2").arg(rank).arg(QString::fromStdString(status.error().text())),
                   true);
  }
  if (m_state.source != Source::Recording) {
    unrecordedAttached(rank, status.ok());
    return;
  }
  if (status && !m_attaching.contains(rank) && rank == m_state.current) {
    m_state.fleet.focus(rank);  // ticked while it was looked at, where it stands
    m_inspector.stopped();
  }
  noLongerAttaching(rank);
}

void Debuggers::unrecordedAttached(int rank, bool ok) {
  RankNow& now = m_state.now[rank];
  if (!ok) {
    endLater(rank);
  } else {
    if (m_state.source == Source::Cores) {
      const QString& end = m_state.trace->ends[static_cast<std::size_t>(rank)].text;
      now.why = end.isEmpty() ? tr("core file") : tr("core file, %1").arg(end);
    }
    if (rank == m_state.current) {
      m_state.fleet.focus(rank);
      m_inspector.stopped();
    } else if (m_state.source == Source::Job) {
      m_inspector.selectRank(rank);
    }
    if (m_state.source == Source::Job) {
      Q_EMIT message(tr("Rank %1 is stopped under a debugger.").arg(rank), false);
    }
  }
  Q_EMIT ranksChanged();
  Q_EMIT settled();
}

void Debuggers::onDetached(const protocol::GdbState& state) {
  if (m_state.source != Source::Recording && state.state == protocol::GdbCondition::Detached) {
    forget(state.rank);
    return;
  }
  RankNow& now = m_state.now[state.rank];
  const bool wasAttached = std::exchange(now.attached, false);
  const QString why = QString::fromStdString(m_state.fleet.closed(state.rank, state.text));
  if (m_state.source != Source::Recording) {  // Detached follows
    now.failedToAttach = !wasAttached;
    Q_EMIT message(tr("The debugger of rank %1 is gone (%2). Tick the rank again for another one.")
                       .arg(state.rank)
                       .arg(why),
                   true);
  } else if (state.state == protocol::GdbCondition::Died && !now.exited) {
    Q_EMIT message(tr("The debugger of rank %1 is gone (%2). The rank goes on without it; "
                      "restart the cycle to get it back.")
                       .arg(state.rank)
                       .arg(why),
                   true);
  }
}

void Debuggers::removeAll() {
  for (const mi::Rank rank : m_state.fleet.ranks()) {
    m_state.fleet.remove(rank);
  }
  m_attaching.clear();
}

void Debuggers::forgetAll() {
  for (const mi::Rank rank : m_state.fleet.ranks()) {
    forget(rank);
  }
}

void Debuggers::forget(int rank) {
  m_state.fleet.remove(rank);
  m_focus.remove(rank);
  RankNow& now = m_state.now[rank];
  now.attached = false;
  now.why.clear();
  now.where.clear();
  if (rank == m_state.current) {
    m_inspector.forget();
  }
  Q_EMIT focusChanged(focus());
  Q_EMIT ranksChanged();
}

void Debuggers::setFocus(const QList<int>& ranks) {
  const QSet<int> wanted(ranks.begin(), ranks.end());
  if (m_state.source == Source::Recording) {
    setReplayFocus(running(wanted));
  } else {
    setUnrecordedFocus(wanted);
  }
}

/// Those that cycles run. The others are named, and not kept.
QSet<int> Debuggers::running(const QSet<int>& wanted) {
  QSet<int> running;
  for (const int rank : wanted) {
    if (m_state.runs(rank)) {
      running.insert(rank);
    } else if (m_state.knows(rank)) {
      Q_EMIT message(m_state.notInReplay(rank), false);
    }
  }
  if (running != wanted) {
    tellFocusLater();
  }
  return running;
}

void Debuggers::setReplayFocus(const QSet<int>& wanted) {
  protocol::AttachGdb attach;
  for (const int rank : wanted) {
    if (!m_focus.contains(rank) && m_state.phase == Phase::Running && !m_state.now[rank].attached) {
      attach.ranks.push_back(rank);
    }
  }
  std::vector<mi::Rank> leaving;
  for (const int rank : std::as_const(m_focus)) {
    if (!wanted.contains(rank) && m_state.phase == Phase::Running && m_state.now[rank].attached) {
      leaving.push_back(rank);
    }
  }
  m_focus = wanted;
  if (!attach.ranks.empty()) {
    order(attach);
  }
  if (!leaving.empty()) {
    m_state.fleet.detach(leaving, [this](const mi::GroupResult& result) {
      if (result.complete()) {
        protocol::DetachGdb ended;
        ended.ranks = {result.done.begin(), result.done.end()};
        order(ended);
      }
    });
  }
}

void Debuggers::setUnrecordedFocus(const QSet<int>& wanted) {
  std::vector<mi::Rank> leaving;
  for (const int rank : std::as_const(m_focus)) {
    if (!wanted.contains(rank) && m_state.fleet.session(rank) != nullptr) {
      leaving.push_back(rank);
    }
  }
  protocol::AttachGdb attach;
  for (const int rank : wanted) {
    const bool known = m_state.phase != Phase::Running || m_state.now.count(rank) != 0;
    if (!m_state.knows(rank) || !known || m_state.fleet.session(rank) != nullptr) {
      continue;
    }
    if (m_state.phase != Phase::Running) {
      Q_EMIT message(
          tr("Rank %1 has been let go of: open its core file, or attach, again.").arg(rank), false);
    } else if (m_state.now[rank].exited) {
      Q_EMIT message(tr("Rank %1 has ended: there is nothing to stop.").arg(rank), false);
    } else {
      attach.ranks.push_back(rank);
    }
  }
  order(attach);
  m_focus.clear();
  for (const int rank : wanted) {
    if (m_state.fleet.session(rank) != nullptr) {
      m_focus.insert(rank);
    }
  }
  if (m_focus != wanted) {
    tellFocusLater();
  }
  for (const mi::Rank rank : leaving) {
    mi::GdbSession* gdb = m_state.fleet.session(rank);
    if (m_state.source == Source::Cores || gdb == nullptr) {
      order(protocol::DetachGdb{{rank}});
      continue;
    }
    gdb->detach([this, rank](const Status& let) {
      if (let) {
        Q_EMIT message(tr("Rank %1 goes on without a debugger.").arg(rank), false);
      }
      endLater(rank);
    });
  }
}

/// Not from inside of the list's own signal.
void Debuggers::tellFocusLater() {
  QMetaObject::invokeMethod(
      this, [this] { Q_EMIT focusChanged(focus()); }, Qt::QueuedConnection);
}

/// Not from inside of its session's own callback.
void Debuggers::endLater(int rank) {
  QMetaObject::invokeMethod(
      this, [this, rank] { order(protocol::DetachGdb{{rank}}); }, Qt::QueuedConnection);
}

void Debuggers::mapSource(const QString& from, const QString& to) {
  for (const mi::Rank rank : m_state.fleet.ranks()) {
    m_state.fleet.session(rank)->inspect().substitutePath(from.toStdString(), to.toStdString(),
                                                          [](const Status&) {});
  }
}

void Debuggers::keepTranscript(int rank, mi::GdbSession& gdb) {
  if (m_transcripts.isEmpty()) {
    return;
  }
  // Core files and running jobs have a title, no path.
  const QString of = m_state.path.isEmpty()
                         ? QString(m_state.trace->title).replace(QLatin1Char(' '), QLatin1Char('-'))
                         : QFileInfo(m_state.path).completeBaseName();
  const QString name =
      QDir(m_transcripts)
          .filePath(
              QStringLiteral("%1-cycle-%2-rank-%3").arg(of).arg(m_cycles.lastNumber()).arg(rank));
  QString path = name + QStringLiteral(".transcript");
  const auto taken = [&path] { return QFileInfo::exists(path) || QFileInfo(path).isSymLink(); };
  for (int i = 2; taken(); ++i) {
    path = QStringLiteral("%1-%2.transcript").arg(name).arg(i);
  }
  auto file = mi::TranscriptFile::create(path.toStdString(), "rank " + std::to_string(rank));
  if (!file) {
    Q_EMIT message(QString::fromStdString(file.error().text()), true);
    return;
  }
  gdb.setTranscript(
      [file = *file](mi::TranscriptSide side, std::string_view line) { file->write(side, line); });
}

}  // namespace pf::session

#include "moc_debuggers.cpp"
