// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the log of a rank.
#include "replay_engine/log/rank_log.h"

#include "replay_engine/log/decoder.h"

namespace pf {

Result<RankLog> readLog(std::span<const unsigned char> file, bool contents) {
  Result<LogExtent> extent = checkLog(file);
  if (!extent) {
    return extent.error();
  }
  const auto& header = *reinterpret_cast<const LogHeader*>(file.data());
  Decoder decoder(header, extent->blocks, contents);
  if (extent->damaged) {
    decoder.log.cut = extent->damage;
  }
  decoder.reserve();
  for (std::size_t block = 0; block < extent->blocks.size(); ++block) {
    const auto bytes = extent->blocks[block];
    decoder.log.bytes += bytes.size();
    RecordReader in(bytes);
    while (!in.atEnd()) {
      if (!decoder.record(in)) {
        decoder.log.cut =
            decoder.refusal() + " in block " + std::to_string(block) + "; what follows is lost";
        decoder.finish();
        return std::move(decoder.log);
      }
    }
  }
  // A log that could not grow is clean and has no end, either: finish() says so.
  if (header.clean.load() == kLogMagic && header.failed.load() == 0 && !decoder.sawEnd &&
      decoder.log.cut.empty()) {
    decoder.log.cut = "the end of the log is missing";
  }
  decoder.finish();
  return std::move(decoder.log);
}

}  // namespace pf
