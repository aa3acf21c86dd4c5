// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/script_run.h"

#include <algorithm>
#include <cstdio>

#include <QFileInfo>
#include <QRegularExpression>

#include "replay_engine/base/shown_text.h"

namespace pf::headless {
namespace {

constexpr int kGdbsUpTo = 16;  ///< ranks: each GDB takes some 60 MB
constexpr int kLookEveryMs = 40;
constexpr const char* kPrompt = "(photofinish) ";

}  // namespace

const std::map<std::string_view, ScriptRun::Handler>& ScriptRun::handlers() {
  using S = ScriptRun;
  static const std::map<std::string_view, Handler> kHandlers{
      {"run", &S::run},
      {"repeat-cycle", &S::repeatCycle},
      {"end-replay", &S::endReplay},
      {"continue", &S::continueRanks},
      {"pause", &S::pause},
      {"next", &S::step},
      {"step", &S::step},
      {"finish", &S::step},
      {"until", &S::until},
      {"replay-to", &S::replayTo},
      {"to-failure", &S::navigate},
      {"next-receive", &S::navigate},
      {"next-racing-receive", &S::navigate},
      {"next-event", &S::navigate},
      {"deliver-next", &S::navigate},
      {"previous-event", &S::navigate},
      {"previous-receive", &S::navigate},
      {"previous-hit", &S::navigate},
      {"last-change", &S::lastChange},
      {"break", &S::breakAt},
      {"tbreak", &S::breakAt},
      {"log", &S::log},
      {"delete", &S::remove},
      {"enable", &S::change},
      {"disable", &S::change},
      {"ignore", &S::change},
      {"stops", &S::change},
      {"breakpoints", &S::breakpoints},
      {"rank", &S::rank},
      {"frame", &S::frame},
      {"up", &S::frame},
      {"down", &S::frame},
      {"focus", &S::chooseFocus},
      {"group", &S::group},
      {"groups", &S::groups},
      {"print", &S::printValue},
      {"stack", &S::stack},
      {"stacks", &S::stacks},
      {"where", &S::where},
      {"which-message", &S::whichMessage},
      {"gdb", &S::gdb},
      {"races", &S::races},
      {"cycles", &S::cycles},
      {"output", &S::output},
      {"echo", &S::echo},
      {"expect", &S::expect},
      {"expect-not", &S::expect},
      {"timeout", &S::timeout},
      {"help", &S::help},
      {"quit", &S::quit},
  };
  return kHandlers;
}

bool ScriptRun::carriesOut(std::string_view verb) {
  return handlers().contains(verb);
}

ScriptRun::ScriptRun(const QString& trace, session::LoadedTrace loaded, std::string name,
                     bool interactive)
    : m_name(std::move(name)), m_interactive(interactive), m_data(loaded.data) {
  const int ranks = static_cast<int>(loaded.ranks.size());
  connectSession();
  m_session.open(QFileInfo(trace).absoluteFilePath(), std::move(loaded));
  m_session.breakpoints().setAside();
  QList<int> focus;
  for (int rank = 0; rank < ranks; ++rank) {
    if (ranks <= kGdbsUpTo || rank == m_session.currentRank()) {
      focus << rank;
    }
  }
  m_session.debuggers().setFocus(focus);
  m_cycle = m_session.cycles().none() ? 0 : m_session.cycles().last().number;
  m_firstCycle = m_cycle + 1;
  m_watch.setInterval(kLookEveryMs);
  connect(&m_watch, &QTimer::timeout, this, &ScriptRun::look);
}

void ScriptRun::start() {
  prompt();
  next();
}

void ScriptRun::addLine(const std::string& line) {
  m_lines.push_back(line);
  QMetaObject::invokeMethod(this, &ScriptRun::next, Qt::QueuedConnection);
}

void ScriptRun::noMoreLines() {
  m_noMore = true;
  QMetaObject::invokeMethod(this, &ScriptRun::next, Qt::QueuedConnection);
}

void ScriptRun::stop(int signal) {
  std::fprintf(stderr, "photofinish: ended by a signal\n");
  m_status = 128 + signal;
  leave();
}

void ScriptRun::next() {
  if (m_busy || m_leaving) {
    return;
  }
  if (m_lines.empty()) {
    if (m_noMore) {
      leave();
    }
    return;
  }
  const std::string line = std::move(m_lines.front());
  m_lines.pop_front();
  ++m_number;
  carryOut(line);
  if (!m_busy) {
    QMetaObject::invokeMethod(this, &ScriptRun::next, Qt::QueuedConnection);
  }
}

void ScriptRun::carryOut(const std::string& line) {
  m_answer.clear();
  m_busy = true;
  m_since.start();
  m_watch.start();
  m_keepsLast = true;
  const Result<std::optional<ScriptCommand>> parsed = parseScriptLine(line);
  if (!parsed) {
    fail(QString::fromStdString(parsed.error().message + ". " + parsed.error().advice));
    return;
  }
  if (!parsed->has_value()) {
    done();
    return;
  }
  const ScriptCommand command = **parsed;
  if (command.verb->replay && !m_session.isRunning()) {
    fail(tr("no replay runs: 'run', 'to-failure' and 'replay-to RANK:SERIAL' begin one"));
    return;
  }
  m_ranks = {m_session.currentRank()};
  if (!command.group.empty() || command.verb->group == ScriptGroup::All) {
    QString problem;
    m_ranks = ranksOf(command.group.empty() ? "all" : command.group, &problem);
    if (!problem.isEmpty()) {
      fail(problem);
      return;
    }
  }
  m_keepsLast = false;
  (this->*handlers().at(command.verb->name))(command);
}

int ScriptRun::rankCount() const {
  return static_cast<int>(m_session.rankStates().size());
}

QList<int> ScriptRun::ranksOf(const std::string& group, QString* problem) const {
  const QList<values::RankGroup> known = m_session.groups().all() +
                                         m_session.groups().communicators() +
                                         values::groupsByState(m_session.rankStates());
  return values::ranksOfExpression(QString::fromStdString(group), known, rankCount(), problem);
}

// -- answers

void ScriptRun::say(const QList<int>& ranks, const QString& text) {
  const QString mark = QStringLiteral("[%1] ").arg(values::rankSetText(ranks));
  for (const QString& line : text.split(QLatin1Char('\n'))) {
    m_answer << mark + line;
  }
}

void ScriptRun::sayForAll(const QString& text) {
  for (const QString& line : text.split(QLatin1Char('\n'))) {
    m_answer << QStringLiteral("[all] ") + line;
  }
}

void ScriptRun::sayPlain(const QString& text) {
  m_answer << text;
}

void ScriptRun::sayEqualOnes(const std::map<int, QString>& texts) {
  QList<std::pair<QString, QList<int>>> groups;
  for (const auto& [rank, text] : texts) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&text = text](const auto& group) {
      return group.first == text;
    });
    same == groups.end() ? groups.append({text, {rank}}) : same->second.append(rank);
  }
  for (const auto& [text, ranks] : groups) {
    say(ranks, text);
  }
}

/// Breakpoints have numbers of their own here.
QString ScriptRun::sayable(const QString& text) const {
  static const QRegularExpression kId(QStringLiteral("\\bbreakpoint (-\\d+)"),
                                      QRegularExpression::CaseInsensitiveOption);
  QString out = text;
  for (auto found = kId.match(out); found.hasMatch();
       found = kId.match(out, found.capturedStart() + 1)) {
    out.replace(found.capturedStart(1), found.capturedLength(1),
                QString::number(numberOf(found.captured(1).toInt())));
  }
  return out;
}

void ScriptRun::print() {
  for (const QString& line : std::as_const(m_answer)) {
    std::fprintf(stdout, "%s\n", shown(line.toUtf8().toStdString()).c_str());
  }
  if (std::fflush(stdout) != 0 && !m_leaving) {  // nobody listens any more
    m_status = 1;
    leave();
  }
}

void ScriptRun::done() {
  if (!m_busy) {
    return;
  }
  m_busy = false;
  m_watch.stop();
  m_move.reset();
  m_changed = {};
  ++m_question;
  if (!m_keepsLast) {
    m_last = m_answer;
  }
  print();
  if (!m_failure.isEmpty()) {
    pf::tell(m_failure.toUtf8().toStdString());
    m_failure.clear();
  }
  prompt();
  QMetaObject::invokeMethod(this, &ScriptRun::next, Qt::QueuedConnection);
}

void ScriptRun::prompt() {
  if (m_interactive && m_lines.empty() && !m_leaving) {
    std::fputs(kPrompt, stdout);
    std::fflush(stdout);
  }
}

void ScriptRun::fail(const QString& why) {
  if (!m_busy) {
    return;
  }
  const QString text = sayable(why.trimmed()).replace(QLatin1Char('\n'), QLatin1String("\n  "));
  const QString place =
      m_interactive ? QString()
                    : QStringLiteral("%1:%2: ").arg(QString::fromStdString(m_name)).arg(m_number);
  if (!m_interactive) {
    m_status = 1;
    m_lines.clear();
    m_noMore = true;
  }
  m_failure = place + text;
  done();
}

void ScriptRun::leave() {
  m_leaving = true;
  m_busy = false;
  m_move.reset();
  ++m_question;
  if (m_session.isReplaying()) {
    m_watch.start();
    m_session.endReplay();
  } else if (!std::exchange(m_finished, true)) {
    Q_EMIT finished();
  }
}

// -- commands about the script itself

void ScriptRun::echo(const Command& command) {
  m_keepsLast = true;
  sayPlain(QString::fromStdString(command.text));
  done();
}

void ScriptRun::expect(const Command& command) {
  m_keepsLast = true;
  const QRegularExpression wanted(QString::fromStdString(command.text),
                                  QRegularExpression::MultilineOption);
  if (!wanted.isValid()) {
    fail(tr("'%1' is no regular expression: %2").arg(wanted.pattern(), wanted.errorString()));
    return;
  }
  const bool found = wanted.match(m_last.join(QLatin1Char('\n'))).hasMatch();
  if (found == (command.verb->name == "expect")) {
    done();
    return;
  }
  const QString got =
      m_last.isEmpty() ? tr(" nothing") : QLatin1Char('\n') + m_last.join(QLatin1Char('\n'));
  fail((found ? tr("did not expect /%1/, got:%2") : tr("expected /%1/, got:%2"))
           .arg(wanted.pattern(), got));
}

void ScriptRun::timeout(const Command& command) {
  m_keepsLast = true;
  m_timeoutMs = command.number;
  done();
}

void ScriptRun::help(const Command&) {
  sayPlain(QString::fromStdString(scriptHelp()).trimmed());
  done();
}

void ScriptRun::quit(const Command&) {
  print();
  leave();
}

}  // namespace pf::headless
