// SPDX-License-Identifier: GPL-3.0-or-later
// Which bytes of a log count.
#include <algorithm>
#include <cstring>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/log/rank_log.h"

namespace pf {
namespace {

Error notALog(std::string why) {
  return Error{ErrorCode::Damaged, "not a log of a rank: " + std::move(why),
               "It was not written by Photofinish, or its beginning is lost."};
}

std::string blockName(std::uint64_t block) {
  return "block " + std::to_string(block);
}

/// A block of a log, and what a commit (replay_engine/log_format/log_format.h) tells of it.
struct Block {
  std::uint64_t number;
  std::uint32_t seed;
  std::span<const unsigned char> bytes;

  /// `used` is 0 where it is not sealed.
  [[nodiscard]] BlockTrailer trailer() const {
    BlockTrailer trailer{};
    if (bytes.size() == kLogBlockSize) {
      std::memcpy(&trailer, bytes.data() + kLogBlockData, sizeof trailer);
    }
    return trailer;
  }
  [[nodiscard]] bool isNamedBy(std::uint64_t commit) const {
    return ((commit >> 16) & 0xFFFFU) == (number & 0xFFFFU);
  }
  [[nodiscard]] bool verifies(std::uint64_t commit) const {
    const std::size_t used = commit & 0xFFFFU;
    return isNamedBy(commit) && used <= bytes.size() &&
           crc32c(bytes.data(), used, seed) == static_cast<std::uint32_t>(commit >> 32);
  }
  /// What is left of it if it does not verify as a whole: up to the last commit that does.
  [[nodiscard]] std::span<const unsigned char> rest(const LogHeader& header) const {
    std::size_t used = 0;
    for (const std::atomic<std::uint64_t>* commit :
         {&header.commit, &header.synced.words[0], &header.synced.words[1]}) {
      used =
          verifies(commit->load()) ? std::max<std::size_t>(used, commit->load() & 0xFFFFU) : used;
    }
    return bytes.first(used);
  }
};

/// Error unless `file` begins as a log that can be read.
Status checkHeader(std::span<const unsigned char> file) {
  if (file.size() < kLogHeaderSize) {
    return notALog("it has " + std::to_string(file.size()) + " bytes");
  }
  const auto* header = reinterpret_cast<const LogHeader*>(file.data());
  if (header->magic != kLogMagic) {
    return notALog("it does not begin as one");
  }
  if (header->version < kOldestLogVersion || header->version > kLogVersion) {
    return Error{
        ErrorCode::Version,
        "log version " + std::to_string(header->version) + " is not " + std::to_string(kLogVersion),
        "Use the Photofinish that recorded it."};
  }
  const std::size_t begin = offsetof(LogHeader, salt);
  if (header->headerCrc != crc32c(file.data() + begin, offsetof(LogHeader, commit) - begin)) {
    return notALog("its header is damaged");
  }
  return {};
}

/// The block that is not sealed, the last one as a rule.
void takeUnsealed(LogExtent& extent, const Block& part, const LogHeader& header) {
  const std::uint64_t commit = header.commit.load();
  if (!part.isNamedBy(commit)) {
    // Sealed just before the rank died, and nothing was written after; else blocks are missing.
    const bool justSealed =
        part.number > 0 && ((commit >> 16) & 0xFFFFU) == ((part.number - 1) & 0xFFFFU);
    if (justSealed || (commit == 0 && part.number == 0)) {
      return;
    }
    extent.damaged = true;
    extent.damage = blockName(part.number) +
                    " is not sealed, though later ones were written; what follows is lost";
  } else if (!part.verifies(commit)) {
    extent.damaged = true;
    extent.damage = "the last block (" + std::to_string(part.number) +
                    ") is damaged or cut short; its last records are lost";
  }
  extent.blocks.push_back(part.rest(header));
}

}  // namespace

Result<LogExtent> checkLog(std::span<const unsigned char> file) {
  if (Status begins = checkHeader(file); !begins) {
    return begins.error();
  }
  const auto* header = reinterpret_cast<const LogHeader*>(file.data());
  LogExtent extent;
  const std::uint64_t commit = header->commit.load();
  const std::uint64_t whole = (file.size() - kLogHeaderSize + kLogBlockSize - 1) / kLogBlockSize;
  for (std::uint64_t block = 0; block < whole; ++block) {
    const std::size_t offset = kLogHeaderSize + block * kLogBlockSize;
    const auto bytes = file.subspan(offset, std::min(kLogBlockSize, file.size() - offset));
    const Block part{block, logBlockSeed(header->salt, block), bytes};
    const BlockTrailer trailer = part.trailer();
    if (trailer.used == 0) {
      takeUnsealed(extent, part, *header);
      return extent;
    }
    if (trailer.used > kLogBlockData ||
        crc32c(bytes.data(), trailer.used, part.seed) != trailer.crc) {
      extent.damaged = true;
      extent.damage = blockName(block) + " of " + std::to_string(whole) +
                      " is damaged; its last records and what follows are lost";
      extent.blocks.push_back(part.rest(*header));
      return extent;
    }
    extent.blocks.push_back(bytes.first(trailer.used));
  }
  if (commit != 0 && ((commit >> 16) & 0xFFFFU) >= whole % 0x10000U && whole < 0x10000U) {
    extent.damaged = true;
    extent.damage = "the file was cut short after block " + std::to_string(whole);
  }
  return extent;
}

}  // namespace pf
