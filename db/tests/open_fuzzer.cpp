// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a trace: opens, reads and checks them. The input replaces parts of a good trace at
// the places that it names (two bytes of page, two of offset, one of length, then the bytes), or is
// a whole file.
#include <sys/mman.h>
#include <unistd.h>

#include "db/tests/patched.h"
#include "db/tests/sample.h"

namespace {

using pf::db::Directory;

const std::vector<std::uint8_t>& goodTrace() {
  static const std::vector<std::uint8_t> kBytes = [] {
    const Directory directory;
    if (!pf::db::writeContent(directory.file("good.pft"), pf::db::smallContent()).ok()) {
      std::abort();
    }
    return pf::db::readFile(directory.file("good.pft"));
  }();
  return kBytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Directory kDirectory;
  static const std::string kGood = pf::db::dump(pf::db::smallContent());
  const std::string path = kDirectory.file("fuzzed.pft");
  const bool whole = size > 0 && data[0] == 'S';
  pf::db::writeFile(path, whole ? std::vector<std::uint8_t>(data, data + size)
                                : pf::db::patched(goodTrace(), data, size));
  const pf::Result<pf::db::Content> content = pf::db::readContent(path);
  if (content.ok() && pf::db::dump(*content) != kGood) {
    std::abort();  // damage that was given out as good
  }
  return 0;
}
