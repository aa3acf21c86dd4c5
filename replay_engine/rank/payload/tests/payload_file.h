// SPDX-License-Identifier: GPL-3.0-or-later
// A payload file of a test, and what a reader gets of it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/payload/payload_reader.h"
#include "replay_engine/rank/payload/payload_writer.h"

namespace pf::test {

struct KeptEntry {
  PayloadKind kind = PayloadKind::None;
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::uint64_t serial = 0;
  std::string content;
  friend bool operator==(const KeptEntry&, const KeptEntry&) = default;
};

/// Bytes that tell where in which content they are.
inline std::string contentOf(std::size_t size, unsigned seed = 1) {
  std::string content(size, '\0');
  std::uint32_t state = seed * 2654435761U + 1;
  for (char& byte : content) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return content;
}

class PayloadFile : public testing::Test {
 protected:
  static constexpr std::int32_t kRank = 3;
  static constexpr std::int32_t kSize = 8;
  static constexpr std::uint64_t kSalt = 0x1234567890ABCDEF;

  PayloadFile() {
    std::string pattern = testing::TempDir() + "payload_XXXXXX";
    m_folder = ::mkdtemp(pattern.data());
  }
  ~PayloadFile() override {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name = "payload") const {
    return m_folder + "/" + name;
  }
  [[nodiscard]] bool open() { return writer.open(path().c_str(), kSalt, kRank, kSize); }

  void put(const KeptEntry& entry, std::size_t piece = ~std::size_t{0}) {
    writer.begin(entry.kind, entry.a, entry.b, entry.serial);
    for (std::size_t at = 0; at < entry.content.size(); at += piece) {
      const std::size_t n = std::min(piece, entry.content.size() - at);
      writer.add(entry.content.data() + at, n);
      if (n < piece) {
        break;
      }
    }
    writer.end();
  }

  /// Of this process, in KiB: mapped pages of files that are in memory.
  static std::size_t filePages() {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
      if (line.starts_with("RssFile:") || line.starts_with("RssShmem:")) {
        if (const auto kib = std::strtoul(line.c_str() + line.find(':') + 1, nullptr, 10);
            kib > 0) {
          return kib;
        }
      }
    }
    return 0;
  }

  /// All that a reader gets.
  static std::vector<KeptEntry> rest(PayloadReader& from) {
    std::vector<KeptEntry> entries;
    const unsigned char* content = nullptr;
    while (const PayloadEntry* const entry = from.next(&content)) {
      entries.push_back({static_cast<PayloadKind>(entry->kind), entry->a, entry->b, entry->serial,
                         std::string(reinterpret_cast<const char*>(content), entry->size)});
    }
    return entries;
  }
  [[nodiscard]] std::vector<KeptEntry> kept() {
    const char* why = "";
    EXPECT_TRUE(reader.open(path().c_str(), kRank, kSize, &why)) << why;
    return rest(reader);
  }

  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  PayloadWriter writer;
  PayloadReader reader;

 private:
  std::string m_folder;
};

}  // namespace pf::test
