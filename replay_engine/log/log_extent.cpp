// Which bytes of a log count.
#include <cstring>

#include "base/crc32c.h"
#include "log/rank_log.h"

namespace pf {
namespace {

Error notALog(std::string why) {
  return Error{ErrorCode::Damaged, "not a log of a rank: " + std::move(why), "It was not written by Photofinish, or its beginning is lost."};
}

std::string blockName(std::uint64_t block) { return "block " + std::to_string(block); }

}  // namespace

Result<LogExtent> checkLog(std::span<const unsigned char> file) {
  if (file.size() < kLogHeaderSize) {
    return notALog("it has " + std::to_string(file.size()) + " bytes");
  }
  const auto* header = reinterpret_cast<const LogHeader*>(file.data());
  if (header->magic != kLogMagic) {
    return notALog("it does not begin as one");
  }
  if (header->version < kOldestLogVersion || header->version > kLogVersion) {
    return Error{ErrorCode::Version, "log version " + std::to_string(header->version) + " is not " + std::to_string(kLogVersion),
                 "Use the Photofinish that recorded it."};
  }
  const std::size_t begin = offsetof(LogHeader, salt);
  if (header->headerCrc != crc32c(file.data() + begin, offsetof(LogHeader, commit) - begin)) {
    return notALog("its header is damaged");
  }
  LogExtent extent;
  const std::uint64_t commit = header->commit.load();
  const std::uint64_t whole = (file.size() - kLogHeaderSize + kLogBlockSize - 1) / kLogBlockSize;
  for (std::uint64_t block = 0; block < whole; ++block) {
    const std::size_t offset = kLogHeaderSize + block * kLogBlockSize;
    const auto bytes = file.subspan(offset, std::min(kLogBlockSize, file.size() - offset));
    const std::uint32_t seed = logBlockSeed(header->salt, block);
    BlockTrailer trailer{};
    if (bytes.size() == kLogBlockSize) {
      std::memcpy(&trailer, bytes.data() + kLogBlockData, sizeof trailer);
    }
    if (trailer.used != 0) {
      if (trailer.used > kLogBlockData || crc32c(bytes.data(), trailer.used, seed) != trailer.crc) {
        extent.damaged = true;
        extent.damage = blockName(block) + " of " + std::to_string(whole) + " is damaged; it and what follows is lost";
        return extent;
      }
      extent.blocks.push_back(bytes.first(trailer.used));
      continue;
    }
    const auto used = static_cast<std::uint32_t>(commit & 0xFFFFU);
    const bool open = ((commit >> 16) & 0xFFFFU) == (block & 0xFFFFU);
    if (!open) {
      // Sealed just before the rank died, and nothing was written after; else blocks are missing.
      const bool justSealed = block > 0 && ((commit >> 16) & 0xFFFFU) == ((block - 1) & 0xFFFFU);
      if (!justSealed && (commit != 0 || block != 0)) {
        extent.damaged = true;
        extent.damage = blockName(block) + " is not sealed, though later ones were written; what follows is lost";
      }
      return extent;
    }
    if (used > bytes.size() || crc32c(bytes.data(), used, seed) != static_cast<std::uint32_t>(commit >> 32)) {
      extent.damaged = true;
      extent.damage = "the last block (" + std::to_string(block) + ") is damaged or cut short; its records are lost";
      return extent;
    }
    extent.blocks.push_back(bytes.first(used));
    return extent;
  }
  if (commit != 0 && ((commit >> 16) & 0xFFFFU) >= whole % 0x10000U && whole < 0x10000U) {
    extent.damaged = true;
    extent.damage = "the file was cut short after block " + std::to_string(whole);
  }
  return extent;
}

}  // namespace pf
