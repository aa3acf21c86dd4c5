// SPDX-License-Identifier: MIT
// A hash table for a rank's path: open addressing by a 64-bit key that is a hash itself, linear
// probing, no erasing, no allocation but to double. Values are plain data, zero at first.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace pf::online {

/// Scrambles a number so that all of its bits count in all of the result's. Never 0.
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ULL;
  return (x ^ (x >> 32)) | 1U;
}

template <typename Value>
class FlatTable {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  FlatTable() = default;
  FlatTable(const FlatTable&) = delete;
  FlatTable& operator=(const FlatTable&) = delete;
  ~FlatTable() { std::free(m_slots); }

  /// The value of `key` (a result of scramble()), made if need be. Valid until the next call.
  Value& operator[](std::uint64_t key) {
    if (m_count * 2 >= m_capacity) [[unlikely]] {
      grow();
    }
    Slot& slot = m_slots[slotOf(key)];
    if (slot.key == 0) {
      slot.key = key;
      ++m_count;
    }
    return slot.value;
  }
  /// Null if there is none.
  Value* find(std::uint64_t key) {
    if (m_count == 0) {
      return nullptr;
    }
    Slot& slot = m_slots[slotOf(key)];
    return slot.key == 0 ? nullptr : &slot.value;
  }
  template <typename Action>
  void forEach(Action action) {
    for (std::uint32_t i = 0; i < m_capacity; ++i) {
      if (m_slots[i].key != 0) {
        action(m_slots[i].value);
      }
    }
  }

 private:
  struct Slot {
    std::uint64_t key;
    Value value;
  };
  [[nodiscard]] std::uint32_t slotOf(std::uint64_t key) const {
    auto i = static_cast<std::uint32_t>(key >> 32) & (m_capacity - 1);
    while (m_slots[i].key != key && m_slots[i].key != 0) {
      i = (i + 1) & (m_capacity - 1);
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
  std::uint32_t m_capacity = 0;
  std::uint32_t m_count = 0;
};

/// Plain data in a row; no allocation but to double.
template <typename Value>
class FlatArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  FlatArray() = default;
  FlatArray(const FlatArray&) = delete;
  FlatArray& operator=(const FlatArray&) = delete;
  ~FlatArray() { std::free(m_values); }

  [[nodiscard]] std::uint32_t size() const { return m_size; }
  Value& operator[](std::uint32_t i) { return m_values[i]; }
  const Value& operator[](std::uint32_t i) const { return m_values[i]; }
  void resize(std::uint32_t size) { m_size = size; }  ///< only to less
  void push(const Value& value) {
    if (m_size == m_room) [[unlikely]] {
      m_room = m_room == 0 ? 8 : m_room * 2;
      m_values = static_cast<Value*>(std::realloc(m_values, m_room * sizeof(Value)));
      if (m_values == nullptr) {
        std::abort();
      }
    }
    m_values[m_size++] = value;
  }
  void eraseFront(std::uint32_t count) {
    for (std::uint32_t i = count; i < m_size; ++i) {
      m_values[i - count] = m_values[i];
    }
    m_size -= count;
  }

 private:
  Value* m_values = nullptr;
  std::uint32_t m_size = 0;
  std::uint32_t m_room = 0;
};

}  // namespace pf::online
