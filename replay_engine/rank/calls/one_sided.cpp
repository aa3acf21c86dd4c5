// SPDX-License-Identifier: MIT
#include "replay_engine/rank/calls/one_sided.h"

#include <cstdlib>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/packing.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/inputs/system_values.h"
#include "replay_engine/rank/online_races/flat_table.h"

namespace pf {
namespace {

struct Fetch {
  MPI_Win win;
  int target;
  void* to;
  int count;
  MPI_Datatype type;
  bool ownType;  ///< a duplicate: the program may free its own before the epoch ends
};
struct LockedWindow {
  MPI_Win win;
  int locks;
};

online::FlatArray<Fetch> g_fetches;
online::FlatArray<LockedWindow> g_locked;

bool locked(MPI_Win win) {
  for (std::uint32_t i = 0; i < g_locked.size(); ++i) {
    if (g_locked[i].win == win && g_locked[i].locks > 0) {
      return true;
    }
  }
  return false;
}

bool isNamedType(MPI_Datatype type) {
  const int combiner = combinerOf(type);
  return combiner < 0 || combiner == MPI_COMBINER_NAMED;
}

/// Whether what was fetched is all the bytes from its address on, without a gap: MPI_LONG_INT is 12
/// bytes, 16 from one to the next.
bool liesInARow(const Fetch& fetch) {
  MPI_Aint first = 0;
  MPI_Aint trueExtent = 0;
  MPI_Aint bound = 0;
  MPI_Aint extent = 0;
  int size = 0;
  PF_REAL(Type_size)(fetch.type, &size);
  PF_REAL(Type_get_true_extent)(fetch.type, &first, &trueExtent);
  PF_REAL(Type_get_extent)(fetch.type, &bound, &extent);
  return first == 0 && trueExtent == size && (fetch.count == 1 || extent == size);
}

/// The elements in a row, in the library's own form.
class Packed {
 public:
  explicit Packed(const Fetch& fetch) : m_fetch(fetch), m_inPlace(liesInARow(fetch)) {
    int size = 0;
    PF_REAL(Type_size)(fetch.type, &size);
    m_size = size * fetch.count;
    if (!m_inPlace) {
      PF_REAL(Pack_size)(fetch.count, fetch.type, MPI_COMM_SELF, &m_size);
      m_bytes = std::calloc(static_cast<std::size_t>(m_size) + 1, 1);
    }
  }
  ~Packed() { std::free(m_bytes); }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  void keep() {
    if (!m_inPlace) {
      int at = 0;
      packElements(m_fetch.to, m_fetch.count, m_fetch.type, m_bytes, m_size, &at, MPI_COMM_SELF);
    }
    keepBytes(ValueKind::Fetched, bytes(), size(), size());
  }
  void recall() {
    if (recallBytes(ValueKind::Fetched, bytes(), size()) != m_size || m_inPlace) {
      return;
    }
    int at = 0;
    unpackElements(m_bytes, m_size, &at, m_fetch.to, m_fetch.count, m_fetch.type, MPI_COMM_SELF);
  }
  [[nodiscard]] bool usable() const { return m_size > 0 && (m_inPlace || m_bytes != nullptr); }

 private:
  [[nodiscard]] void* bytes() const { return m_inPlace ? m_fetch.to : m_bytes; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(m_size); }

  const Fetch& m_fetch;
  const bool m_inPlace;
  int m_size = 0;
  void* m_bytes = nullptr;
};

void arrived(Fetch& fetch) {
  Packed packed(fetch);
  if (packed.usable()) {
    packed.recall();
    packed.keep();  // of a survey, too
  }
  if (fetch.ownType) {
    PF_REAL(Type_free)(&fetch.type);
  }
}

}  // namespace

void fetches(const CallPlace& place, void* to, int count, MPI_Datatype type, int target,
             MPI_Win win) {
  if (target == MPI_PROC_NULL || count <= 0 || (!g_engine.record && !g_engine.replay)) {
    return;
  }
  int size = 0;
  PF_REAL(Type_size)(type, &size);
  if (g_engine.threads || size > kMostFetched / count) {
    noteUnsupported(place);
    return;
  }
  Fetch fetch{win, target, to, count, type, !isNamedType(type)};
  if (fetch.ownType) {
    PF_REAL(Type_dup)(type, &fetch.type);
  }
  g_fetches.push(fetch);
}

void getsUnderLock(const CallPlace& place, void* to, int count, MPI_Datatype type, int target,
                   MPI_Win win) {
  if (locked(win)) {
    fetches(place, to, count, type, target, win);
  }
}

void fetched(int target, MPI_Win win) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < g_fetches.size(); ++i) {
    Fetch& fetch = g_fetches[i];
    if (fetch.win == win && (target == kEveryTarget || fetch.target == target)) {
      arrived(fetch);
    } else {
      g_fetches[kept++] = fetch;
    }
  }
  g_fetches.resize(kept);
}

void locks(MPI_Win win, int change) {
  if (g_engine.threads) {
    return;  // fetches() follows none then
  }
  for (std::uint32_t i = 0; i < g_locked.size(); ++i) {
    if (g_locked[i].win == win) {
      g_locked[i].locks += change;
      if (g_locked[i].locks <= 0) {
        g_locked[i] = g_locked[g_locked.size() - 1];
        g_locked.resize(g_locked.size() - 1);
      }
      return;
    }
  }
  if (change > 0) {
    g_locked.push({win, change});
  }
}

}  // namespace pf
