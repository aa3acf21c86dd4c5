// SPDX-License-Identifier: MIT
// What a rank received from ranks outside of its group, kept so that the group can be replayed alone: rank-N.payload, beside
// its log.
//
// Layout (little endian):
//   [0, 4096)   PayloadHeader, then zeros
//   [4096, …)   entries, one behind another: PayloadEntry, its content, zeros up to a multiple of 8
//
// The writer makes an entry count by one store of PayloadHeader::committed, once it is whole. So whatever kills the rank, a
// reader finds a prefix of whole entries. Offsets and sizes are counted from behind the header page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "replay_engine/base/crc32c.h"

namespace pf {

inline constexpr std::uint64_t kPayloadMagic = 0x00015941504E4650;  // "PFNPAY\1\0"
inline constexpr std::uint32_t kPayloadVersion = 1;
inline constexpr std::size_t kPayloadHeaderSize = 4096;
inline constexpr std::uint64_t kMostPayload = std::uint64_t{1}
                                              << 42;  ///< bytes behind the header that count

/// What a divergence says of a group that is replayed alone, where it is the group that cannot: what it expected, or how what
/// it got begins.
inline constexpr const char* kGroupCan = "what a group can do alone";
inline constexpr const char* kNotKept =
    "no more from ranks outside of the group: what followed could not be kept";
/// The same of contents that are damaged in the trace.
inline constexpr const char* kDamagedThere =
    "no more from ranks outside of the group: what follows is damaged";

enum class PayloadKind : std::uint16_t {
  None,          ///< no entry has it
  Message,       ///< a: source in its communicator, b: tag
  Probe,         ///< the same; content: u64, bytes of the message
  Collective,    ///< a: number of the call; content: what the rank has of it
  Communicator,  ///< a: number of the call; content: i32 words
  Failed,        ///< a call with ranks outside; a: its number, b: class of its error; no content
  Datatype,      ///< of later contents; a: its number, from 1 on; content: payload_types.h
  Mark,          ///< what followed could not be kept; a: errno; no content; the last entry
};
inline constexpr std::uint16_t kLastPayloadKind = static_cast<std::uint16_t>(PayloadKind::Mark);
inline constexpr std::uint16_t kMostPayloadTypes = 0xFFFF;  ///< that have a number

struct PayloadEntry {
  std::uint16_t kind;
  std::uint16_t
      type;  ///< number of the datatype of a message or collective; 0: not known, or several
  std::uint32_t crc;  ///< payloadCrc()
  std::int32_t a;
  std::int32_t b;
  std::uint64_t size;    ///< bytes of content
  std::uint64_t serial;  ///< event that received it; 0: logs without events
};
static_assert(sizeof(PayloadEntry) == 32);

struct PayloadHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerCrc;  ///< payloadHeaderCrc()
  std::uint64_t salt;       ///< of the run
  std::int32_t rank;
  std::int32_t size;

  // -- changing, each by one store
  alignas(64) std::atomic<std::uint64_t> committed;  ///< payloadCommit()
  std::atomic<std::uint64_t> failed;  ///< errno << 32 | ~errno once nothing more is kept
  std::atomic<std::uint64_t> clean;   ///< kPayloadMagic after MPI_Finalize
};
static_assert(sizeof(PayloadHeader) <= kPayloadHeaderSize);

[[nodiscard]] constexpr std::uint64_t payloadPadded(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

/// Seeds the checksum of the entry at `offset`: old bytes, and those of another rank, never pass for it.
[[nodiscard]] constexpr std::uint32_t payloadSeed(std::uint64_t salt, std::int32_t rank,
                                                  std::uint64_t offset) {
  std::uint64_t h =
      salt ^ (std::uint64_t{static_cast<std::uint32_t>(rank)} + 1) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ h >> 31 ^ offset) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(h >> 32);
}

/// The checksum of an entry: of its content, seeded (`ofContent`), then of its kind and type, and of what is behind `crc`.
[[nodiscard]] inline std::uint32_t payloadCrc(const PayloadEntry& entry, std::uint32_t ofContent) {
  constexpr std::size_t kBehind = offsetof(PayloadEntry, a);
  const std::uint32_t crc = crc32c(&entry.kind, sizeof entry.kind + sizeof entry.type, ofContent);
  return crc32c(&entry.a, sizeof entry - kBehind, crc);
}

/// What `committed` is for so many bytes (a multiple of 8, at most kMostPayload): in units of 8, under 24 bits of a check.
[[nodiscard]] constexpr std::uint64_t payloadCommit(std::uint64_t salt, std::uint64_t bytes) {
  const std::uint64_t units = bytes >> 3;
  const std::uint64_t check = (units + salt) * 0x9E3779B97F4A7C15ULL ^ 0x5A5A5AULL << 40;
  return (check & ~((std::uint64_t{1} << 40) - 1)) | units;
}
/// The bytes, or ~0 where it is no such word.
[[nodiscard]] constexpr std::uint64_t payloadCommitted(std::uint64_t salt, std::uint64_t word) {
  const std::uint64_t bytes = (word & ((std::uint64_t{1} << 40) - 1)) << 3;
  return bytes <= kMostPayload && payloadCommit(salt, bytes) == word ? bytes : ~std::uint64_t{0};
}

/// What `failed` is; 0: the word is none.
[[nodiscard]] constexpr std::uint64_t payloadFailed(std::int32_t error) {
  const auto number = static_cast<std::uint32_t>(error);
  return std::uint64_t{number} << 32 | ~number;
}
[[nodiscard]] constexpr std::int32_t payloadErrno(std::uint64_t failed) {
  const auto error = static_cast<std::int32_t>(failed >> 32);
  return failed != 0 && payloadFailed(error) == failed ? error : 0;
}

[[nodiscard]] inline std::uint32_t payloadHeaderCrc(const PayloadHeader& header) {
  return crc32c(&header.salt, offsetof(PayloadHeader, committed) - offsetof(PayloadHeader, salt));
}

/// Null, or what is wrong with the header of a file that should be this rank's (`size`: of MPI_COMM_WORLD).
[[nodiscard]] inline const char* wrongInPayload(const PayloadHeader& header, std::int32_t rank,
                                                std::int32_t size) {
  if (header.magic != kPayloadMagic) {
    return "it holds no contents of messages";
  }
  if (header.version != kPayloadVersion) {
    return "it is of another version of Photofinish";
  }
  const std::uint64_t clean = header.clean.load(std::memory_order_relaxed);
  const std::uint64_t failed = header.failed.load(std::memory_order_relaxed);
  if (header.headerCrc != payloadHeaderCrc(header) || (clean != 0 && clean != kPayloadMagic) ||
      (failed != 0 && failed != payloadFailed(payloadErrno(failed))) ||
      payloadCommitted(header.salt, header.committed.load(std::memory_order_acquire)) ==
          ~std::uint64_t{0}) {
    return "its header is damaged";
  }
  return header.rank == rank && header.size == size ? nullptr : "it is of another rank";
}

/// Whether an entry may be this, as far as its head tells: `left` bytes count from its beginning on.
[[nodiscard]] constexpr bool mayBePayload(const PayloadEntry& entry, std::uint64_t left) {
  return entry.kind >= 1 && entry.kind <= kLastPayloadKind && left >= sizeof entry &&
         entry.size <= left - sizeof entry && payloadPadded(entry.size) <= left - sizeof entry &&
         (entry.kind != kLastPayloadKind || entry.size == 0) &&
         (entry.type == 0 || entry.kind == static_cast<std::uint16_t>(PayloadKind::Message) ||
          entry.kind == static_cast<std::uint16_t>(PayloadKind::Collective));
}

}  // namespace pf
