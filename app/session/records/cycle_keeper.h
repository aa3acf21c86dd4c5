// SPDX-License-Identifier: GPL-3.0-or-later
// Writes cycles, their stops and hits into the trace on a thread of its own, as a write waits for
// the disk (three times, some tenths of a second on a busy one) and the GUI thread must not. Of a
// cycle that changes faster than it is written, only the latest state is.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "db/store/trace_store.h"

namespace pf::session {

class CycleKeeper {
 public:
  /// `store`: the trace, writable; its largest ids are asked for. The file is opened once more on
  /// the thread.
  explicit CycleKeeper(db::TraceStore& store);
  /// Writes what is left.
  ~CycleKeeper();
  CycleKeeper(const CycleKeeper&) = delete;
  CycleKeeper& operator=(const CycleKeeper&) = delete;

  /// Takes the place of what was kept of the cycle. Returns its id, which it gets if it has none.
  std::int64_t keep(db::Cycle cycle, std::vector<db::CycleStop> stops);
  std::int64_t keep(db::BreakpointHit hit);
  /// Everything is in the file.
  [[nodiscard]] bool isIdle();

 private:
  struct Work {
    std::map<std::int64_t, std::pair<db::Cycle, std::vector<db::CycleStop>>> cycles;
    std::map<std::int64_t, db::BreakpointHit> hits;
    [[nodiscard]] bool empty() const { return cycles.empty() && hits.empty(); }
  };
  static void writeInto(db::TraceStore& store, Work& work);
  void write(const std::string& path);

  std::int64_t m_lastCycle = 0;
  std::int64_t m_lastHit = 0;
  std::mutex m_mutex;  ///< of all below
  std::condition_variable m_changed;
  Work m_work;
  bool m_writing = false;
  bool m_end = false;
  std::thread m_thread;
};

}  // namespace pf::session
