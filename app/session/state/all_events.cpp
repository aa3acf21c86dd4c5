// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/state/all_events.h"

#include <utility>

#include <QFutureWatcher>

#include "app/session/state/in_background.h"

namespace pf::session {

void AllEvents::set(const QString& path, const views::TraceDataPtr& trace) {
  m_path = path;
  m_trace = trace;
  m_whole.reset();
  m_waiting.clear();
}

const views::TraceData& AllEvents::all() const {
  if (m_trace->chunks == nullptr) {
    return *m_trace;
  }
  if (m_whole == nullptr && m_trace->whole) {
    m_whole = m_trace->whole();
  }
  return m_whole != nullptr ? *m_whole : *m_trace;
}

bool AllEvents::areRead() const {
  return m_trace == nullptr || m_trace->chunks == nullptr || m_whole != nullptr;
}

bool AllEvents::readsFirst(std::function<void()> then) {
  if (areRead() || !m_trace->whole) {
    return false;
  }
  m_waiting.push_back(std::move(then));
  if (m_waiting.size() > 1) {
    return true;
  }
  Q_EMIT progress(tr("Reading all events of the trace …"));
  auto* watcher = new QFutureWatcher<views::TraceDataPtr>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, of = m_trace] {
    watcher->deleteLater();
    if (of != m_trace) {
      return;  // another trace is open
    }
    const auto waiting = std::exchange(m_waiting, {});
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

}  // namespace pf::session

#include "moc_all_events.cpp"
