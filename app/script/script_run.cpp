// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/script_run.h"

#include <cstdio>

#include "replay_engine/base/shown_text.h"

namespace pf::headless {
namespace {

constexpr const char* kPrompt = "(photofinish) ";

}  // namespace

ScriptRun::ScriptRun(const QString& trace, session::LoadedTrace loaded, std::string name,
                     bool interactive)
    : m_lines(std::move(name), interactive), m_run(trace, std::move(loaded)) {
  addOwnCommands();
  connect(&m_run, &CommandRun::ended, this, &ScriptRun::ended);
  connect(&m_run, &CommandRun::left, this, &ScriptRun::finished);
}

Status ScriptRun::debugOnly(const app::PartOfJob& part) {
  return m_run.debugOnly(part);
}

/// About the script itself.
void ScriptRun::addOwnCommands() {
  m_run.add("timeout", [this](const ScriptCommand& command, const QList<int>&) {
    m_run.answer().keepLast();
    m_run.setTimeout(command.number);
    m_run.answer().done();
  });
  m_run.add("quit", [this](const ScriptCommand&, const QList<int>&) {
    print();
    lookWhatWasNeverSet();
    m_run.leave();
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
  m_run.leave();
}

void ScriptRun::soon() {
  QMetaObject::invokeMethod(this, &ScriptRun::next, Qt::QueuedConnection);
}

void ScriptRun::next() {
  if (m_run.isBusy() || !m_run.isRunning()) {
    return;
  }
  if (m_lines.isOver()) {
    lookWhatWasNeverSet();
    m_run.leave();
  } else if (const auto line = m_lines.take()) {
    m_run.carryOut(parseScriptLine(*line));
  }
}

/// A breakpoint without a place is one that a wrong name asks for: a script that ends well would say that it was not hit.
void ScriptRun::lookWhatWasNeverSet() {
  if (m_lines.isTyped() || (m_status != 0 && !m_keepsGoing)) {
    return;
  }
  for (const QString& text : m_run.handlers().neverSet()) {
    m_status = 1;
    pf::tell(text.toUtf8().toStdString());
  }
}

QString ScriptRun::failureText(const QString& why) const {
  return QString::fromStdString(m_lines.place()) +
         m_run.handlers().sayable(why.trimmed()).replace(QLatin1Char('\n'), QLatin1String("\n  "));
}

/// The present command.
void ScriptRun::ended(const std::optional<QString>& failure) {
  const QString text = failure ? failureText(*failure) : QString();
  if (failure && !m_lines.isTyped()) {
    m_status = 1;
    if (!m_keepsGoing) {
      m_lines.end();
    }
  }
  print();
  if (!text.isEmpty()) {
    pf::tell(text.toUtf8().toStdString());
  }
  prompt();
  soon();
}

void ScriptRun::print() {
  for (const QString& line : m_run.answer().lines()) {
    std::fprintf(stdout, "%s\n", shown(line.toUtf8().toStdString()).c_str());
  }
  if (std::fflush(stdout) != 0 && m_run.isRunning()) {  // nobody listens any more
    m_status = 1;
    m_run.leave();
  }
}

void ScriptRun::prompt() {
  if (m_lines.isTyped() && m_lines.isEmpty() && m_run.isRunning()) {
    std::fputs(kPrompt, stdout);
    std::fflush(stdout);
  }
}

}  // namespace pf::headless

#include "moc_script_run.cpp"
