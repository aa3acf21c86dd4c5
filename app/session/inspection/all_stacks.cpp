// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/all_stacks.h"

#include <utility>

#include <QFutureWatcher>
#include <QTimer>

#include "app/collation/call_sites.h"
#include "app/session/state/frame_values.h"
#include "app/session/state/in_background.h"

namespace pf::session {
namespace {

constexpr int kAnswerWithinMs = 3000;

/// Frames of MPI, the C library and the interposer are left out; a rank that is inside of MPI
/// shows its call instead.
bool isInside(const std::string& function, const std::string& module) {
  mi::Frame frame;
  frame.function = function;
  frame.from = module;
  return mi::isLibraryFrame(frame) || function == "_start";
}

/// `call` may go on with its arguments.
values::StackFrame callFrame(const QString& call) {
  values::StackFrame frame;
  frame.function = call.section(QLatin1Char(' '), 0, 0);
  return frame;
}

/// What one agent has told, with names.
values::RankStack named(const protocol::RankStack& told, app::FrameResolver& resolver) {
  values::RankStack stack;
  stack.rank = told.rank;
  stack.note = toText(told.text);
  if (!told.frames.empty() && !told.call.empty()) {
    stack.frames.append(callFrame(toText(told.call)));
  }
  for (const protocol::CodePlace& place : told.frames) {
    if (isInside({}, place.module)) {
      continue;
    }
    for (const CallSite& site : resolver.frames(place.module, place.offset)) {
      if (isInside(site.function, {})) {
        continue;
      }
      values::StackFrame frame;
      frame.level = static_cast<int>(stack.frames.size());
      frame.function = toText(site.function);
      frame.file = toText(site.file);
      frame.line = site.line;
      frame.module = site.file.empty() ? toText(place.module) : QString();
      frame.address = QStringLiteral("0x%1").arg(place.offset, 0, 16);
      stack.frames.append(frame);
    }
  }
  if (stack.frames.isEmpty() && stack.note.isEmpty()) {
    stack.note = AllStacks::tr("in no code of the program");
  }
  return stack;
}

values::RankStack stackByGdb(int rank, const std::vector<mi::Frame>& frames) {
  values::RankStack stack;
  stack.rank = rank;
  stack.debugger = true;
  const std::size_t call = mi::firstShownFrame(frames);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i == call && frames[i].function.find("MPI_") != std::string::npos) {
      const auto name = frames[i].function.find("MPI_");
      stack.frames.append(callFrame(toText(frames[i].function.substr(name))));
    } else if (!isInside(frames[i].function, frames[i].from)) {
      stack.frames.append(toFrame(frames[i]));
    }
  }
  if (stack.frames.isEmpty()) {
    stack.note = AllStacks::tr("in no code of the program");
  }
  return stack;
}

}  // namespace

values::StackFrame toFrame(const mi::Frame& frame) {
  values::StackFrame out;
  out.level = frame.level;
  out.gdbLevel = frame.gdbLevel;
  out.python = frame.python;
  out.function = toText(frame.function);
  QStringList arguments;
  for (const mi::Variable& argument : frame.arguments) {
    arguments << toText(argument.name) + QLatin1Char('=') + toText(argument.value.value_or("…"));
  }
  out.arguments = arguments.join(QLatin1String(", "));
  out.file = toText(frame.fullname.empty() ? frame.file : frame.fullname);
  out.line = frame.line;
  out.module = toText(frame.from);
  out.address = QStringLiteral("0x%1").arg(frame.address, 0, 16);
  return out;
}

AllStacks::AllStacks(const SessionState& state, Order order)
    : m_state(state), m_order(std::move(order)) {}

void AllStacks::ask() {
  Question& question = m_question.begin();
  question.since.start();
  ++m_number;
  if (!m_state.haveStarted() && m_state.phase != Phase::Gating) {
    Q_EMIT arrived({}, 0);
    return;
  }
  protocol::AskStack ask;
  ask.question = m_number;
  std::vector<int> byGdb;
  for (const auto& [rank, now] : m_state.now) {
    if (!m_state.knows(rank)) {
      continue;
    }
    const bool stopped = m_state.stoppedDebugger(rank) != nullptr;
    if (now.exited) {
      question.stacks[rank] = {rank, {}, false, now.end};
    } else if (m_state.source == Source::Cores && !stopped) {  // nobody else can read it
      question.stacks[rank] = {rank, {}, false, tr("no debugger: tick the rank")};
    } else {
      question.missing.insert(rank);
      stopped ? byGdb.push_back(rank) : ask.ranks.push_back(rank);
    }
  }
  if (!ask.ranks.empty()) {
    m_order(ask);
  }
  for (const int rank : byGdb) {
    askGdb(rank);
  }
  QTimer::singleShot(kAnswerWithinMs, this, [this, asked = m_question.guard()] {
    if (asked) {
      giveUp();
    }
  });
  finish();
}

void AllStacks::askGdb(int rank) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(rank);
  if (gdb == nullptr) {
    return;
  }
  gdb->inspect().frames(
      gdb->stop().thread, 0, kMostFrames - 1,
      [this, rank, asked = m_question.guard()](const Result<std::vector<mi::Frame>>& frames) {
        Question* question = asked.get();
        if (question == nullptr || !question->missing.remove(rank)) {
          return;
        }
        values::RankStack& stack = question->stacks[rank];
        if (frames) {
          stack = stackByGdb(rank, *frames);
          notePython(rank, stack);
        } else {
          stack.rank = rank;
          stack.note = toText(frames.error().message);
        }
        finish();
      });
}

/// Its frames are native ones, where Python's cannot be read.
void AllStacks::notePython(int rank, values::RankStack& stack) const {
  const mi::GdbSession* gdb = m_state.debugger(rank);
  if (gdb != nullptr && !gdb->inspect().pythonProblem().empty()) {
    stack.note = toText(gdb->inspect().pythonProblem());
  }
}

void AllStacks::giveUp() {
  for (const int rank : std::as_const(m_question->missing)) {
    values::RankStack& stack = m_question->stacks[rank];
    stack.rank = rank;
    stack.note = tr("no answer within %1 s").arg(kAnswerWithinMs / 1000);
  }
  m_question->missing.clear();
  finish();
}

void AllStacks::answered(const protocol::RankStack& stack) {
  if (stack.question == m_number && m_question->missing.remove(stack.rank)) {
    m_question->addresses.push_back(stack);
    finish();
  }
}

/// Once all have answered.
void AllStacks::finish() {
  if (!m_question->missing.isEmpty() || std::exchange(m_question->finished, true)) {
    return;
  }
  auto* watcher = new QFutureWatcher<QList<values::RankStack>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, asked = m_question.guard()] {
            watcher->deleteLater();
            Question* question = asked.get();
            if (question == nullptr) {
              return;
            }
            for (const values::RankStack& stack : watcher->result()) {
              question->stacks[stack.rank] = stack;
            }
            QList<values::RankStack> all;
            for (const auto& [rank, stack] : question->stacks) {
              all.append(stack);
            }
            Q_EMIT arrived(all, question->since.elapsed());
          });
  watcher->setFuture(inBackground([told = std::exchange(m_question->addresses, {})] {
    app::FrameResolver resolver;
    QList<values::RankStack> out;
    for (const protocol::RankStack& stack : told) {
      out.append(named(stack, resolver));
    }
    return out;
  }));
}

}  // namespace pf::session

#include "moc_all_stacks.cpp"
