// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a payload file. First byte 0: the rest is a whole file. Else they are entries under a header that is right;
// 2: the first entry's checksum is, too.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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
  if (!reader.open(kPath.c_str(), 0, 1, &why)) {
    ::unlink(kPath.c_str());
    return why == nullptr ? (std::abort(), 1) : 0;
  }
  const unsigned char* content = nullptr;
  std::uint64_t sum = 0;
  while (const pf::PayloadEntry* const entry = reader.next(&content)) {
    sum = pf::crc32c(content, entry->size, static_cast<std::uint32_t>(sum));
  }
  ::unlink(kPath.c_str());
  return reader.end() == pf::PayloadReader::End::No ? (std::abort(), 1) : 0;
}
