// SPDX-License-Identifier: MIT
// Values by MPI handles. Open addressing, linear probing; no memory until something is in it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

template <typename Value>
class HandleMap {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  [[nodiscard]] std::uint32_t count() const { return m_count; }

  template <typename Handle>
  [[nodiscard]] Value* find(Handle handle) {
    if (m_count == 0) {
      return nullptr;
    }
    Slot& slot = m_slots[slotOf(keyOf(handle))];
    return slot.key != 0 ? &slot.value : nullptr;
  }
  /// In place of what has this handle.
  template <typename Handle>
  Value& insert(Handle handle, const Value& value) {
    if ((m_count + 1) * 2 > m_capacity) {
      grow();
    }
    const std::uint64_t key = keyOf(handle);
    Slot& slot = m_slots[slotOf(key)];
    m_count += slot.key == 0 ? 1U : 0U;
    slot.key = key;
    std::memcpy(static_cast<void*>(&slot.value), &value, sizeof value);
    return slot.value;
  }
  template <typename Handle>
  void erase(Handle handle) {
    if (m_count == 0) {
      return;
    }
    std::uint32_t hole = slotOf(keyOf(handle));
    if (m_slots[hole].key == 0) {
      return;
    }
    m_slots[hole].key = 0;
    --m_count;
    // What was pushed behind the hole moves up, so that every probe sequence is whole.
    for (std::uint32_t i = next(hole); m_slots[i].key != 0; i = next(i)) {
      const Slot moved = m_slots[i];
      m_slots[i].key = 0;
      m_slots[slotOf(moved.key)] = moved;
    }
  }

 private:
  struct Slot {
    std::uint64_t key;  ///< 0: nothing
    Value value;
  };

  template <typename Handle>
  static std::uint64_t keyOf(Handle handle) {
    return static_cast<std::uint64_t>(bitsOf(handle)) + 1;
  }
  [[nodiscard]] std::uint32_t next(std::uint32_t i) const { return (i + 1) & (m_capacity - 1); }
  [[nodiscard]] std::uint32_t slotOf(std::uint64_t key) const {
    auto i =
        static_cast<std::uint32_t>((key >> 4) * 0x9E3779B97F4A7C15ULL >> 40) & (m_capacity - 1);
    while (m_slots[i].key != 0 && m_slots[i].key != key) {
      i = next(i);
    }
    return i;
  }
  void grow() {
    Slot* const old = m_slots;
    const std::uint32_t size = m_capacity;
    m_capacity = size == 0 ? 64 : size * 2;
    m_slots = static_cast<Slot*>(std::calloc(m_capacity, sizeof(Slot)));
    if (m_slots == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      if (old[i].key != 0) {
        m_slots[slotOf(old[i].key)] = old[i];
      }
    }
    std::free(old);
  }

  Slot* m_slots = nullptr;
  std::uint32_t m_count = 0;
  std::uint32_t m_capacity = 0;  ///< a power of two
};

}  // namespace pf
