// SPDX-License-Identifier: GPL-3.0-or-later
// pf_log_dump TRACE RANK, pf_log_dump LOG: the records of a rank's log, a line each. pf_log_dump --page: docs/log-format.md. Exit status: 0, or 2 where there is no such log, or it is damaged.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/log/record_text.h"

namespace {

using Bytes = std::vector<unsigned char>;

pf::Result<Bytes> logOf(const char* trace, pf::Rank rank) {
  pf::Result<pf::db::TraceStore> store =
      pf::db::TraceStore::open(trace, pf::db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Bytes log;
  const pf::Status read =
      store->logChunks(rank, [&](std::uint64_t /*ordinal*/, std::span<const unsigned char> chunk) {
        log.insert(log.end(), chunk.begin(), chunk.end());
        return pf::Status();
      });
  return read.ok() ? pf::Result<Bytes>(std::move(log)) : pf::Result<Bytes>(read.error());
}

pf::Result<Bytes> logIn(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--page") {
    std::fputs(pf::recordPage().c_str(), stdout);
    return 0;
  }
  if (argc != 2 && argc != 3) {
    std::fputs("usage: pf_log_dump TRACE RANK | LOG | --page\n", stderr);
    return 2;
  }
  const pf::Result<Bytes> log = argc == 3 ? logOf(argv[1], std::atoi(argv[2])) : logIn(argv[1]);
  const pf::Status status =
      log.ok() ? pf::printRecords(*log, [](const std::string& line) { std::puts(line.c_str()); })
               : pf::Status(log.error());
  if (!status) {
    std::fprintf(stderr, "pf_log_dump: %s\n", status.error().text().c_str());
    return 2;
  }
  return 0;
}
