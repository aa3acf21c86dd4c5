#include "log_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace pf::app {
namespace fs = std::filesystem;
namespace {

UniqueFd openDirectory(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// The directory is made and removed under another name.
std::string unseenName(const std::string& path) {
  return path + ".part-XXXXXX";
}

/// What recorders left that were killed while they made or removed theirs.
void removeUnseen(const std::string& path) {
  const std::string unseen = fs::path(unseenName(path)).filename().string();
  const std::string start = unseen.substr(0, unseen.find("XXXXXX"));
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(path).parent_path(), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() == unseen.size() && name.starts_with(start) &&
        lockLogs(entry->path().string()).valid()) {
      std::error_code ignored;
      fs::remove_all(entry->path(), ignored);
    }
  }
}

Error cannotMake(const std::string& path, int code) {
  Error error = systemError("cannot make the directory for the logs, " + path, code);
  error.advice = "Give another place with -o FILE.";
  return error;
}

Status keepAside(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return {};
  }
  if (areLogsLocked(path)) {
    return Error{ErrorCode::Usage, "a recording that goes on has its logs in " + path,
                 "Wait until it has ended, or give another place with -o FILE."};
  }
  for (int i = 1;; ++i) {
    const std::string aside = path + ".old-" + std::to_string(i);
    if (!fs::exists(aside, error)) {
      if (std::rename(path.c_str(), aside.c_str()) != 0) {
        return cannotMake(path, errno);
      }
      std::fprintf(stderr,
                   "photofinish: logs of an earlier recording that was not finished are kept in "
                   "%s\n",
                   aside.c_str());
      return {};
    }
  }
}

}  // namespace

UniqueFd lockLogs(const std::string& path) {
  UniqueFd fd = openDirectory(path);
  if (fd.valid() && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    fd.reset();
  }
  return fd;
}

bool areLogsLocked(const std::string& path) {
  const UniqueFd fd = openDirectory(path);
  return fd.valid() && flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

Result<UniqueFd> beginLogs(const std::string& path, const RunFacts& facts) {
  removeUnseen(path);
  if (Status status = keepAside(path); !status) {
    return status.error();
  }
  std::string unseen = unseenName(path);
  if (mkdtemp(unseen.data()) == nullptr) {
    return cannotMake(path, errno);
  }
  UniqueFd lock = lockLogs(unseen);
  std::error_code ignored;
  if (Status status = writeFacts(unseen, facts); !status) {
    fs::remove_all(unseen, ignored);
    return status.error();
  }
  if (std::rename(unseen.c_str(), path.c_str()) != 0) {
    const int code = errno;
    fs::remove_all(unseen, ignored);
    return cannotMake(path, code);
  }
  return lock;
}

void endLogs(const std::string& path) {
  std::string unseen = unseenName(path);
  const bool moved =
      mkdtemp(unseen.data()) != nullptr && std::rename(path.c_str(), unseen.c_str()) == 0;
  std::error_code ignored;
  fs::remove_all(moved ? unseen : path, ignored);
}

}  // namespace pf::app
