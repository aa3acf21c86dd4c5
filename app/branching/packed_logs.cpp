// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/packed_logs.h"

#include <zstd.h>

#include <cstring>

namespace pf::app {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr int kLevel = 3;

const Error kDamaged{ErrorCode::Damaged, "the logs of a run in it are damaged",
                     "Explore the program anew."};

void put(std::vector<unsigned char>& to, std::uint64_t value) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

bool take(std::span<const unsigned char>& from, std::uint64_t& value) {
  if (from.size() < sizeof value) {
    return false;
  }
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
  return true;
}

}  // namespace

std::vector<unsigned char> packLogs(const LogFiles& logs) {
  std::vector<unsigned char> plain;
  for (const auto& [rank, bytes] : logs) {
    put(plain, static_cast<std::uint64_t>(rank));
    put(plain, bytes.size());
    plain.insert(plain.end(), bytes.begin(), bytes.end());
  }
  std::vector<unsigned char> packed(ZSTD_compressBound(plain.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kLevel);
  packed.resize(ZSTD_isError(size) != 0U ? 0 : size);
  return packed;
}

Result<LogFiles> unpackLogs(std::span<const unsigned char> packed) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostBytes) {
    return kDamaged;
  }
  std::vector<unsigned char> plain(size);
  if (ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size()) != size) {
    return kDamaged;
  }
  LogFiles logs;
  std::span<const unsigned char> rest(plain);
  while (!rest.empty()) {
    std::uint64_t rank = 0;
    std::uint64_t length = 0;
    if (!take(rest, rank) || !take(rest, length) || length > rest.size() || rank > INT32_MAX) {
      return kDamaged;
    }
    logs[static_cast<Rank>(rank)].assign(rest.begin(),
                                         rest.begin() + static_cast<std::ptrdiff_t>(length));
    rest = rest.subspan(length);
  }
  return logs;
}

}  // namespace pf::app
