// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of a rank as their bytes, made from records: the checksums are right whatever the records say.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/log/varint.h"
#include "replay_engine/log_format/log_format.h"

namespace pf {

using LogBytes = std::vector<unsigned char>;

/// A record: its kind, then numbers as varints.
inline LogBytes record(RecordKind kind, std::initializer_list<std::uint64_t> numbers = {}) {
  LogBytes bytes{static_cast<unsigned char>(kind)};
  for (const std::uint64_t number : numbers) {
    putVarint(bytes, number);
  }
  return bytes;
}

struct MadeLog {
  std::int32_t rank = 0;
  std::int32_t size = 1;
  bool events = true;
  bool clean = true;
};

inline LogHeader& headerOf(LogBytes& file) {
  return *reinterpret_cast<LogHeader*>(file.data());
}

/// Makes the checksum of the header right.
inline void sealHeader(LogBytes& file) {
  constexpr std::size_t kBegin = offsetof(LogHeader, salt);
  headerOf(file).headerCrc = crc32c(file.data() + kBegin, offsetof(LogHeader, commit) - kBegin);
}

/// `blocks`: records of each; all but the last are sealed by a trailer, that one by LogHeader::commit.
inline LogBytes makeLog(const MadeLog& made, const std::vector<LogBytes>& blocks) {
  constexpr std::uint64_t kSalt = 42;
  LogBytes file(kLogHeaderSize + (blocks.empty() ? 0 : blocks.size() - 1) * kLogBlockSize +
                (blocks.empty() ? 0 : blocks.back().size()));
  LogHeader& header = headerOf(file);
  header.magic = kLogMagic;
  header.version = kLogVersion;
  header.salt = kSalt;
  header.rank = made.rank;
  header.size = made.size;
  header.pid = 1;
  header.events = made.events ? 1 : 0;
  header.clean.store(made.clean ? kLogMagic : 0);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    unsigned char* const at = file.data() + kLogHeaderSize + block * kLogBlockSize;
    const std::size_t used = blocks[block].size();
    std::copy(blocks[block].begin(), blocks[block].end(), at);
    const std::uint32_t crc = crc32c(at, used, logBlockSeed(kSalt, block));
    if (block + 1 < blocks.size()) {
      const BlockTrailer trailer{static_cast<std::uint32_t>(used), crc};
      std::memcpy(at + kLogBlockData, &trailer, sizeof trailer);
    } else {
      header.commit.store(std::uint64_t{crc} << 32 | (block & 0xFFFFU) << 16 | used);
    }
  }
  sealHeader(file);
  return file;
}

/// The records one behind the other, in blocks.
inline LogBytes logOf(const MadeLog& made, const std::vector<LogBytes>& records) {
  std::vector<LogBytes> blocks(1);
  for (const LogBytes& each : records) {
    if (blocks.back().size() + kMaxRecord > kLogBlockData) {
      blocks.emplace_back();
    }
    blocks.back().insert(blocks.back().end(), each.begin(), each.end());
  }
  return makeLog(made, blocks);
}

}  // namespace pf
