// SPDX-License-Identifier: GPL-3.0-or-later
// Many values of a few fields as columns of numbers: one byte string, compressed. The same function
// lists the fields for both directions: `fields(codec, value)` with a ColumnEncoder or a
// ColumnDecoder (execution_streams.h).
//
// A column string, before it is compressed (Zstandard): number of values, number of columns, and
// for each column a byte for its form (0: all values are the one number that follows; 1: their
// bytes follow) and its length in bytes. Numbers are LEB128; a signed number n is 2n, or -2n-1 if
// it is negative.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace pf::db {

inline constexpr std::size_t kMostColumns = 16;
inline constexpr std::size_t kLongestColumnString = 64U << 20;  ///< bytes, before it is compressed

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

// What zstd works with; made once, because that takes as long as to unpack a chunk.
struct FreeZstd {
  void operator()(ZSTD_CCtx_s* context) const;
  void operator()(ZSTD_DCtx_s* context) const;
};

/// Column string `n` of those in `packed`, one after the other; empty: there is none.
[[nodiscard]] Bytes columnString(Bytes packed, std::size_t n);

class ColumnEncoder {
 public:
  static constexpr bool kWriting = true;

  /// Forgets all values.
  void clear();
  /// Before the fields of each value; all have as many.
  void begin() {
    if (m_size == m_room) {
      makeRoom();
    }
    m_next = m_numbers.data() + m_size++;
    m_at = 0;
  }
  /// Whether the next field is looked at (ColumnPass).
  [[nodiscard]] static constexpr bool takes() { return true; }
  /// The next field of the value.
  void put(std::uint64_t number) {
    *m_next = number;
    m_next += m_stride;
    ++m_at;
  }
  /// What was put last into the column that is next, as difference() and following() mean it.
  std::int64_t& last() { return m_last[m_at]; }
  /// The same for each `slot`: a rank, or kUnknownRank.
  std::int64_t& last(Rank slot);

  [[nodiscard]] std::size_t size() const { return m_size; }
  /// All values, compressed; good until the next clear().
  [[nodiscard]] Result<Bytes> finish();

 private:
  void makeRoom();

  std::vector<std::uint64_t> m_numbers;  ///< [column * m_stride + value]
  std::size_t m_room = 0;                ///< for values
  std::size_t m_stride =
      0;  ///< no power of 2: the columns of a value would share a set of the cache
  std::size_t m_size = 0;
  std::uint64_t* m_next = nullptr;  ///< where the next field goes
  std::array<std::int64_t, kMostColumns> m_last{};
  std::array<std::vector<std::int64_t>, kMostColumns> m_slots;
  std::size_t m_at = 0;
  std::vector<std::uint8_t> m_raw;  ///< and more room
  std::vector<std::uint8_t> m_packed;
  std::unique_ptr<ZSTD_CCtx_s, FreeZstd> m_zstd;
};

class ColumnDecoder {
 public:
  static constexpr bool kWriting = false;

  /// Unpacks; an error in words if that is no column string, or one of more than `most` values.
  /// `ranks`: slots are smaller. `wanted`: bits of the columns that will be read; what is in others
  /// is not looked at.
  [[nodiscard]] Status start(Bytes packed, std::size_t most, std::size_t ranks,
                             std::uint32_t wanted = ~0U);
  [[nodiscard]] std::size_t size() const { return m_size; }
  void begin() {
    m_at = 0;
    if (m_begun++ == m_size) [[unlikely]] {
      endAll();
    }
  }
  [[nodiscard]] static constexpr bool takes() { return true; }
  /// Leaves out the next columns.
  void skip(std::size_t columns) { m_at += columns; }
  /// All values, instead of begin() and fields() for each: column after column, which takes half
  /// the time.
  template <typename T>
  void readAll(std::span<T> values) {
    if (values.size() != m_size) {
      endAll();
      return;
    }
    readColumns(values, std::make_index_sequence<kMostColumns>());
  }
  [[nodiscard]] std::uint64_t get() {
    Column& column = m_columns[m_at++];
    const std::uint64_t value = *column.at;
    column.at += column.step;
    return value;
  }
  std::int64_t& last() { return m_last[m_at]; }
  std::int64_t& last(Rank slot) {
    const auto index = static_cast<std::size_t>(std::int64_t{slot} - kUnknownRank);
    std::vector<std::int64_t>& slots = m_slots[m_at];
    return index < slots.size() ? slots[index] : newSlot(slot, m_at);
  }
  void require(bool condition) { m_ok = m_ok && condition; }
  /// False: a value does not fit its field, or there are fewer columns than fields.
  [[nodiscard]] bool ok() const { return m_ok && m_at <= m_count; }

 private:
  struct Column {
    const std::uint64_t* at = nullptr;
    std::size_t step = 0;  ///< to the next value; 0: all are this one
  };
  template <std::size_t K>
  friend class ColumnPass;

  template <typename T, std::size_t... K>
  void readColumns(std::span<T> values, std::index_sequence<K...>) {
    (readColumn<K>(values), ...);
  }
  template <std::size_t K, typename T>
  void readColumn(std::span<T> values);
  [[nodiscard]] bool parse(std::size_t most, std::uint32_t wanted);
  void endAll();
  std::int64_t& newSlot(Rank slot, std::size_t column);

  std::array<Column, kMostColumns> m_columns;
  std::array<std::vector<std::uint64_t>, kMostColumns> m_numbers;
  std::array<std::int64_t, kMostColumns> m_last{};
  std::array<std::vector<std::int64_t>, kMostColumns> m_slots;
  std::size_t m_at = 0;
  std::size_t m_begun = 0;
  std::size_t m_count = 0;
  std::size_t m_size = 0;
  std::size_t m_ranks = 0;
  bool m_ok = true;
  std::vector<std::uint8_t> m_raw;
  std::unique_ptr<ZSTD_DCtx_s, FreeZstd> m_zstd;
};

/// One column of a decoder: fields() reads that field of a value and leaves the others as they are.
template <std::size_t K>
class ColumnPass {
 public:
  static constexpr bool kWriting = false;

  explicit ColumnPass(ColumnDecoder& decoder)
      : m_decoder(decoder), m_column(decoder.m_columns[K]), m_slots(decoder.m_slots[K]) {}
  void begin() { m_at = 0; }
  [[nodiscard]] bool takes() { return m_at++ == K; }
  void skip(std::size_t columns) { m_at += columns; }
  [[nodiscard]] std::uint64_t get() {
    const std::uint64_t value = *m_column.at;
    m_column.at += m_column.step;
    return value;
  }
  std::int64_t& last() { return m_last; }
  std::int64_t& last(Rank slot) {
    const auto index = static_cast<std::size_t>(std::int64_t{slot} - kUnknownRank);
    return index < m_slots.size() ? m_slots[index] : m_decoder.newSlot(slot, K);
  }
  void require(bool condition) { m_ok = m_ok && condition; }
  [[nodiscard]] bool ok() const { return m_ok; }
  [[nodiscard]] std::size_t fieldCount() const { return m_at; }

 private:
  ColumnDecoder& m_decoder;
  ColumnDecoder::Column m_column;
  std::vector<std::int64_t>& m_slots;
  std::int64_t m_last = 0;
  std::size_t m_at = 0;
  bool m_ok = true;
};

template <std::size_t K, typename T>
void ColumnDecoder::readColumn(std::span<T> values) {
  ColumnPass<K> pass(*this);
  for (T& value : values) {
    pass.begin();
    fields(pass, value);
  }
  m_ok = m_ok && pass.ok();
  m_at = pass.fieldCount();
}

// ---- Kinds of fields, for both directions. Inlined by force: a chunk has tens of thousands of
// fields, and as calls they took twice the time. Each takes one column.

/// A number that is not negative.
template <typename C, typename V>
[[gnu::always_inline]] inline void number(C& codec, V& value) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(static_cast<std::uint64_t>(value));
  } else {
    const std::uint64_t stored = codec.get();
    codec.require(std::in_range<V>(stored));
    value = static_cast<V>(stored);
  }
}
template <typename C>
[[gnu::always_inline]] inline void flag(C& codec, const bool& value) {
  static_assert(C::kWriting);
  if (!codec.takes()) {
    return;
  }
  codec.put(value ? 1 : 0);
}
template <typename C>
[[gnu::always_inline]] inline void flag(C& codec, bool& value) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(value ? 1 : 0);
  } else {
    const std::uint64_t stored = codec.get();
    codec.require(stored <= 1);
    value = stored != 0;
  }
}
/// A number that may be negative.
template <typename C, typename V>
[[gnu::always_inline]] inline void signedNumber(C& codec, V& value) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(zigzag(static_cast<std::int64_t>(value)));
  } else {
    const std::int64_t stored = unzigzag(codec.get());
    codec.require(std::in_range<V>(stored));
    value = static_cast<V>(stored);
  }
}
/// An index, or kNone.
template <typename C, typename V>
[[gnu::always_inline]] inline void orNone(C& codec, V& value) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(value == kNone ? 0 : std::uint64_t{value} + 1);
  } else {
    const std::uint64_t stored = codec.get();
    codec.require(stored <= kNone);
    value = stored == 0 ? kNone : static_cast<std::uint32_t>(stored - 1);
  }
}
/// A rank, kAnySource or kUnknownRank.
template <typename C, typename V>
[[gnu::always_inline]] inline void someRank(C& codec, V& value) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(static_cast<std::uint64_t>(std::int64_t{value} - kUnknownRank));
  } else {
    constexpr auto kMost =
        static_cast<std::uint64_t>(std::int64_t{std::numeric_limits<Rank>::max()} - kUnknownRank);
    const std::uint64_t stored = codec.get();
    codec.require(stored <= kMost);
    value = static_cast<Rank>(static_cast<std::int64_t>(std::min(stored, kMost)) + kUnknownRank);
  }
}
/// `last` is an enum's last value.
template <typename C, typename V>
[[gnu::always_inline]] inline void enumerator(C& codec, V& value, std::remove_const_t<V> last) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(static_cast<std::uint64_t>(value));
  } else {
    const std::uint64_t stored = codec.get();
    codec.require(stored <= static_cast<std::uint64_t>(last));
    value = static_cast<V>(stored);
  }
}
/// A number that is near that of the value before.
template <typename C, typename V>
[[gnu::always_inline]] inline void difference(C& codec, V& value) {
  if (!codec.takes()) {
    return;
  }
  std::int64_t& last = codec.last();
  if constexpr (C::kWriting) {
    codec.put(zigzag(static_cast<std::int64_t>(value) - last));
    last = static_cast<std::int64_t>(value);
  } else {
    last = static_cast<std::int64_t>(static_cast<std::uint64_t>(last) +
                                     static_cast<std::uint64_t>(unzigzag(codec.get())));
    codec.require(std::in_range<V>(last));
    value = static_cast<V>(last);
  }
}
/// A serial near `base`, or 0 for none.
template <typename C, typename V>
[[gnu::always_inline]] inline void serialNear(C& codec, V& value, Serial base) {
  if (!codec.takes()) {
    return;
  }
  if constexpr (C::kWriting) {
    codec.put(value == 0 ? 0 : 1 + zigzag(static_cast<std::int64_t>(value - base)));
  } else {
    const std::uint64_t stored = codec.get();
    value = stored == 0 ? 0 : base + static_cast<Serial>(unzigzag(stored - 1));
    codec.require(stored == 0 || (value != 0 && value <= INT64_MAX));
  }
}
/// A number that follows the former one of the same `slot` (a rank), or `none`.
template <typename C, typename V>
[[gnu::always_inline]] inline void following(C& codec, V& value, Rank slot,
                                             std::type_identity_t<std::remove_const_t<V>> none) {
  if (!codec.takes()) {
    return;
  }
  std::int64_t& last = codec.last(slot);
  if constexpr (C::kWriting) {
    codec.put(value == none ? 0 : 1 + zigzag(static_cast<std::int64_t>(value) - last - 1));
    last = value == none ? last : static_cast<std::int64_t>(value);
  } else {
    const std::uint64_t stored = codec.get();
    const auto next = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(last) + 1 +
        static_cast<std::uint64_t>(unzigzag(stored == 0 ? 0 : stored - 1)));
    codec.require(stored == 0 || std::in_range<V>(next));
    last = stored == 0 ? last : next;
    value = stored == 0 ? none : static_cast<V>(next);
  }
}

}  // namespace pf::db
