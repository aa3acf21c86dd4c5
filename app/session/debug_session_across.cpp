// SPDX-License-Identifier: GPL-3.0-or-later
// One expression on all ranks. A rank whose GDB hangs, or that has none, does not hold up the
// others.
#include <algorithm>

#include "app/session/debug_session.h"
#include "app/session/frame_values.h"

namespace pf::session {
namespace {

constexpr int kShowWithinMs = 2000;  ///< what has come until then is shown

/// Where to evaluate: in the frame of this function, else in the program's innermost frame.
int frameFor(const std::vector<mi::Frame>& frames, const std::string& function) {
  const auto same = std::find_if(frames.begin(), frames.end(), [&](const mi::Frame& frame) {
    return !function.empty() && frame.function == function;
  });
  if (same != frames.end()) {
    return same->level;
  }
  const auto user = mi::firstUserFrame(frames);
  return user ? static_cast<int>(*user) : 0;
}

}  // namespace

void DebugSession::askAcross(const QString& expression) {
  AcrossQuestion question;
  question.number = m_across.number + 1;
  question.expression = expression;
  question.since.start();
  m_across = std::move(question);
  if (m_state.phase != Phase::Running) {
    Q_EMIT acrossArrived(expression, {}, 0);
    return;
  }
  const views::StackFrame* frame = frameAt(m_frame);
  const std::string function = frame != nullptr ? frame->function.toStdString() : std::string();
  std::vector<int> asked;
  for (const auto& [rank, now] : m_state.now) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= m_state.rankInfos.size()) {
      continue;
    }
    views::RankValue& value = m_across.values[rank];
    value.rank = rank;
    mi::GdbSession* gdb = now.attached ? m_fleet.session(rank) : nullptr;
    if (now.exited) {
      value.error = tr("has ended");
    } else if (gdb == nullptr) {
      value.debugger = false;
    } else if (gdb->state() != mi::SessionState::Stopped) {
      value.error = tr("runs: pause it first");
    } else {
      value.error = tr("no answer yet");
      m_across.missing.insert(rank);
      asked.push_back(rank);
    }
  }
  for (const int rank : asked) {
    askRankAcross(rank, function);
  }
  QTimer::singleShot(kShowWithinMs, this, [this, number = m_across.number] {
    if (number == m_across.number && !m_across.missing.isEmpty()) {
      tellAcross();
    }
  });
  if (m_across.missing.isEmpty()) {
    tellAcross();
  }
}

void DebugSession::askRankAcross(int rank, const std::string& function) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  const int thread = gdb->stop().thread;
  const quint64 number = m_across.number;
  const auto answer = [this, rank, number](const Result<std::string>& value) {
    if (number != m_across.number) {
      return;
    }
    views::RankValue& row = m_across.values[rank];
    row.value = value ? toText(*value) : QString();
    row.error = value ? QString() : toText(value.error().message);
    m_across.missing.remove(rank);
    if (m_across.missing.isEmpty()) {
      tellAcross();
    }
  };
  gdb->inspect().frames(
      thread, 0, kMostFrames - 1,
      [this, rank, thread, function, number, answer](const Result<std::vector<mi::Frame>>& frames) {
        mi::GdbSession* here = m_fleet.session(rank);
        if (!frames || here == nullptr || number != m_across.number) {
          answer(frames ? Error{ErrorCode::Peer, "its debugger is gone", {}} : frames.error());
          return;
        }
        here->inspect().evaluate({thread, frameFor(*frames, function)},
                                 m_across.expression.toStdString(), answer);
      });
}

void DebugSession::tellAcross() {
  QList<views::RankValue> values;
  for (const auto& [rank, value] : m_across.values) {
    values.append(value);
  }
  Q_EMIT acrossArrived(m_across.expression, values, m_across.since.elapsed());
}

}  // namespace pf::session
