// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/log_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "app/collation/log_files.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

UniqueFd openDirectory(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// The directory is made and removed under another name.
std::string unseenName(const std::string& path) {
  return path + ".part-XXXXXX";
}

/// Who makes a directory locks it at once, but not in the same moment.
bool isOld(const fs::path& directory) {
  constexpr std::time_t kOld = 10;
  struct stat info {};
  return ::lstat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && info.st_mtime + kOld < std::time(nullptr);
}

/// Removes what was left by those who were killed while they made, used or removed a directory of
/// this pattern.
void removeLeft(const std::string& pattern, bool (*isLeft)(const fs::path&)) {
  const std::string unseen = fs::path(pattern).filename().string();
  const std::string start = unseen.substr(0, unseen.find("XXXXXX"));
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(pattern).parent_path(), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() == unseen.size() && name.starts_with(start) && isLeft(entry->path()) &&
        lockLogs(entry->path().string()).valid()) {
      static_cast<void>(removeLogFiles(entry->path().string()));
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
      tell((holdsLogs(aside) ? "logs of an earlier recording that was not finished are kept in "
                             : "the directory that was there, which holds no logs, is kept as ") +
           aside);
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
  removeLeft(unseenName(path), [](const fs::path&) { return true; });
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
  const bool made = mkdtemp(unseen.data()) != nullptr;
  const bool moved = made && std::rename(path.c_str(), unseen.c_str()) == 0;
  if (made && !moved) {
    ::rmdir(unseen.c_str());
  }
  const std::string left = removeLogFiles(moved ? unseen : path);
  if (left.empty()) {
    return;
  }
  const bool back = !moved || std::rename(unseen.c_str(), path.c_str()) == 0;
  tell((back ? path : unseen) + " is not removed: it holds what is not of the recording, " + left);
}

Result<SurveyLogs> SurveyLogs::make(const std::string& trace) {
  const char* temporary = std::getenv("TMPDIR");
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string name = trace.substr(trace.find_last_of('/') + 1);
  int problem = 0;
  for (const std::string& place :
       {trace.substr(0, trace.size() - name.size()),
        std::string(temporary != nullptr && *temporary == '/' ? temporary : "/tmp"),
        std::string(runtime != nullptr ? runtime : "")}) {
    if (place.empty() || place.front() != '/') {
      continue;
    }
    std::string path = place + (place.ends_with('/') ? "" : "/") + name + ".survey-XXXXXX";
    removeLeft(path, isOld);
    if (::mkdtemp(path.data()) != nullptr) {
      UniqueFd lock = lockLogs(path);
      return SurveyLogs(std::move(path), std::move(lock));
    }
    problem = problem == 0 ? errno : problem;
  }
  Error error =
      systemError("cannot make a directory for what the survey of " + trace + " logs", problem);
  error.advice = "Set TMPDIR to a place that you may write to, with room for it.";
  return error;
}

SurveyLogs::~SurveyLogs() {
  std::error_code ignored;
  if (!m_path.empty()) {
    fs::remove_all(m_path, ignored);
  }
}

}  // namespace pf::app
