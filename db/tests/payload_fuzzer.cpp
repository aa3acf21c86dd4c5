// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a payload file, for a rank that reads it and for who makes a trace of it. First byte 0: the rest is a whole
// file. Else they are entries under a header that is right; 2: the first entry's checksum is, too.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "db/payload/payload_scan.h"
#include "replay_engine/log_format/payload_types.h"
#include "replay_engine/rank/payload/payload_reader.h"

namespace {

constexpr std::uint64_t kSalt = 42;

std::vector<unsigned char> fileOf(const std::uint8_t* data, std::size_t size) {
  if (data[0] == 0) {
    return {data + 1, data + size};
  }
  std::vector<unsigned char> file(pf::kPayloadHeaderSize);
  file.insert(file.end(), data + 1, data + size);
  auto& header = *reinterpret_cast<pf::PayloadHeader*>(file.data());
  header.magic = pf::kPayloadMagic;
  header.version = pf::kPayloadVersion;
  header.salt = kSalt;
  header.size = 1;
  header.headerCrc = pf::payloadHeaderCrc(header);
  header.committed = pf::payloadCommit(kSalt, (size - 1) & ~std::size_t{7});
  if (data[0] == 2 && size > sizeof(pf::PayloadEntry)) {
    auto& entry = *reinterpret_cast<pf::PayloadEntry*>(file.data() + pf::kPayloadHeaderSize);
    if (pf::mayBePayload(entry, size - 1)) {
      entry.crc =
          pf::payloadCrc(entry, pf::crc32c(&entry + 1, entry.size, pf::payloadSeed(kSalt, 0, 0)));
    }
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::vector<unsigned char> file = fileOf(data, size);
  static const std::string kPath = "/tmp/payload_fuzzer." + std::to_string(::getpid());
  const int out = ::open(kPath.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0 || ::write(out, file.data(), file.size()) != static_cast<ssize_t>(file.size())) {
    std::abort();
  }
  ::close(out);
  pf::PayloadReader reader;
  const char* why = nullptr;
  const bool opened = reader.open(kPath.c_str(), 0, 1, &why);
  ::unlink(kPath.c_str());
  if (!opened) {
    return why == nullptr ? (std::abort(), 1) : 0;
  }
  const unsigned char* content = nullptr;
  std::uint64_t entries = 0;
  std::uint64_t read = 0;  // each byte, for the sanitizer
  while (const pf::PayloadEntry* const entry = reader.next(&content)) {
    read += pf::crc32c(content, entry->size);
    ++entries;
  }
  const auto& header = *reinterpret_cast<const pf::PayloadHeader*>(file.data());
  const std::uint64_t total = pf::payloadCommitted(header.salt, header.committed);
  pf::db::PayloadScan scan(header.salt, 0, total);
  scan.look([](const pf::PayloadEntry&) { return pf::kMostPayloadType + 1; },
            [&read](const pf::PayloadEntry&, pf::db::Bytes bytes) {
              pf::PayloadType type;  // of any entry
              if (pf::readPayloadType(bytes.data(), bytes.size(), &type)) {
                for (std::size_t i = 0; i < type.head.runs; ++i) {
                  read += type.runs.at(i).count;
                }
              }
            });
  std::span<const unsigned char> rest(file);
  rest = rest.subspan(pf::kPayloadHeaderSize);
  rest = rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), total)));
  for (std::size_t piece = 1 + size % 50; !rest.empty();) {
    const auto part = rest.first(std::min(piece, rest.size()));
    if (!scan.feed(part)) {
      break;
    }
    rest = rest.subspan(part.size());
  }
  const std::uint64_t mark = scan.mark() ? sizeof(pf::PayloadEntry) : 0;
  if (reader.end() == pf::PayloadReader::End::No || entries != scan.entries() ||
      reader.offset() + mark != scan.good()) {
    std::abort();  // both see the same
  }
  return read == 1 && entries == 0 ? 1 : 0;
}
