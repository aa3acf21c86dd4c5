// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/column_codec.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <span>
#include <string>

namespace pf::db {
namespace {

constexpr int kLevel = 1;  // quick; columns of numbers hardly get smaller with more
constexpr std::uint8_t kConstant = 0;
constexpr std::uint8_t kNumbers = 1;
constexpr std::uint64_t kZero = 0;

constexpr std::size_t kLongestNumber = 10;  // bytes

/// Writes a number; returns where it ends.
std::uint8_t* append(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80U);
    value >>= 7U;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

std::uint8_t* appendAll(std::uint8_t* out, std::span<const std::uint64_t> values) {
  constexpr std::size_t kAtOnce = 8;
  for (; values.size() >= kAtOnce; values = values.subspan(kAtOnce)) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      all |= values[i];
    }
    if (all < 0x80) {  // mostly all are short
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        out[i] = static_cast<std::uint8_t>(values[i]);
      }
      out += kAtOnce;
      continue;
    }
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      out = append(out, values[i]);
    }
  }
  for (const std::uint64_t value : values) {
    out = append(out, value);
  }
  return out;
}

bool isConstant(std::span<const std::uint64_t> values) {
  std::uint64_t differ = 0;
  for (const std::uint64_t value : values) {
    differ |= value ^ values.front();
  }
  return differ == 0;
}

/// The number at `at`, which is moved behind it; false: there is none that ends before `end`.
bool take(const std::uint8_t*& at, const std::uint8_t* end, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

/// As many numbers as `numbers` has room for, which are all that is before `end`.
bool takeAll(const std::uint8_t* at, const std::uint8_t* end, std::vector<std::uint64_t>& numbers) {
  std::uint64_t* out = numbers.data();
  std::uint64_t* const last = out + numbers.size();
  while (out != last) {
    if (last - out >= 8 && end - at >= 8) {  // mostly many are short
      std::uint64_t eight = 0;
      std::memcpy(&eight, at, 8);
      const std::uint64_t longer = eight & 0x8080808080808080U;
      const int many = longer == 0 ? 8 : std::countr_zero(longer) / 8;
      for (int i = 0; i < 8; ++i) {
        out[i] = at[i];  // more than there are is written over
      }
      at += many;
      out += many;
      if (many == 8) {
        continue;
      }
      if (end - at >= 2 && at[1] < 0x80) {
        *out++ = (at[0] & 0x7FU) | static_cast<std::uint64_t>(at[1]) << 7U;
        at += 2;
        continue;
      }
    }
    if (!take(at, end, *out++)) {
      return false;
    }
  }
  return at == end;
}

std::int64_t& slotOf(std::vector<std::int64_t>& slots, Rank slot) {
  const auto index = static_cast<std::size_t>(std::int64_t{slot} - kUnknownRank);
  if (index >= slots.size()) {
    slots.resize(index + 1);
  }
  return slots[index];
}

/// What zstd has made. Throws where memory is short.
template <typename Context>
Context* made(Context* context) {
  if (context == nullptr) {
    throw std::bad_alloc();
  }
  return context;
}

}  // namespace

void FreeZstd::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}
void FreeZstd::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

Bytes columnString(Bytes packed, std::size_t n) {
  for (;; --n) {
    const std::size_t size = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
    if (packed.empty() || ZSTD_isError(size) != 0) {
      return {};
    }
    if (n == 0) {
      return packed.first(size);
    }
    packed = packed.subspan(size);
  }
}

void ColumnEncoder::clear() {
  for (std::vector<std::int64_t>& slots : m_slots) {
    slots.clear();
  }
  m_last.fill(0);
  m_size = m_at = 0;
}

void ColumnEncoder::makeRoom() {
  constexpr std::size_t kFew = 64;
  const std::size_t room = std::max(2 * m_room, kFew);
  constexpr std::size_t kApart = 8;
  const std::size_t stride = room + kApart;
  std::vector<std::uint64_t> wider(kMostColumns * stride);
  for (std::size_t column = 0; column < kMostColumns && m_size != 0; ++column) {
    std::copy_n(m_numbers.data() + column * m_stride, m_size, wider.data() + column * stride);
  }
  m_numbers.swap(wider);
  m_room = room;
  m_stride = stride;
}

std::int64_t& ColumnEncoder::last(Rank slot) {
  return slotOf(m_slots[m_at], slot);
}

Result<Bytes> ColumnEncoder::finish() {
  // A column's numbers are written behind where its length will be at most.
  constexpr std::size_t kHead = 1 + kLongestNumber;
  m_raw.resize(
      std::max(m_raw.size(), 2 * kLongestNumber + m_at * (kHead + m_size * kLongestNumber)));
  std::uint8_t* end = append(append(m_raw.data(), m_size), m_at);
  for (std::size_t column = 0; column < m_at; ++column) {
    const auto values =
        std::span<const std::uint64_t>(m_numbers).subspan(column * m_stride, m_size);
    const bool constant = isConstant(values);
    std::uint8_t* const numbers = end + kHead;
    const auto bytes =
        static_cast<std::size_t>(appendAll(numbers, constant ? values.first(1) : values) - numbers);
    *end++ = constant ? kConstant : kNumbers;
    end = append(end, bytes);
    std::memmove(end, numbers, bytes);
    end += bytes;
  }
  const auto raw = static_cast<std::size_t>(end - m_raw.data());
  m_packed.resize(std::max(m_packed.size(), ZSTD_compressBound(raw)));
  if (m_zstd == nullptr) {
    m_zstd.reset(made(ZSTD_createCCtx()));
  }
  const std::size_t size =
      ZSTD_compressCCtx(m_zstd.get(), m_packed.data(), m_packed.size(), m_raw.data(), raw, kLevel);
  if (ZSTD_isError(size) != 0) {
    return Error{ErrorCode::Internal,
                 std::string("columns cannot be compressed: ") + ZSTD_getErrorName(size),
                 {}};
  }
  return Bytes(m_packed.data(), size);
}

Status ColumnDecoder::start(Bytes packed, std::size_t most, std::size_t ranks,
                            std::uint32_t wanted) {
  const Error wrong{ErrorCode::Damaged, "columns cannot be unpacked", {}};
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  const std::size_t longest =
      std::min(kLongestColumnString,
               (std::min(most, kLongestColumnString) + 3) * kLongestNumber * kMostColumns);
  if (size > longest) {  // also what zstd says where there is no size
    return wrong;
  }
  m_raw.resize(size);
  if (m_zstd == nullptr) {
    m_zstd.reset(made(ZSTD_createDCtx()));
  }
  if (ZSTD_decompressDCtx(m_zstd.get(), m_raw.data(), m_raw.size(), packed.data(), packed.size()) !=
      size) {
    return wrong;
  }
  m_last.fill(0);
  for (auto& slots : m_slots) {
    slots.clear();
  }
  m_ranks = ranks;
  m_at = 0;
  m_begun = 0;
  m_ok = parse(most, wanted);
  return m_ok ? Status() : Status(wrong);
}

bool ColumnDecoder::parse(std::size_t most, std::uint32_t wanted) {
  const std::uint8_t* at = m_raw.data();
  const std::uint8_t* const end = at + m_raw.size();
  std::uint64_t size = 0;
  std::uint64_t columns = 0;
  if (!take(at, end, size) || !take(at, end, columns) || columns > kMostColumns || size > most ||
      (columns == 0) != (size == 0)) {
    return false;
  }
  m_size = size;
  m_count = columns;
  m_columns.fill({&kZero, 0});
  for (std::size_t i = 0; i < m_count; ++i) {
    std::uint64_t bytes = 0;
    if (at == end || *at > kNumbers) {
      return false;
    }
    const bool constant = *at++ == kConstant;
    if (!take(at, end, bytes) || bytes > static_cast<std::uint64_t>(end - at) ||
        (!constant && bytes < size)) {  // a number takes a byte at least
      return false;
    }
    if ((wanted >> i & 1U) == 0) {
      at += bytes;
      continue;
    }
    std::vector<std::uint64_t>& numbers = m_numbers[i];
    numbers.resize(constant ? 1 : size);
    if (!takeAll(at, at + bytes, numbers)) {
      return false;
    }
    at += bytes;
    m_columns[i] = {numbers.data(), constant ? 0U : 1U};
  }
  return at == end;
}

/// A value more than there are.
void ColumnDecoder::endAll() {
  m_columns.fill({&kZero, 0});
  m_ok = false;
}

std::int64_t& ColumnDecoder::newSlot(Rank slot, std::size_t column) {
  m_ok = m_ok && slot >= kUnknownRank && std::int64_t{slot} < static_cast<std::int64_t>(m_ranks);
  return slotOf(m_slots[column], m_ok ? slot : kUnknownRank);
}

}  // namespace pf::db
