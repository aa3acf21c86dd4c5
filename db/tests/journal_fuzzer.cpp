// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as the journal beside a trace, which is whole (first byte even) or in the middle of a
// change (odd); second byte odd: the bytes replace parts of the journal of that change, else they
// are the journal. Then opens for reading and for writing: no other file is touched, and no content
// that is not the trace's own is given out.
#include <sys/wait.h>

#include <array>
#include <cstdlib>

#include "db/sqlite/database.h"
#include "db/tests/patched.h"
#include "db/tests/sample.h"

namespace {

using pf::db::Directory;
using Bytes = std::vector<std::uint8_t>;

struct Interrupted {
  Bytes before;
  Bytes half;
  Bytes journal;
};

const Interrupted& interrupted() {
  static const Interrupted kMade = [] {
    Interrupted made;
    const Directory directory;
    const std::string path = directory.file("good.pft");
    const bool good = pf::db::writeContent(path, pf::db::smallContent()).ok();
    made.before = pf::db::readFile(path);
    const pid_t child = ::fork();
    if (child == 0) {
      auto database = pf::db::Database::open(path, pf::db::Database::Access::Update);
      const bool done = database.ok() &&
                        database
                            ->execute(
                                "PRAGMA cache_size=1; BEGIN IMMEDIATE; UPDATE "
                                "column_chunk SET crc32c = 99; UPDATE communicator SET name = 99")
                            .ok();
      ::_exit(done ? 0 : 1);
    }
    int status = -1;
    if (!good || ::waitpid(child, &status, 0) != child || status != 0) {
      std::abort();
    }
    made.half = pf::db::readFile(path);
    made.journal = pf::db::readFile(path + "-journal");
    return made;
  }();
  return kMade;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  static const Directory kDirectory;
  static const std::string kGood = pf::db::dump(pf::db::smallContent());
  const std::string path = kDirectory.file("a.pft");
  const std::string victim = kDirectory.file("v");
  const Interrupted& base = interrupted();
  const bool half = (data[0] & 1U) != 0;
  const bool patch = (data[1] & 1U) != 0;
  pf::db::writeFile(victim, {'x'});
  pf::db::writeFile(path + "-journal", patch ? pf::db::patched(base.journal, data + 2, size - 2)
                                             : Bytes(data + 2, data + size));
  for (const auto mode :
       {pf::db::TraceStore::Mode::ReadOnly, pf::db::TraceStore::Mode::ReadWrite}) {
    pf::db::writeFile(path, half ? base.half : base.before);
    static_cast<void>(pf::db::TraceStore::open(path, mode));
    const pf::Result<pf::db::Content> content = pf::db::readContent(path);
    if ((content.ok() && pf::db::dump(*content) != kGood) || !std::filesystem::exists(victim)) {
      std::abort();
    }
  }
  return 0;
}
