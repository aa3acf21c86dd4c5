// SPDX-License-Identifier: MIT
#include "replay_engine/rank/online_races/window.h"

namespace pf::online {
namespace {

/// Could the first, a receive posted before the other, have had the other's message?
bool couldHaveHad(const Delivery& first, const Delivery& other) {
  return first.wild && first.comm == other.comm &&
         (first.wantedTag == kAny || first.wantedTag == other.tag) &&
         first.source != other.source && first.completion > other.known;
}

bool race(const Delivery& a, const Delivery& b) {
  return a.post < b.post ? couldHaveHad(a, b) : couldHaveHad(b, a);
}

/// Is there a wildcard posted before this receive, and open, that accepts its message?
bool openRace(const Delivery& delivery, OpenReceives& open) {
  bool found = false;
  if (open.pending.wild() != 0) {
    open.pending.before(delivery.post, [&](const PendingReceive& receive) {
      found = accepts(receive, delivery);
      return !found;
    });
  }
  return found;
}

}  // namespace

void Window::delivered(const Delivery& delivery, std::uint32_t number, OpenReceives& open) {
  m_traced.resize(0);
  const bool tracedByB = openRace(delivery, open) || m_ofB.race(delivery);
  if (delivery.wild && !tracedByB) {
    m_ofB.remember(delivery, &open);
  }
  m_wildcards += delivery.wild ? 1U : 0U;
  if (m_leftOut.race(delivery)) {
    decide({delivery, number}, true, open);
  } else {
    enter({{delivery, number}, tracedByB, false, false, m_wildcards}, open);
  }
  decideUpTo(m_size, open);
}

void Window::end(OpenReceives& open) {
  m_traced.resize(0);
  m_ended = true;
  decideUpTo(0, open);
  while (m_first < m_undecided.size()) {
    decideFirst(open);
  }
}

void Window::enter(const Undecided& one, OpenReceives& open) {
  bool races = false;
  for (std::uint32_t i = m_first; i < m_undecided.size() && !races; ++i) {
    races = race(m_undecided[i].what.delivery, one.what.delivery);
  }
  if (!one.what.delivery.wild && !races && allowed(one, open)) {
    return decide(one.what, false, open);
  }
  m_undecided.push(one);
  const std::uint32_t number = m_undecided.size() - 1;
  m_undecided[number].leftOut = fits(number, open);
  m_changed = true;
}

/// May it be left out, others undecided apart?
bool Window::allowed(const Undecided& one, OpenReceives& open) {
  const Delivery& delivery = one.what.delivery;
  return !one.mustTrace &&
         (m_ended || (!openRace(delivery, open) &&
                      (!one.tracedByB || !delivery.wild || m_ofB.cover(delivery, open.first()))));
}

bool Window::fits(std::uint32_t number, OpenReceives& open) {
  const Undecided& one = m_undecided[number];
  for (std::uint32_t i = m_first; i < m_undecided.size(); ++i) {
    if (i != number && m_undecided[i].leftOut &&
        race(m_undecided[i].what.delivery, one.what.delivery)) {
      return false;
    }
  }
  return allowed(one, open);
}

void Window::decideUpTo(std::uint32_t size, OpenReceives& open) {
  while (m_first < m_undecided.size() && m_wildcards - m_undecided[m_first].wildcards >= size) {
    decideFirst(open);
  }
}

void Window::decideFirst(OpenReceives& open) {
  if (m_changed && m_undecided.size() - m_first > 1) {
    improve(open);
  }
  m_changed = false;
  const Undecided first = m_undecided[m_first++];
  for (std::uint32_t i = m_first; first.leftOut && i < m_undecided.size(); ++i) {
    if (race(m_undecided[i].what.delivery, first.what.delivery)) {
      m_undecided[i].mustTrace = true;
    }
  }
  decide(first.what, !first.leftOut, open);
  if (m_first > 64 && m_first > m_undecided.size() / 2) {
    m_undecided.eraseFront(m_first);
    m_first = 0;
  }
}

void Window::decide(const Traced& what, bool traced, OpenReceives& open) {
  if (traced) {
    m_traced.push(what);
    ++m_found;
  } else if (what.delivery.wild) {
    m_leftOut.remember(what.delivery, &open);
  }
}

/// Local search, till nothing helps.
void Window::improve(OpenReceives& open) {
  for (bool better = true; better;) {
    better = false;
    for (std::uint32_t i = m_first; i < m_undecided.size(); ++i) {
      better = (!m_undecided[i].leftOut && leaveOut(i, open)) || better;
    }
  }
}

/// Leaves out this one and, instead of those it races with, what else then can be; if that is more
/// than before.
bool Window::leaveOut(std::uint32_t number, OpenReceives& open) {
  if (!allowed(m_undecided[number], open)) {
    return false;
  }
  const auto racing = [&](std::uint32_t i, std::uint32_t other) {
    return i != other && race(m_undecided[i].what.delivery, m_undecided[other].what.delivery);
  };
  m_moved.resize(0);
  for (std::uint32_t i = m_first; i < m_undecided.size(); ++i) {
    if (m_undecided[i].leftOut && racing(i, number)) {
      m_moved.push(i);
      m_undecided[i].leftOut = false;
    }
  }
  m_added.resize(0);
  m_added.push(number);
  m_undecided[number].leftOut = true;
  for (std::uint32_t gone = 0; gone < m_moved.size(); ++gone) {
    for (std::uint32_t i = m_first; i < m_undecided.size(); ++i) {
      if (!m_undecided[i].leftOut && racing(i, m_moved[gone]) && fits(i, open)) {
        m_undecided[i].leftOut = true;
        m_added.push(i);
      }
    }
  }
  if (m_added.size() > m_moved.size()) {
    return true;
  }
  for (std::uint32_t i = 0; i < m_added.size(); ++i) {
    m_undecided[m_added[i]].leftOut = false;
  }
  for (std::uint32_t i = 0; i < m_moved.size(); ++i) {
    m_undecided[m_moved[i]].leftOut = true;
  }
  return false;
}

}  // namespace pf::online
