// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/across_ranks.h"

#include <algorithm>

#include <QTimer>

#include "app/session/state/frame_values.h"

namespace pf::session {
namespace {

constexpr int kShowWithinMs = 2000;  ///< what has come until then is shown

}  // namespace

mi::FrameRef frameFor(int thread, const std::vector<mi::Frame>& frames,
                      const std::string& function) {
  const auto same = std::find_if(frames.begin(), frames.end(), [&](const mi::Frame& frame) {
    return !function.empty() && frame.function == function;
  });
  if (same != frames.end()) {
    return mi::refOf(thread, *same);
  }
  const auto user = mi::firstUserFrame(frames);
  return user ? mi::refOf(thread, frames[*user]) : mi::FrameRef{thread, 0};
}

void AcrossRanks::ask(const QString& expression) {
  Question& question = m_question.begin();
  question.expression = expression;
  const values::StackFrame* frame = m_inspector.selected();
  question.function = frame != nullptr ? frame->function.toStdString() : std::string();
  question.since.start();
  if (m_state.phase != Phase::Running) {
    Q_EMIT arrived(expression, {}, 0);
    return;
  }
  for (const auto& [rank, now] : m_state.now) {
    if (m_state.knows(rank) && begin(rank, now, question.values[rank])) {
      question.missing.insert(rank);
    }
  }
  const QSet<int> asked = question.missing;
  for (const int rank : asked) {
    askRank(rank);
  }
  QTimer::singleShot(kShowWithinMs, this, [this, latest = m_question.guard()] {
    if (latest && !m_question->missing.isEmpty()) {
      tell();
    }
  });
  if (asked.isEmpty()) {
    tell();
  }
}

bool AcrossRanks::begin(int rank, const RankNow& now, values::RankValue& value) const {
  value.rank = rank;
  if (now.exited) {
    value.error = tr("has ended");
  } else if (m_state.debugger(rank) == nullptr) {
    value.debugger = false;
  } else if (m_state.stoppedDebugger(rank) == nullptr) {
    value.error = tr("runs: pause it first");
  } else {
    value.error = tr("no answer yet");
    return true;
  }
  return false;
}

void AcrossRanks::askRank(int rank) {
  mi::GdbSession* gdb = m_state.debugger(rank);
  if (gdb == nullptr) {
    answered(rank, Error{ErrorCode::Peer, "its debugger is gone", {}});
    return;
  }
  const auto answer = [this, rank, latest = m_question.guard()](const Result<std::string>& value) {
    if (latest) {
      answered(rank, value);
    }
  };
  const int thread = gdb->stop().thread;
  gdb->inspect().frames(
      thread, 0, kMostFrames - 1,
      [this, rank, thread, answer,
       latest = m_question.guard()](const Result<std::vector<mi::Frame>>& frames) {
        mi::GdbSession* here = m_state.fleet.session(rank);
        if (!frames || here == nullptr || !latest) {
          answer(frames ? Error{ErrorCode::Peer, "its debugger is gone", {}} : frames.error());
          return;
        }
        here->inspect().evaluate(frameFor(thread, *frames, m_question->function),
                                 m_question->expression.toStdString(), answer);
      });
}

void AcrossRanks::answered(int rank, const Result<std::string>& value) {
  values::RankValue& row = m_question->values[rank];
  row.value = value ? toText(*value) : QString();
  row.error = value ? QString() : toText(value.error().message);
  m_question->missing.remove(rank);
  if (m_question->missing.isEmpty()) {
    tell();
  }
}

void AcrossRanks::tell() {
  QList<values::RankValue> values;
  for (const auto& [rank, value] : m_question->values) {
    values.append(value);
  }
  Q_EMIT arrived(m_question->expression, values, m_question->since.elapsed());
}

}  // namespace pf::session

#include "moc_across_ranks.cpp"
