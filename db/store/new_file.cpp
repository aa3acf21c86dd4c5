// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "db/schema/schema.h"
#include "db/store/journal.h"
#include "db/store/open_trace.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::db {
namespace {

constexpr int kMostTemporaries = 100;

Error cannotWrite(const std::string& path, int problem) {
  Error error = systemError("cannot write '" + path + "'", problem);
  error.advice = "Name a file in a directory that you may write to, on a disk with free space.";
  return error;
}

/// `path` with its directory made real, so that nothing in it is a link.
Result<std::string> realTarget(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::string directory =
      slash == std::string::npos ? "." : (slash == 0 ? std::string("/") : path.substr(0, slash));
  if (name.empty() || name == "." || name == "..") {
    return Error{ErrorCode::Usage, "'" + path + "' is no name for a file",
                 "Give a name such as run.pft."};
  }
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(directory.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) {
    return cannotWrite(path, errno);
  }
  struct stat info {};
  std::string target = std::string(real.get()) + "/" + name;
  if (::lstat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Error{ErrorCode::Usage, "'" + path + "' is there already and is no ordinary file",
                 "Give another name."};
  }
  return target;
}

/// Makes an empty file of a name that was free.
Result<std::string> makeTemporary(const std::string& path) {
  const std::string stem = path + ".tmp-" + std::to_string(::getpid());
  for (int attempt = 0; attempt < kMostTemporaries; ++attempt) {
    const std::string name = attempt == 0 ? stem : stem + "-" + std::to_string(attempt);
    const UniqueFd file(
        ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.valid()) {
      return name;
    }
    if (errno != EEXIST) {
      return cannotWrite(path, errno);
    }
  }
  return cannotWrite(path, EEXIST);
}

std::string directoryOf(const std::string& realPath) {
  return realPath.substr(0, realPath.rfind('/') + 1);
}

bool isTaken(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Error isThereAlready(const std::string& path) {
  return Error{ErrorCode::Usage, "'" + path + "' is there already", "Give another name."};
}

/// Of the file that has the name: it and its journal cannot go at the same moment, and neither is
/// of use without the other.
void undoInterruptedIn(const std::string& path) {
  if (sizeOfFile(journalOf(path)) > 0 && looksLikeTrace(path) &&
      originOf(path) != Origin::Foreign && checkJournal(path).ok()) {
    undoInterruptedWrite(path);
  }
}

Status force(const std::string& path, int flags) {
  const UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid() || ::fsync(file.get()) != 0) {
    return cannotWrite(path, errno);
  }
  return {};
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path, Existing existing) {
  Result<std::string> target = realTarget(path);
  if (!target) {
    return target.error();
  }
  if (existing == Existing::Refuse && isTaken(*target)) {
    return isThereAlready(path);
  }
  Result<std::string> temporary = makeTemporary(*target);
  if (!temporary) {
    return temporary.error();
  }
  NewFile file;
  file.m_existing = existing;
  file.m_path = std::move(target).value();
  file.m_temporary = std::move(temporary).value();
  if (Status status = file.prepare(); !status) {
    return status.error();
  }
  return file;
}

Status NewFile::prepare() {
  Result<Database> database = Database::open(m_temporary, Database::Access::Build);
  if (!database) {
    return database.error();
  }
  m_database = std::move(database).value();
  if (Status status = m_database.execute("BEGIN IMMEDIATE"); !status) {
    return status;
  }
  return createSchema(m_database);
}

NewFile::NewFile(NewFile&& other) noexcept
    : m_existing(other.m_existing),
      m_path(std::move(other.m_path)),
      m_kept(std::move(other.m_kept)),
      m_temporary(std::exchange(other.m_temporary, {})),
      m_database(std::move(other.m_database)) {}

NewFile::~NewFile() {
  if (!m_temporary.empty()) {
    m_database = Database();
    ::unlink(m_temporary.c_str());
  }
}

Status NewFile::publish() {
  if (Status status = m_database.execute("COMMIT"); !status) {
    return status;
  }
  if (Status status = m_database.close(); !status) {
    return status;
  }
  if (Status status = force(m_temporary, O_RDWR); !status) {
    return status;
  }
  if (Status status = takeName(); !status) {
    return status;
  }
  m_temporary.clear();
  return force(directoryOf(m_path), O_RDONLY | O_DIRECTORY);
}

Status NewFile::keepFormer() {
  if (!isTaken(m_path) || (m_existing == Existing::Replace && looksLikeTrace(m_path))) {
    return {};
  }
  Result<std::string> kept = keepUnderNumber(m_path);
  if (!kept) {
    return kept.error();
  }
  m_kept = std::move(kept).value();
  return force(directoryOf(m_path), O_RDONLY | O_DIRECTORY);
}

Status NewFile::takeName() {
  const std::string journal = journalOf(m_path);
  const bool hasJournal = isTaken(journal);
  if (m_existing != Existing::Refuse) {
    undoInterruptedIn(m_path);
    if (Status status = keepFormer(); !status) {
      return status;
    }
  } else if (isTaken(m_path)) {
    return isThereAlready(m_path);
  }
  // The journal of a file that is replaced here would be taken for one of the new file, also where
  // the disk has the new name, and has forgotten that the journal went before.
  if (::unlink(journal.c_str()) != 0 && errno != ENOENT) {
    return cannotWrite(journal, errno);
  }
  if (hasJournal) {
    if (Status status = force(directoryOf(m_path), O_RDONLY | O_DIRECTORY); !status) {
      return status;
    }
  }
  if (m_existing != Existing::Refuse) {
    return ::rename(m_temporary.c_str(), m_path.c_str()) == 0 ? Status()
                                                              : cannotWrite(m_path, errno);
  }
  if (::renameat2(AT_FDCWD, m_temporary.c_str(), AT_FDCWD, m_path.c_str(), RENAME_NOREPLACE) == 0 ||
      ((errno == EINVAL || errno == ENOSYS) &&
       ::rename(m_temporary.c_str(), m_path.c_str()) == 0)) {
    return {};
  }
  return errno == EEXIST ? isThereAlready(m_path) : cannotWrite(m_path, errno);
}

}  // namespace pf::db
