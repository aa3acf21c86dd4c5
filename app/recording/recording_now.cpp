// SPDX-License-Identifier: GPL-3.0-or-later
// What can be seen of a recording from outside, while it goes on.
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <set>

#include "app/collation/log_files.h"
#include "app/recording/log_directory.h"
#include "app/recording/record.h"
#include "replay_engine/log_format/log_format.h"
#include "replay_engine/log_format/payload_format.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

/// Bytes of blocks that the rank has logged. Its commit tells the block's number modulo 2^16, and a checksum that is no
/// amount (LogHeader::commit); the file is at most some blocks longer.
std::uint64_t bytesLogged(std::uint64_t commit, std::uint64_t fileSize) {
  constexpr std::uint64_t kNumbers = 1 << 16;
  const std::uint64_t used = commit & 0xFFFFU;
  std::uint64_t block = commit >> 16 & 0xFFFFU;
  const std::uint64_t blocks =
      fileSize > kLogHeaderSize ? (fileSize - kLogHeaderSize) / kLogBlockSize : 0;
  if (blocks > block + 1) {
    block += (blocks - 1 - block) / kNumbers * kNumbers;
  }
  return block * kLogBlockSize + used;
}

/// Grows with each event that the rank logs; 0 where it cannot be read.
std::uint64_t grownTo(const std::string& logs, const std::string& name) {
  const Result<UniqueFd> file = openInLogs(logs, name);
  const int fd = file ? file->get() : -1;
  std::uint64_t magic = 0;
  std::uint64_t serial = 0;
  std::uint64_t commit = 0;
  struct stat info {};
  if (pread(fd, &magic, sizeof magic, offsetof(LogHeader, magic)) != sizeof magic ||
      magic != kLogMagic ||
      pread(fd, &serial, sizeof serial, offsetof(LogHeader, serial)) != sizeof serial ||
      pread(fd, &commit, sizeof commit, offsetof(LogHeader, commit)) != sizeof commit ||
      ::fstat(fd, &info) != 0) {
    return 0;
  }
  return serial + bytesLogged(commit, static_cast<std::uint64_t>(info.st_size));
}

/// Bytes of contents from outside of its group that the rank has kept; 0 where it cannot be read.
std::uint64_t contentsKept(const std::string& logs, const std::string& name) {
  const Result<UniqueFd> file = openInLogs(logs, name);
  const int fd = file ? file->get() : -1;
  std::uint64_t magic = 0;
  std::uint64_t salt = 0;
  std::uint64_t commit = 0;
  if (pread(fd, &magic, sizeof magic, offsetof(PayloadHeader, magic)) != sizeof magic ||
      magic != kPayloadMagic ||
      pread(fd, &salt, sizeof salt, offsetof(PayloadHeader, salt)) != sizeof salt ||
      pread(fd, &commit, sizeof commit, offsetof(PayloadHeader, committed)) != sizeof commit) {
    return 0;
  }
  const std::uint64_t bytes = payloadCommitted(salt, commit);
  return bytes != ~std::uint64_t{0} ? bytes : 0;
}

bool hasFacts(const std::string& logs) {
  std::error_code error;
  return isNoLink(logs).ok() &&
         fs::symlink_status(logs + "/run.json", error).type() == fs::file_type::regular;
}

}  // namespace

RecordingNow recordingNow(const std::string& trace) {
  const std::string logs = logDirectoryOf(trace);
  RecordingNow now;
  std::error_code error;
  // In this order: the trace is there before its logs go.
  now.logs = hasFacts(logs);
  now.trace = fs::is_regular_file(trace, error);
  if (!now.logs) {
    return now;
  }
  now.recorder = areLogsLocked(logs);
  for (fs::directory_iterator file(logs, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    now.grown += rankOfLog(name)       ? grownTo(logs, name)
                 : rankOfPayload(name) ? contentsKept(logs, name)
                                       : 0;
  }
  return now;
}

std::vector<std::string> recordingsThatGoOn() {
  std::set<std::string> traces;
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end;
       process.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(process->path() / "exe", gone).filename() != "photofinish") {
      continue;
    }
    // A recorder has the directory of its logs open.
    for (fs::directory_iterator file(process->path() / "fd", gone), last; !gone && file != last;
         file.increment(gone)) {
      std::error_code closed;
      const std::string open = fs::read_symlink(file->path(), closed).string();
      if (open.ends_with(".d") && hasFacts(open)) {
        traces.insert(open.substr(0, open.size() - 2));
      }
    }
  }
  return {traces.begin(), traces.end()};
}

}  // namespace pf::app
