// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a trace whose views read chunks of it: the session goes by all of them.
#include <utility>

#include <QFutureWatcher>

#include "app/session/debug_session.h"
#include "app/session/in_background.h"

namespace pf::session {

const views::TraceData& DebugSession::whole() const {
  if (m_trace->chunks == nullptr) {
    return *m_trace;
  }
  if (m_whole == nullptr && m_trace->whole) {
    m_whole = m_trace->whole();
  }
  return m_whole != nullptr ? *m_whole : *m_trace;
}

bool DebugSession::readsFirst(std::function<void()> then) {
  if (m_trace == nullptr || m_trace->chunks == nullptr || m_whole != nullptr || !m_trace->whole) {
    return false;
  }
  m_afterReading.push_back(std::move(then));
  if (m_afterReading.size() > 1) {
    return true;
  }
  Q_EMIT progress(tr("Reading all events of the trace …"));
  auto* watcher = new QFutureWatcher<views::TraceDataPtr>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, of = m_trace] {
    watcher->deleteLater();
    if (of != m_trace) {
      return;  // another trace is open
    }
    const auto waiting = std::exchange(m_afterReading, {});
    m_whole = watcher->result();
    if (m_whole == nullptr) {
      Q_EMIT message(
          tr("The events of the trace cannot be read; photofinish check %1 says why.").arg(m_path),
          true);
      return;
    }
    for (const auto& each : waiting) {
      each();
    }
  });
  watcher->setFuture(inBackground([trace = m_trace] { return trace->whole(); }));
  return true;
}

void DebugSession::resolveAll() {
  m_resolving = false;
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    resolve(breakpoint);
  }
  Q_EMIT breakpointsChanged();
}

}  // namespace pf::session
