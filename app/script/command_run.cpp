// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/command_run.h"

#include <utility>

#include <QFileInfo>

namespace pf::headless {
namespace {

constexpr int kGdbsUpTo = 16;  ///< ranks: each GDB takes some 60 MB
constexpr int kLookEveryMs = 40;

}  // namespace

CommandRun::CommandRun(const QString& trace, session::LoadedTrace loaded,
                       const ScriptAnswer::Besides& besides)
    : m_answer([this](const std::optional<QString>& failure) { onEnded(failure); }, besides) {
  m_handlers = std::make_unique<ScriptHandlers>(m_session, m_answer);
  connect(&m_session, &session::DebugSession::message, this,
          [this](const QString& text, bool problem) {
            if (m_phase == Phase::Running) {
              m_handlers->hear(text, problem);
            }
          });
  open(trace, std::move(loaded));
  m_watch.setInterval(kLookEveryMs);
  connect(&m_watch, &QTimer::timeout, this, &CommandRun::look);
}

void CommandRun::open(const QString& trace, session::LoadedTrace loaded) {
  const int ranks = static_cast<int>(loaded.ranks.size());
  m_session.open(QFileInfo(trace).absoluteFilePath(), std::move(loaded));
  m_session.breakpoints().setAside();
  QList<int> focus;
  for (int rank = 0; rank < ranks; ++rank) {
    if (ranks <= kGdbsUpTo || rank == m_session.currentRank()) {
      focus << rank;
    }
  }
  m_session.debuggers().setFocus(focus);
  m_handlers->begin();
}

void CommandRun::carryOut(const Result<std::optional<ScriptCommand>>& command) {
  m_answer.begin();
  m_since.start();
  m_watch.start();
  if (!command) {
    m_answer.fail(QString::fromStdString(command.error().message + ". " + command.error().advice));
  } else if (!command->has_value()) {
    m_answer.done();
  } else {
    m_handlers->carryOut(**command);
  }
}

void CommandRun::look() {
  if (m_phase != Phase::Running) {
    if (!m_session.isReplaying()) {
      m_watch.stop();
      leave();
    }
    return;
  }
  if (!m_answer.isOpen()) {
    return;
  }
  const qint64 commandMs = m_since.elapsed();
  if (!m_handlers->look(commandMs) && commandMs > m_timeoutMs) {
    m_answer.fail(m_handlers->lateText(m_timeoutMs / 1000.0));
  }
}

void CommandRun::onEnded(const std::optional<QString>& failure) {
  m_watch.stop();
  m_handlers->drop();
  Q_EMIT ended(failure);
}

void CommandRun::drop() {
  m_answer.drop();
  m_handlers->drop();
}

void CommandRun::leave() {
  if (m_phase == Phase::Running) {
    m_phase = Phase::Leaving;
  }
  drop();
  if (m_session.isReplaying()) {
    m_watch.start();
    m_session.endReplay();
  } else if (std::exchange(m_phase, Phase::Left) != Phase::Left) {
    Q_EMIT left();
  }
}

}  // namespace pf::headless

#include "moc_command_run.cpp"
