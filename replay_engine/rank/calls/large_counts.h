// SPDX-License-Identifier: MIT
// MPI_Send_c and the like (MPI 4.0, 3.1): their counts as the int that MPI_Send takes, so that both
// are the same to all that follows them. Only for generated wrappers of MPI libraries that have
// them.
#pragma once

#include <climits>

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

/// `count` elements of `type`: as many as an int can say, or one of a type that has them all.
class KeptElements {
 public:
  KeptElements(MPI_Count count, MPI_Datatype type)
      : m_count(static_cast<int>(count)), m_type(type) {
    if (count > INT_MAX && PF_REAL(Type_contiguous_c)(count, type, &m_type) == MPI_SUCCESS) {
      PF_REAL(Type_commit)(&m_type);
      m_made = true;
      m_count = 1;
    }
  }
  [[nodiscard]] int count() const { return m_count; }
  [[nodiscard]] MPI_Datatype type() const { return m_type; }

 protected:
  void release() {
    if (m_made) {
      PF_REAL(Type_free)(&m_type);
    }
  }

 private:
  int m_count;
  MPI_Datatype m_type;
  bool m_made = false;
};

/// The same for the time of one call; what is under way keeps its type (MPI 4.0, 5.1.9).
class Elements : public KeptElements {
 public:
  using KeptElements::KeptElements;
  ~Elements() { release(); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
};

}  // namespace pf
