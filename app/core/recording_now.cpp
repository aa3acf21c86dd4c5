// What can be seen of a recording from outside, while it goes on.
#include "log_directory.h"
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <set>

#include "app/record.h"
#include "base/unique_fd.h"
#include "core/log_format.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

/// Grows with each event that the rank logs; 0 where it cannot be read.
std::uint64_t grownTo(const fs::path& log) {
  const UniqueFd fd(open(log.c_str(), O_RDONLY | O_CLOEXEC));
  std::uint64_t magic = 0;
  std::uint64_t serial = 0;
  std::uint64_t commit = 0;
  if (!fd.valid() ||
      pread(fd.get(), &magic, sizeof magic, offsetof(LogHeader, magic)) != sizeof magic ||
      magic != kLogMagic ||
      pread(fd.get(), &serial, sizeof serial, offsetof(LogHeader, serial)) != sizeof serial ||
      pread(fd.get(), &commit, sizeof commit, offsetof(LogHeader, commit)) != sizeof commit) {
    return 0;
  }
  return serial + commit;
}

bool isLog(const fs::path& file) {
  return file.filename().string().starts_with("rank-") && file.extension() == ".log";
}

}  // namespace

RecordingNow recordingNow(const std::string& trace) {
  const std::string logs = logDirectoryOf(trace);
  RecordingNow now;
  std::error_code error;
  // In this order: the trace is there before its logs go.
  now.logs = fs::is_regular_file(logs + "/run.json", error);
  now.trace = fs::is_regular_file(trace, error);
  if (!now.logs) {
    return now;
  }
  now.recorder = areLogsLocked(logs);
  for (fs::directory_iterator file(logs, error), end; !error && file != end;
       file.increment(error)) {
    now.grown += isLog(file->path()) ? grownTo(file->path()) : 0;
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
      if (open.ends_with(".d") && fs::is_regular_file(open + "/run.json", closed)) {
        traces.insert(open.substr(0, open.size() - 2));
      }
    }
  }
  return {traces.begin(), traces.end()};
}

}  // namespace pf::app
