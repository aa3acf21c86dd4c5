// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/line_walk.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pf::session {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

int deepestOf(LineMove move, int depth) {
  return move == LineMove::Step ? kNoLimit : move == LineMove::Next ? depth : depth - 1;
}

}  // namespace

LineWalk::LineWalk(LineMove move, int depth) : m_limit(deepestOf(move, depth)) {}

void LineWalk::beginsAtEntry(LinePlace place) {
  came(std::move(place));
  m_steps.back().begins = false;
}

void LineWalk::came(LinePlace place) {
  Step step;
  step.begins = begins(place, m_steps.size());
  if (place.depth > 0 && place.depth >= m_limit) {
    step.onwards = place.depth > m_limit ? mi::RunKind::Finish : mi::RunKind::Next;
  }
  step.place = std::move(place);
  m_steps.push_back(std::move(step));
}

void LineWalk::beginAt(std::size_t i) {
  m_steps.erase(m_steps.begin(), m_steps.begin() + static_cast<std::ptrdiff_t>(i));
  if (!m_steps.empty()) {
    m_steps.front().begins = true;
  }
}

void LineWalk::isDeep(std::size_t i, int depth) {
  m_steps[i].place.depth = depth;
  m_steps[i].begins = begins(m_steps[i].place, i);
}

/// Who returns comes to the middle of the line that has called, or to the next line.
bool LineWalk::begins(const LinePlace& place, std::size_t count) const {
  const auto end = m_steps.rend();
  const auto from = end - static_cast<std::ptrdiff_t>(count);
  if (from == end || from->onwards != mi::RunKind::Finish) {
    return true;
  }
  const auto call = std::find_if(
      from, end, [&place](const Step& step) { return step.place.depth == place.depth; });
  return call != end && !call->place.isAt(place);
}

std::vector<mi::RunKind> LineWalk::stepsTo(std::size_t i) const {
  std::vector<mi::RunKind> steps;
  for (std::size_t step = 0; step < i; ++step) {
    steps.push_back(m_steps[step].onwards);
  }
  return steps;
}

bool LineWalk::wasIn(const LinePlace& place) const {
  return std::any_of(m_steps.begin(), m_steps.end(), [&place](const Step& step) {
    return step.place.depth == place.depth && step.place.function == place.function;
  });
}

bool LineWalk::knows(LineMove move) const {
  if (move != LineMove::Step) {
    return move == LineMove::Next;
  }
  for (std::size_t i = m_steps.size(); i > 1; --i) {
    const Step& before = m_steps[i - 2];
    if (before.onwards != mi::RunKind::Step || before.begins) {
      return before.onwards == mi::RunKind::Step;
    }
  }
  return true;
}

std::optional<std::size_t> LineWalk::before(LineMove move, int depth, bool begun) const {
  for (std::size_t i = m_steps.size(); i > 0; --i) {
    const Step& step = m_steps[i - 1];
    if (step.place.depth <= deepestOf(move, depth) && (step.begins || begun)) {
      return i - 1;
    }
  }
  return std::nullopt;
}

}  // namespace pf::session
