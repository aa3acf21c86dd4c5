// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/packing.h"

#include <cstdint>

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

/// The same bytes of memory, named from an address that is not null.
class Shifted {
 public:
  Shifted(const void* buffer, int count, MPI_Datatype type)
      : m_buffer(reinterpret_cast<std::uintptr_t>(buffer)), m_count(count), m_type(type) {
    MPI_Aint first = 0;
    MPI_Aint length = 0;
    if (buffer != nullptr || PF_REAL(Type_get_true_extent)(type, &first, &length) != MPI_SUCCESS ||
        first == 0) {
      return;
    }
    const MPI_Aint back = -first;
    if (PF_REAL(Type_create_hindexed)(1, &count, &back, type, &m_own) != MPI_SUCCESS) {
      return;
    }
    PF_REAL(Type_commit)(&m_own);
    m_buffer = static_cast<std::uintptr_t>(first);
    m_count = 1;
    m_type = m_own;
  }
  ~Shifted() {
    if (m_own != MPI_DATATYPE_NULL) {
      PF_REAL(Type_free)(&m_own);
    }
  }
  Shifted(const Shifted&) = delete;
  Shifted& operator=(const Shifted&) = delete;

  [[nodiscard]] void* buffer() const { return reinterpret_cast<void*>(m_buffer); }
  [[nodiscard]] int count() const { return m_count; }
  [[nodiscard]] MPI_Datatype type() const { return m_type; }

 private:
  std::uintptr_t m_buffer;
  int m_count;
  MPI_Datatype m_type;
  MPI_Datatype m_own = MPI_DATATYPE_NULL;
};

}  // namespace

int packElements(const void* buffer, int count, MPI_Datatype type, void* to, int room,
                 int* position, MPI_Comm comm) {
  const Shifted from(buffer, count, type);
  return PF_REAL(Pack)(from.buffer(), from.count(), from.type(), to, room, position, comm);
}

int unpackElements(const void* from, int bytes, int* position, void* buffer, int count,
                   MPI_Datatype type, MPI_Comm comm) {
  const Shifted to(buffer, count, type);
  return PF_REAL(Unpack)(from, bytes, position, to.buffer(), to.count(), to.type(), comm);
}

}  // namespace pf
