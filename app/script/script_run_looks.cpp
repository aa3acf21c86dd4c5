// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that look, and move nothing.
#include <algorithm>

#include "app/collation/collate.h"
#include "app/collation/event_text.h"
#include "app/replaying/replay.h"
#include "app/script/script_run.h"
#include "views/values/stack_tree.h"

namespace pf::headless {

using values::RankState;

namespace {

constexpr int kOutputMs = 250;  ///< that printed words may be on their way

QString frameText(const values::StackFrame& frame, bool withLevel) {
  QString text = withLevel ? QStringLiteral("#%1 ").arg(frame.level) : QString();
  text += frame.function + QLatin1String(frame.file.isEmpty() ? "" : "()");
  return frame.file.isEmpty() || frame.line == 0
             ? text
             : QStringLiteral("%1 at %2:%3")
                   .arg(text, frame.file.section(QLatin1Char('/'), -1))
                   .arg(frame.line);
}

void addTree(const std::vector<values::StackNode>& nodes, int depth,
             const std::function<void(const QList<int>&, const QString&)>& say) {
  for (const values::StackNode& node : nodes) {
    say(node.ranks, QString(2 * depth, QLatin1Char(' ')) +
                        (node.isNote() ? node.note : frameText(node.frame, false)));
    addTree(node.children, depth + 1, say);
  }
}

QString eventWords(const Execution& execution, const EventRef& event) {
  return QStringLiteral("rank %1 event %2, %3")
      .arg(event.rank)
      .arg(event.serial)
      .arg(QString::fromStdString(app::eventText(execution, event)));
}

}  // namespace

void ScriptRun::rank(const Command& command) {
  if (command.number >= rankCount()) {
    fail(tr("the recording has ranks 0 to %1").arg(rankCount() - 1));
    return;
  }
  m_session.setCurrentRank(command.number);
  locate([this] {
    tell({m_session.currentRank()}, false);
    done();
  });
}

void ScriptRun::where(const Command&) {
  locate([this] {
    tell(m_ranks, false);
    done();
  });
}

/// frame, up, down
void ScriptRun::frame(const Command& command) {
  const auto shown = std::find_if(m_frames.begin(), m_frames.end(), [this](const auto& frame) {
    return frame.level == m_session.inspector().frame();
  });
  const qsizetype at = shown - m_frames.begin() + (command.verb->name == "up" ? 1 : -1);
  const values::StackFrame* wanted = nullptr;
  if (command.verb->name != "frame") {
    wanted = at >= 0 && at < m_frames.size() ? &m_frames[at] : nullptr;
  } else {
    const auto found = std::find_if(m_frames.begin(), m_frames.end(), [&](const auto& frame) {
      return frame.level == command.number;
    });
    wanted = found == m_frames.end() ? nullptr : &*found;
  }
  if (wanted == nullptr || wanted->file.isEmpty()) {
    fail(tr("rank %1 has no such frame: 'stack' lists those of the program")
             .arg(m_session.currentRank()));
    return;
  }
  m_session.inspector().selectFrame(wanted->level);
  say({m_session.currentRank()}, frameText(*wanted, true));
  done();
}

void ScriptRun::group(const Command& command) {
  const QString text = QString::fromStdString(command.text).simplified();
  const QString name = text.section(QLatin1Char(' '), 0, 0);
  QString problem;
  const QList<int> ranks = ranksOf(text.section(QLatin1Char(' '), 1).toStdString(), &problem);
  if (!problem.isEmpty()) {
    fail(tr("%1. Write: group NAME RANKS").arg(problem));
    return;
  }
  m_session.groups().add(name, ranks);
  say(ranks, name);
  done();
}

void ScriptRun::groups(const Command&) {
  for (const values::RankGroup& group :
       m_session.groups().all() + m_session.groups().communicators()) {
    say(group.ranks, group.name);
  }
  done();
}

/// In the frame that is selected; on other ranks in the one of the same function, else the
/// program's innermost.
void ScriptRun::printValue(const Command& command) {
  m_values.clear();
  m_missing.clear();
  m_someValue = false;
  ++m_question;
  m_then = [this] {
    sayEqualOnes(m_values);
    m_someValue ? done() : fail(tr("no rank has a value: %1").arg(m_values.begin()->second));
  };
  std::string function;
  for (const values::StackFrame& frame : std::as_const(m_frames)) {
    function =
        frame.level == m_session.inspector().frame() ? frame.function.toStdString() : function;
  }
  QList<int> asked;
  for (const RankState& state : m_session.rankStates()) {
    if (!m_ranks.contains(state.rank)) {
      continue;
    }
    if (gone(state)) {
      m_values[state.rank] = tr("error: has ended");
    } else if (m_session.debugger(state.rank) == nullptr) {
      m_values[state.rank] = tr("error: no debugger, 'focus RANKS' gives one");
    } else if (!rests(state)) {
      m_values[state.rank] = tr("error: runs, 'pause' stops it");
    } else {
      asked << state.rank;
      m_missing.insert(state.rank);
    }
  }
  if (asked.isEmpty()) {
    answered();
  }
  for (const int rank : asked) {
    evaluateOn(rank, function, command.text);
  }
}

void ScriptRun::evaluateOn(int rank, const std::string& function, const std::string& expression) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const int thread = gdb->stop().thread;
  const quint64 number = m_question;
  const auto answer = [this, rank, number](const Result<std::string>& value) {
    if (number == m_question) {
      m_values[rank] = value ? QString::fromStdString(*value)
                             : tr("error: %1").arg(QString::fromStdString(value.error().message));
      m_someValue = m_someValue || value.ok();
      m_missing.erase(rank);
      answered();
    }
  };
  if (rank == m_session.currentRank() && !function.empty()) {
    gdb->inspect().evaluate({thread, m_session.inspector().frame()}, expression, answer);
    return;
  }
  gdb->inspect().frames(
      thread, 0, kMostFrames,
      [this, rank, thread, function, expression, number,
       answer](const Result<std::vector<mi::Frame>>& frames) {
        mi::GdbSession* here = m_session.debugger(rank);
        if (!frames || here == nullptr || number != m_question) {
          answer(frames ? Error{ErrorCode::Peer, "its debugger is gone", {}} : frames.error());
          return;
        }
        const auto same = std::find_if(frames->begin(), frames->end(), [&](const mi::Frame& each) {
          return !function.empty() && each.function == function;
        });
        const auto user = static_cast<int>(mi::firstUserFrame(*frames).value_or(0));
        here->inspect().evaluate({thread, same == frames->end() ? user : same->level}, expression,
                                 answer);
      });
}

void ScriptRun::stack(const Command&) {
  m_wantsStack = true;
  m_tree = false;
  m_session.stacks().ask();
}

void ScriptRun::stacks(const Command&) {
  m_wantsStack = true;
  m_tree = true;
  m_session.stacks().ask();
}

void ScriptRun::showStack(const QList<values::RankStack>& stacks) {
  if (m_tree) {
    addTree(values::stackTree(stacks), 0,
            [this](const QList<int>& ranks, const QString& text) { say(ranks, text); });
    done();
    return;
  }
  std::map<int, QString> texts;
  for (const values::RankStack& stack : stacks) {
    if (m_ranks.contains(stack.rank)) {
      QStringList lines;
      for (const values::StackFrame& frame : stack.frames) {
        lines << frameText(frame, !frame.file.isEmpty());
      }
      texts[stack.rank] = lines.isEmpty() ? stack.note : lines.join(QLatin1Char('\n'));
    }
  }
  sayEqualOnes(texts);
  done();
}

void ScriptRun::whichMessage(const Command& command) {
  m_session.buffers().ask(QString::fromStdString(command.text),
                          [this, number = ++m_question,
                           rank = m_session.currentRank()](const session::WhichMessage& answer) {
                            if (number != m_question) {
                              return;
                            }
                            if (answer.problem) {
                              fail(answer.text);
                              return;
                            }
                            say({rank}, answer.text);
                            done();
                          });
}

void ScriptRun::races(const Command&) {
  const Execution& execution = m_data->execution;
  int number = 0;
  for (const Race race : m_data->races) {
    const EventRef receive = app::raceEvent(execution, race);
    QString text = tr("race %1, event %2: %3")
                       .arg(++number)
                       .arg(receive.serial)
                       .arg(QString::fromStdString(app::eventText(execution, receive)));
    const auto add = [&](std::uint32_t message, const QString& how) {
      if (message < execution.messages.size()) {
        text += tr("; %1 %2").arg(how, eventWords(execution, execution.messages[message].send));
      }
    };
    add(race.taken, tr("took"));
    for (const std::uint32_t other : race.alternatives) {
      add(other, tr("or could"));
    }
    say({receive.rank}, text);
  }
  if (number == 0) {
    sayForAll(tr("no receive could have taken another message"));
  }
  done();
}

void ScriptRun::cycles(const Command&) {
  for (const values::Cycle& cycle : m_session.cycles().all()) {
    if (cycle.number >= m_firstCycle) {
      const QString match = cycle.match == values::CycleMatch::Matches    ? tr("; as recorded")
                            : cycle.match == values::CycleMatch::Diverged ? tr("; diverged")
                                                                          : QString();
      const QString inputs = cycle.inputs.isEmpty() ? QString() : tr("; ") + sayable(cycle.inputs);
      const auto known = m_summaries.find(cycle.number);
      sayForAll(tr("cycle %1: %2%3%4")
                    .arg(cycle.number - m_firstCycle + 1)
                    .arg(known == m_summaries.end() ? sayable(cycle.summary) : known->second, match,
                         inputs));
    }
  }
  done();
}

void ScriptRun::output(const Command&) {
  QTimer::singleShot(kOutputMs, this, [this, number = ++m_question] {
    if (number != m_question) {
      return;
    }
    for (const int rank : std::as_const(m_ranks)) {
      const QString text = QString::fromUtf8(m_printed[rank]);
      if (!text.isEmpty()) {
        say({rank}, text.endsWith(QLatin1Char('\n')) ? text.chopped(1) : text);
      }
    }
    done();
  });
}

}  // namespace pf::headless
