// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/contents.h"

#include "replay_engine/log/record_reader.h"

namespace pf {
namespace {

struct Entry {
  std::uint64_t head = 0;  ///< contentsHead()
  std::uint32_t check = 0;
  std::uint64_t digest = 0;

  explicit Entry(RecordReader& in) : head(in.number()), check(in.number32()) {
    if (digested()) {
      digest = in.fixed64();
    }
  }
  [[nodiscard]] bool digested() const { return (head & 1U) != 0; }
  [[nodiscard]] bool known() const { return head != 0; }
};

bool differ(const Entry& a, const Entry& b) {
  return a.known() && b.known() &&
         (a.head >> 1 != b.head >> 1 || a.check != b.check ||
          (a.digested() && b.digested() && a.digest != b.digest));
}

}  // namespace

std::optional<std::size_t> firstOther(const std::vector<unsigned char>& a,
                                      const std::vector<unsigned char>& b) {
  RecordReader inA(a);
  RecordReader inB(b);
  for (std::size_t number = 0; !inA.atEnd() && !inB.atEnd(); ++number) {
    const Entry entryA(inA);
    const Entry entryB(inB);
    if (!inA.bad() && !inB.bad() && differ(entryA, entryB)) {
      return number;
    }
  }
  return std::nullopt;
}

std::vector<std::uint64_t> sizesOf(const std::vector<unsigned char>& contents) {
  std::vector<std::uint64_t> sizes;
  for (RecordReader in(contents); !in.atEnd();) {
    const Entry entry(in);
    if (!in.bad()) {
      sizes.push_back(entry.known() ? (entry.head >> 1) - 1 : ~std::uint64_t{0});
    }
  }
  return sizes;
}

}  // namespace pf
