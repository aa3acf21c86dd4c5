// SPDX-License-Identifier: GPL-3.0-or-later
// The stacks of all ranks: by GDB where one has the rank stopped, else by the rank's agent, which
// knows addresses only; files and lines of these are looked up on a worker thread.
#include <QFutureWatcher>

#include "app/collation/call_sites.h"
#include "app/session/debug_session.h"
#include "app/session/frame_values.h"
#include "app/session/in_background.h"

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
views::StackFrame callFrame(const QString& call) {
  views::StackFrame frame;
  frame.function = call.section(QLatin1Char(' '), 0, 0);
  return frame;
}

/// What one agent has told, with names.
views::RankStack named(const protocol::RankStack& told, app::FrameResolver& resolver) {
  views::RankStack stack;
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
      views::StackFrame frame;
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
    stack.note = DebugSession::tr("in no code of the program");
  }
  return stack;
}

}  // namespace

views::StackFrame toFrame(const mi::Frame& frame) {
  views::StackFrame out;
  out.level = frame.level;
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

views::RankStack DebugSession::stackByGdb(int rank, const std::vector<mi::Frame>& frames) const {
  views::RankStack stack;
  stack.rank = rank;
  stack.debugger = true;
  const auto user = mi::firstUserFrame(frames);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (user && i + 1 == *user && frames[i].function.find("MPI_") != std::string::npos) {
      const auto name = frames[i].function.find("MPI_");
      stack.frames.append(callFrame(toText(frames[i].function.substr(name))));
    } else if (!isInside(frames[i].function, frames[i].from)) {
      stack.frames.append(toFrame(frames[i]));
    }
  }
  if (stack.frames.isEmpty()) {
    stack.note = tr("in no code of the program");
  }
  return stack;
}

void DebugSession::askStacks() {
  StackQuestion question;
  question.number = m_stackQuestion.number + 1;
  question.since.start();
  m_stackQuestion = std::move(question);
  if (m_state.phase != Phase::Running && m_state.phase != Phase::Attaching &&
      m_state.phase != Phase::Gating) {
    Q_EMIT stacksArrived({}, 0);
    return;
  }
  const quint64 number = m_stackQuestion.number;
  protocol::AskStack ask;
  ask.question = number;
  std::vector<int> byGdb;
  for (const auto& [rank, now] : m_state.now) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= m_state.rankInfos.size()) {
      continue;
    }
    if (now.exited) {
      m_stackQuestion.stacks[rank] = {rank, {}, false, now.end};
      continue;
    }
    mi::GdbSession* gdb = now.attached ? m_fleet.session(rank) : nullptr;
    const bool stopped = gdb != nullptr && gdb->state() == mi::SessionState::Stopped;
    if (m_state.source == Source::Cores && !stopped) {  // nobody else can read it
      m_stackQuestion.stacks[rank] = {rank, {}, false, tr("no debugger: tick the rank")};
      continue;
    }
    m_stackQuestion.missing.insert(rank);
    stopped ? byGdb.push_back(rank) : ask.ranks.push_back(rank);
  }
  if (!ask.ranks.empty()) {
    order(ask);
  }
  for (const int rank : byGdb) {
    mi::GdbSession* gdb = m_fleet.session(rank);
    gdb->inspect().frames(
        gdb->stop().thread, 0, kMostFrames - 1,
        [this, rank, number](const Result<std::vector<mi::Frame>>& frames) {
          if (number != m_stackQuestion.number || !m_stackQuestion.missing.remove(rank)) {
            return;
          }
          views::RankStack& stack = m_stackQuestion.stacks[rank];
          if (frames) {
            stack = stackByGdb(rank, *frames);
          } else {
            stack.rank = rank;
            stack.note = toText(frames.error().message);
          }
          finishStacks();
        });
  }
  QTimer::singleShot(kAnswerWithinMs, this, [this, number] {
    if (number == m_stackQuestion.number && !m_stackQuestion.missing.isEmpty()) {
      for (const int rank : std::as_const(m_stackQuestion.missing)) {
        views::RankStack& stack = m_stackQuestion.stacks[rank];
        stack.rank = rank;
        stack.note = tr("no answer within %1 s").arg(kAnswerWithinMs / 1000);
      }
      m_stackQuestion.missing.clear();
      finishStacks();
    }
  });
  finishStacks();
}

void DebugSession::onStack(const protocol::RankStack& stack) {
  if (stack.question == m_stackQuestion.number && m_stackQuestion.missing.remove(stack.rank)) {
    m_stackQuestion.addresses.push_back(stack);
    finishStacks();
  }
}

/// Once all have answered.
void DebugSession::finishStacks() {
  if (!m_stackQuestion.missing.isEmpty() || std::exchange(m_stackQuestion.finished, true)) {
    return;
  }
  auto* watcher = new QFutureWatcher<QList<views::RankStack>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, number = m_stackQuestion.number] {
            watcher->deleteLater();
            if (number != m_stackQuestion.number) {
              return;
            }
            for (const views::RankStack& stack : watcher->result()) {
              m_stackQuestion.stacks[stack.rank] = stack;
            }
            QList<views::RankStack> all;
            for (const auto& [rank, stack] : m_stackQuestion.stacks) {
              all.append(stack);
            }
            Q_EMIT stacksArrived(all, m_stackQuestion.since.elapsed());
          });
  watcher->setFuture(inBackground([told = std::move(m_stackQuestion.addresses)] {
    app::FrameResolver resolver;
    QList<views::RankStack> out;
    for (const protocol::RankStack& stack : told) {
      out.append(named(stack, resolver));
    }
    return out;
  }));
  m_stackQuestion.addresses.clear();
}

}  // namespace pf::session
