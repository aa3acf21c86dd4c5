// SPDX-License-Identifier: MIT
// Of which basic types the contents of a payload are: one entry for each datatype that some came with (payload_format.h).
//
// Content of such an entry: PayloadTypeHead, PayloadRun for each of its runs, the name. The runs are one round of the types in the
// order in which MPI packs them; contents are as many rounds as they have bytes for, the last one perhaps in part.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pf {

enum class BasicKind : std::uint8_t { Bytes, Char, Signed, Unsigned, Float, Complex, Logical };
inline constexpr std::uint8_t kLastBasicKind = static_cast<std::uint8_t>(BasicKind::Logical);

/// So many values of one type, one behind another.
struct PayloadRun {
  BasicKind kind;
  std::uint8_t size;  ///< bytes of a value
  std::uint16_t zero;
  std::uint32_t count;
  friend bool operator==(const PayloadRun&, const PayloadRun&) = default;
};
static_assert(sizeof(PayloadRun) == 8);

inline constexpr std::size_t kMostRuns = 64;  ///< of a round
inline constexpr std::size_t kMostTypeName = 63;

struct PayloadTypeHead {
  std::uint32_t runs;  ///< 0: it is too complex
  std::uint32_t name;  ///< bytes of it; 0: it has none
};

struct PayloadType {
  PayloadTypeHead head{};
  std::array<PayloadRun, kMostRuns> runs{};
  char name[kMostTypeName + 1] = {};

  [[nodiscard]] std::size_t size() const {
    return sizeof head + head.runs * sizeof(PayloadRun) + head.name;
  }
};
inline constexpr std::size_t kMostPayloadType =
    sizeof(PayloadTypeHead) + kMostRuns * sizeof(PayloadRun) + kMostTypeName;

/// A size that a basic type has.
[[nodiscard]] constexpr bool isBasicSize(std::uint8_t size) {
  return size != 0 && size <= 32 && (size & (size - 1)) == 0;
}

/// False: `content` is none. Nothing in it is believed.
[[nodiscard]] inline bool readPayloadType(const unsigned char* content, std::size_t size,
                                          PayloadType* type) {
  *type = {};
  if (size < sizeof type->head || size > kMostPayloadType) {
    return false;
  }
  std::memcpy(&type->head, content, sizeof type->head);
  const PayloadTypeHead head = type->head;
  if (head.runs > kMostRuns || head.name > kMostTypeName || type->size() != size) {
    *type = {};
    return false;
  }
  std::memcpy(type->runs.data(), content + sizeof head, head.runs * sizeof(PayloadRun));
  std::memcpy(type->name, content + sizeof head + head.runs * sizeof(PayloadRun), head.name);
  for (std::size_t i = 0; i < head.runs; ++i) {
    const PayloadRun& run = type->runs[i];
    if (static_cast<std::uint8_t>(run.kind) > kLastBasicKind || !isBasicSize(run.size) ||
        run.zero != 0 || run.count == 0) {
      *type = {};
      return false;
    }
  }
  return true;
}

}  // namespace pf
