// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/log_syncer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <thread>

#include "replay_engine/base/synced_commits.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

/// The beginning of a log or of contents, where each commit leaves its mark (replay_engine/log_format: LogHeader,
/// PayloadHeader).
using Mark = std::array<char, 4096>;

bool sameMark(const Mark& mark, int file) {
  Mark now{};
  return ::pread(file, now.data(), now.size(), 0) > 0 && now == mark;
}

/// Leaves in the log, and in `mark` of it, which commit is on disk once the sync that follows is
/// done: all that this one speaks of was written before `mark` was read.
void noteCommit(Mark& mark, std::size_t turn, int file) {
  std::uint64_t commit = 0;
  std::memcpy(&commit, mark.data() + SyncedCommits::kCommitAt, sizeof commit);
  const std::size_t at = SyncedCommits::kAt + turn * sizeof commit;
  if (::pwrite(file, &commit, sizeof commit, static_cast<off_t>(at)) == sizeof commit) {
    std::memcpy(mark.data() + at, &commit, sizeof commit);
  }
}

/// A file is found after a power cut only if its name is on disk, too.
void syncNames(const std::string& path) {
  std::string directory = path;
  for (int level = 0; level < 2; ++level) {
    directory.resize(directory.rfind('/') == std::string::npos ? 0 : directory.rfind('/'));
    const UniqueFd names(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    static_cast<void>(names.valid() && ::fsync(names.get()) == 0);
  }
}

[[noreturn]] void syncForEver(const std::string& path, bool notesCommits) {
  UniqueFd file;
  Mark synced{};
  std::size_t turn = 0;  // of SyncedCommits
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (!file.valid()) {
      file.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
      if (!file.valid()) {
        continue;
      }
      syncNames(path);
    }
    if (!sameMark(synced, file.get())) {
      const ssize_t size = ::pread(file.get(), synced.data(), synced.size(), 0);
      if (notesCommits && size == static_cast<ssize_t>(synced.size())) {
        noteCommit(synced, turn, file.get());
      }
      // A disk that fails is the recorder's to tell.
      turn = ::fdatasync(file.get()) == 0 ? 1 - turn : turn;
    }
  }
}

void begin(const std::string& path, bool notesCommits) {
  try {
    std::thread(syncForEver, path, notesCommits).detach();
  } catch (const std::exception&) {  // no thread to be had: recorded all the same
  }
}

}  // namespace

void syncEverySecond(const std::string& path) {
  begin(path, true);
}

void syncContentsEverySecond(const std::string& path) {
  begin(path, false);
}

void syncNow(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  static_cast<void>(file.valid() && ::fdatasync(file.get()) == 0);
}

}  // namespace pf::agent
