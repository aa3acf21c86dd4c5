// SPDX-License-Identifier: GPL-3.0-or-later
// A newer version of the open trace takes its place: of a recording that goes on.
#include <utility>

#include "app/session/debug_session.h"
#include "app/session/records/session_records.h"

namespace pf::session {

Result<SessionRecords> DebugSession::records() const {
  return m_store != nullptr ? session::readRecords(*m_store)
                            : Result<SessionRecords>(SessionRecords());
}

/// `carried`: what records() was when it was written into `path` by copyRecords(), which said
/// `sameIds`. False, and nothing is done, while a replay runs or its records are being written, or
/// where the ranks are others.
bool DebugSession::renew(const QString& path, LoadedTrace trace, const SessionRecords& carried,
                         bool sameIds) {
  if (m_state.source != Source::Recording || m_state.trace == nullptr ||
      m_state.phase != Phase::Idle || !m_cycles.isKept() ||
      trace.ranks.size() != m_state.rankInfos.size()) {
    return false;
  }
  Result<db::TraceStore> store =
      db::TraceStore::open(path.toStdString(), db::TraceStore::Mode::ReadWrite);
  if (store) {
    // What was added since they were carried over: nearly always nothing.
    const Result<SessionRecords> now = records();
    if (now && *now != carried) {
      const Result<bool> same = copyRecords(carried, *now, *store);
      sameIds = same && *same && sameIds;
    }
  }
  take(path, std::move(trace));
  if (store && sameIds) {
    m_store = std::make_unique<db::TraceStore>(std::move(*store));
    m_cycles.keepIn(*m_store);
    m_watches.keepIn(m_store.get());
    m_groups.keepIn(m_store.get());
    m_bookmarks.keepIn(m_store.get());
    m_breakpoints.keepIn(m_store.get());
    publishMarks();
  } else {
    readRecords();
  }
  m_judgedRaces.open(m_store.get(), QString::fromStdString(m_state.run.program));
  Q_EMIT ranksChanged();
  return true;
}

}  // namespace pf::session
