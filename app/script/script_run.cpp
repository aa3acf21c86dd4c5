// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/script_run.h"

#include <cstdio>

#include <QFileInfo>

#include "replay_engine/base/shown_text.h"

namespace pf::headless {
namespace {

constexpr int kGdbsUpTo = 16;  ///< ranks: each GDB takes some 60 MB
constexpr int kLookEveryMs = 40;
constexpr const char* kPrompt = "(photofinish) ";

}  // namespace

ScriptRun::ScriptRun(const QString& trace, session::LoadedTrace loaded, std::string name,
                     bool interactive)
    : m_lines(std::move(name), interactive),
      m_answer([this](const std::optional<QString>& failure) { ended(failure); }) {
  m_handlers = std::make_unique<ScriptHandlers>(m_session, m_answer);
  addOwnCommands();
  connect(&m_session, &session::DebugSession::message, this,
          [this](const QString& text, bool problem) {
            if (m_phase == Phase::Running) {
              m_handlers->hear(text, problem);
            }
          });
  open(trace, std::move(loaded));
  m_watch.setInterval(kLookEveryMs);
  connect(&m_watch, &QTimer::timeout, this, &ScriptRun::look);
}

void ScriptRun::open(const QString& trace, session::LoadedTrace loaded) {
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

Status ScriptRun::debugOnly(const app::PartOfJob& part) {
  return m_session.debugOnly(part);
}

/// About the script itself.
void ScriptRun::addOwnCommands() {
  m_handlers->add("timeout", [this](const ScriptCommand& command, const QList<int>&) {
    m_answer.keepLast();
    m_timeoutMs = command.number;
    m_answer.done();
  });
  m_handlers->add("quit", [this](const ScriptCommand&, const QList<int>&) {
    print();
    lookWhatWasNeverSet();
    leave();
  });
}

void ScriptRun::start() {
  prompt();
  next();
}

void ScriptRun::addLine(const std::string& line) {
  m_lines.add(line);
  soon();
}

void ScriptRun::noMoreLines() {
  m_lines.noMore();
  soon();
}

void ScriptRun::stop(int signal) {
  std::fprintf(stderr, "photofinish: ended by a signal\n");
  m_status = 128 + signal;
  leave();
}

void ScriptRun::soon() {
  QMetaObject::invokeMethod(this, &ScriptRun::next, Qt::QueuedConnection);
}

void ScriptRun::next() {
  if (m_answer.isOpen() || m_phase != Phase::Running) {
    return;
  }
  if (m_lines.isOver()) {
    lookWhatWasNeverSet();
    leave();
  } else if (const auto line = m_lines.take()) {
    carryOut(*line);
  }
}

/// A breakpoint without a place is one that a wrong name asks for: a script that ends well would say that it was not hit.
void ScriptRun::lookWhatWasNeverSet() {
  if (m_lines.isTyped() || m_status != 0) {
    return;
  }
  for (const QString& text : m_handlers->neverSet()) {
    m_status = 1;
    pf::tell(text.toUtf8().toStdString());
  }
}

void ScriptRun::carryOut(const std::string& line) {
  m_answer.begin();
  m_since.start();
  m_watch.start();
  const Result<std::optional<ScriptCommand>> parsed = parseScriptLine(line);
  if (!parsed) {
    m_answer.fail(QString::fromStdString(parsed.error().message + ". " + parsed.error().advice));
  } else if (!parsed->has_value()) {
    m_answer.done();
  } else {
    m_handlers->carryOut(**parsed);
  }
}

void ScriptRun::look() {
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

QString ScriptRun::failureText(const QString& why) const {
  return QString::fromStdString(m_lines.place()) +
         m_handlers->sayable(why.trimmed()).replace(QLatin1Char('\n'), QLatin1String("\n  "));
}

/// The present command.
void ScriptRun::ended(const std::optional<QString>& failure) {
  const QString text = failure ? failureText(*failure) : QString();
  m_watch.stop();
  m_handlers->drop();
  if (failure && !m_lines.isTyped()) {
    m_status = 1;
    m_lines.end();
  }
  print();
  if (!text.isEmpty()) {
    pf::tell(text.toUtf8().toStdString());
  }
  prompt();
  soon();
}

void ScriptRun::print() {
  for (const QString& line : m_answer.lines()) {
    std::fprintf(stdout, "%s\n", shown(line.toUtf8().toStdString()).c_str());
  }
  if (std::fflush(stdout) != 0 && m_phase == Phase::Running) {  // nobody listens any more
    m_status = 1;
    leave();
  }
}

void ScriptRun::prompt() {
  if (m_lines.isTyped() && m_lines.isEmpty() && m_phase == Phase::Running) {
    std::fputs(kPrompt, stdout);
    std::fflush(stdout);
  }
}

void ScriptRun::leave() {
  if (m_phase == Phase::Running) {
    m_phase = Phase::Leaving;
  }
  m_answer.drop();
  m_handlers->drop();
  if (m_session.isReplaying()) {
    m_watch.start();
    m_session.endReplay();
  } else if (std::exchange(m_phase, Phase::Finished) != Phase::Finished) {
    Q_EMIT finished();
  }
}

}  // namespace pf::headless
