// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/stack_commands.h"

#include <algorithm>

#include <QRegularExpression>

#include "app/script/ranks/array_lines.h"
#include "app/script/ranks/rank_text.h"
#include "app/session/inspection/across_ranks.h"
#include "views/values/stack_tree.h"

namespace pf::headless {

using values::RankState;

namespace {

void sayTree(const std::vector<values::StackNode>& nodes, int depth, ScriptAnswer& answer) {
  for (const values::StackNode& node : nodes) {
    answer.say(node.ranks, QString(qsizetype{2} * depth, QLatin1Char(' ')) +
                               (node.isNote() ? node.note : frameText(node.frame, false)));
    sayTree(node.children, depth + 1, answer);
  }
}

QString stackText(const values::RankStack& stack) {
  QStringList lines;
  for (const values::StackFrame& frame : stack.frames) {
    lines << frameText(frame, !frame.file.isEmpty());
  }
  if (!stack.note.isEmpty()) {
    lines << stack.note;
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

StackCommands::StackCommands(session::DebugSession& session, const ScriptRanks& ranks,
                             AwaitedAnswers& awaited, ScriptAnswer& answer)
    : m_session(session), m_ranks(ranks), m_awaited(awaited), m_answer(answer), m_arrays(session) {
  connect(&m_session.inspector(), &session::Inspector::stackChanged, this,
          [this](int rank, const QList<values::StackFrame>& frames, int) {
            m_frames = rank == m_session.currentRank() ? frames : m_frames;
          });
  connect(&m_session.stacks(), &session::AllStacks::arrived, this, [this](const Stacks& stacks) {
    if (m_show) {
      std::exchange(m_show, {})(stacks);
    }
  });
  connect(&m_arrays, &session::ArrayReader::arrived, this,
          [this](const values::ArraySummaryPtr& found) {
            if (m_takeArray) {
              m_takeArray(found.get(), {});
            }
          });
  connect(&m_arrays, &session::ArrayReader::failed, this, [this](const QString& why) {
    if (m_takeArray) {
      m_takeArray(nullptr, why);
    }
  });
}

void StackCommands::addTo(CommandTable& table) {
  using S = StackCommands;
  table["frame"] = table["up"] = table["down"] = handlerOf(this, &S::frame);
  table["stack"] = handlerOf(this, &S::stack);
  table["stacks"] = handlerOf(this, &S::stacks);
  table["print"] = handlerOf(this, &S::print);
  table["array"] = handlerOf(this, &S::array);
}

/// Null: the current rank has no such frame.
const values::StackFrame* StackCommands::frameOf(const Command& command) const {
  const auto place = [this](int level) {
    const auto found =
        std::find_if(m_frames.begin(), m_frames.end(),
                     [level](const values::StackFrame& each) { return each.level == level; });
    return found - m_frames.begin();
  };
  const int shown = m_session.inspector().frame();
  const qsizetype at = command.verb->name == "frame" ? place(command.number)
                       : command.verb->name == "up"  ? place(shown) + 1
                                                     : place(shown) - 1;
  return at >= 0 && at < m_frames.size() ? &m_frames[at] : nullptr;
}

/// frame, up, down
void StackCommands::frame(const Command& command, const Ranks&) {
  const values::StackFrame* wanted = frameOf(command);
  if (wanted == nullptr || wanted->file.isEmpty()) {
    m_answer.fail(tr("rank %1 has no such frame: 'stack' lists those of the program")
                      .arg(m_session.currentRank()));
    return;
  }
  m_session.inspector().selectFrame(wanted->level);
  m_answer.say({m_session.currentRank()}, frameText(*wanted, true));
  m_answer.done();
}

void StackCommands::askStacks(const std::function<void(const Stacks&)>& show) {
  m_awaited.begin();
  m_show = m_awaited.inTime(show);
  m_session.stacks().ask();
}

void StackCommands::stack(const Command&, const Ranks& ranks) {
  askStacks([this, ranks](const Stacks& stacks) { showStacks(stacks, ranks); });
}

void StackCommands::stacks(const Command&, const Ranks&) {
  askStacks([this](const Stacks& stacks) { showTree(stacks); });
}

void StackCommands::showStacks(const Stacks& stacks, const Ranks& ranks) {
  std::map<int, QString> texts;
  for (const values::RankStack& stack : stacks) {
    if (ranks.contains(stack.rank)) {
      texts[stack.rank] = stackText(stack);
    }
  }
  m_answer.sayEqualOnes(texts);
  m_answer.done();
}

void StackCommands::showTree(const Stacks& stacks) {
  sayTree(values::stackTree(stacks), 0, m_answer);
  m_answer.done();
}

std::string StackCommands::selectedFunction() const {
  std::string function;
  for (const values::StackFrame& frame : m_frames) {
    function =
        frame.level == m_session.inspector().frame() ? frame.function.toStdString() : function;
  }
  return function;
}

/// Empty: it can have one.
QString StackCommands::whyNoValue(const RankState& state) const {
  return m_ranks.gone(state)                ? tr("has ended")
         : !m_ranks.hasDebugger(state.rank) ? tr("no debugger, 'focus RANKS' gives one")
         : !m_ranks.rests(state)            ? tr("runs, 'pause' stops it")
                                            : QString();
}

/// In the frame that is selected; on other ranks in the one of the same function, else the
/// program's innermost.
void StackCommands::print(const Command& command, const Ranks& ranks) {
  m_values.clear();
  std::set<int> asked;
  for (const RankState& state : m_session.rankStates()) {
    if (!ranks.contains(state.rank)) {
      continue;
    }
    if (const QString why = whyNoValue(state); !why.isEmpty()) {
      m_values.addError(state.rank, why);
    } else {
      asked.insert(state.rank);
    }
  }
  m_awaited.ask(
      asked,
      [this, &command, function = selectedFunction()](int rank) {
        evaluate(rank, function, command.text);
      },
      [this] { tellValues(); });
}

void StackCommands::evaluate(int rank, const std::string& function, const std::string& expression) {
  if (rank != m_session.currentRank() || function.empty()) {
    evaluateWhere(rank, function, expression);
    return;
  }
  mi::GdbSession* gdb = m_session.debugger(rank);
  gdb->inspect().evaluate(
      m_session.inspector().valueRef(), expression,
      m_awaited.inTime([this, rank](const auto& value) { takeValue(rank, value); }));
}

void StackCommands::evaluateWhere(int rank, const std::string& function,
                                  const std::string& expression) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const int thread = gdb->stop().thread;
  const auto take = [this, rank](const Result<std::string>& value) { takeValue(rank, value); };
  const auto evaluateIn = [=, this](const Result<std::vector<mi::Frame>>& frames) {
    mi::GdbSession* here = m_session.debugger(rank);
    if (!frames || here == nullptr) {
      take(frames ? Error{ErrorCode::Peer, "its debugger is gone", {}} : frames.error());
      return;
    }
    here->inspect().evaluate(session::frameFor(thread, *frames, function), expression,
                             m_awaited.inTime(take));
  };
  gdb->inspect().frames(thread, 0, mi::kFramesToUser, m_awaited.inTime(evaluateIn));
}

void StackCommands::takeValue(int rank, const Result<std::string>& value) {
  if (value) {
    m_values.add(rank, QString::fromStdString(*value));
  } else {
    m_values.addError(rank, QString::fromStdString(value.error().message));
  }
  m_awaited.answered(rank);
}

/// EXPRESSION [across RANKS [along DIMENSION] [columns COUNT] [halo COUNT]].
void StackCommands::array(const Command& command, const Ranks&) {
  static const QRegularExpression kAcross(QStringLiteral(
      "^(.*\\S)\\s+across\\s+(\\S.*?)(?:\\s+along\\s+([1-9]))?(?:\\s+columns\\s+([1-9]\\d{0,4}))?"
      "(?:\\s+halo\\s+(\\d{1,6}))?$"));
  QString expression = QString::fromStdString(command.text);
  values::Distribution lies;
  if (const QRegularExpressionMatch across = kAcross.match(expression); across.hasMatch()) {
    QString problem;
    lies = {m_ranks.of(across.captured(2).toStdString(), &problem),
            std::max(across.captured(3).toInt(), 1) - 1, across.captured(5).toInt(),
            std::max(across.captured(4).toInt(), 1)};
    if (!problem.isEmpty() || lies.ranks.isEmpty()) {
      m_answer.fail(problem.isEmpty() ? tr("there is no rank in '%1'").arg(across.captured(2))
                                      : problem);
      return;
    }
    expression = across.captured(1);
  }
  const QList<int> whose = lies.ranks.isEmpty() ? QList<int>{m_session.currentRank()} : lies.ranks;
  m_awaited.begin();
  m_takeArray =
      m_awaited.inTime([this, whose](const values::ArraySummary* found, const QString& why) {
        if (found == nullptr) {
          m_answer.fail(why);
          return;
        }
        for (const QString& line : arrayLines(*found)) {
          m_answer.say(whose, line);
        }
        m_answer.done();
      });
  m_arrays.read(expression, lies);
}

void StackCommands::tellValues() {
  m_values.sayIn(m_answer);
  m_values.some() ? m_answer.done()
                  : m_answer.fail(tr("no rank has a value: %1").arg(m_values.first()));
}

}  // namespace pf::headless

#include "moc_stack_commands.cpp"
