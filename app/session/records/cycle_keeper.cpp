// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/cycle_keeper.h"

#include <algorithm>
#include <utility>

namespace pf::session {
namespace {

template <typename T>
std::int64_t lastId(db::SessionTables tables) {
  std::int64_t last = 0;
  if (const auto rows = tables.all<T>(); rows) {
    for (const T& row : *rows) {
      last = std::max(last, row.id);
    }
  }
  return last;
}

}  // namespace

CycleKeeper::CycleKeeper(db::TraceStore& store)
    : m_lastCycle(lastId<db::Cycle>(store.session())),
      m_lastHit(lastId<db::BreakpointHit>(store.session())),
      m_thread([this, path = store.path()] { write(path); }) {}

CycleKeeper::~CycleKeeper() {
  {
    const std::lock_guard lock(m_mutex);
    m_end = true;
  }
  m_changed.notify_one();
  m_thread.join();
}

std::int64_t CycleKeeper::keep(db::Cycle cycle, std::vector<db::CycleStop> stops) {
  cycle.id = cycle.id != 0 ? cycle.id : ++m_lastCycle;
  const std::int64_t id = cycle.id;
  for (db::CycleStop& stop : stops) {
    stop.cycle = id;
  }
  {
    const std::lock_guard lock(m_mutex);
    m_work.cycles[id] = {std::move(cycle), std::move(stops)};
  }
  m_changed.notify_one();
  return id;
}

std::int64_t CycleKeeper::keep(db::BreakpointHit hit) {
  hit.id = hit.id != 0 ? hit.id : ++m_lastHit;
  const std::int64_t id = hit.id;
  {
    const std::lock_guard lock(m_mutex);
    m_work.hits[id] = std::move(hit);
  }
  m_changed.notify_one();
  return id;
}

bool CycleKeeper::isIdle() {
  const std::lock_guard lock(m_mutex);
  return m_work.empty() && !m_writing;
}

/// A write that fails (a full disk, a damaged table) loses that row only; the trace's own checks tell of it.
void CycleKeeper::writeInto(db::TraceStore& store, Work& work) {
  for (auto& [id, cycle] : work.cycles) {
    (void)store.session().replaceCycle(cycle.first, cycle.second);
  }
  for (const auto& [id, hit] : work.hits) {
    if (!store.session().update(hit)) {
      (void)store.session().add(hit);
    }
  }
}

void CycleKeeper::write(const std::string& path) {
  std::optional<db::TraceStore> store;
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_end || !m_work.empty(); });
    if (m_work.empty()) {
      return;
    }
    Work work = std::exchange(m_work, {});
    m_writing = true;
    lock.unlock();
    if (!store) {
      if (Result<db::TraceStore> opened =
              db::TraceStore::open(path, db::TraceStore::Mode::ReadWrite)) {
        store.emplace(std::move(*opened));
      }
    }
    if (store) {
      writeInto(*store, work);
    }
    lock.lock();
    m_writing = false;
  }
}

}  // namespace pf::session
