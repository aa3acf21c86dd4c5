// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <span>

#include "db/former/former_format.h"
#include "db/schema/seal.h"
#include "db/sqlite/file_copy.h"
#include "db/store/open_trace.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::db {
namespace {

// sqlite.org/fileformat2.html, "The Rollback Journal": magic, number of records, nonce, pages of
// the file before, sector size, page size; then zeros to the end of the sector.
constexpr std::array<std::uint8_t, 8> kMagic{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
constexpr std::size_t kHeaderSize = 28;
constexpr std::size_t kSmallestSector =
    512;  // of Linux; others only where a disk is not power-safe

using Start = std::array<std::uint8_t, kSmallestSector>;

std::uint32_t wordAt(const Start& start, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = (word << 8) | start[offset + i];
  }
  return word;
}

bool isZero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// Of a journal's first bytes, as many as there are. Magic and number of records are zero until the
/// records have reached the disk; all is zero where only the file's new size did.
bool isOurHeader(const Start& start, std::size_t size) {
  const auto bytes = std::span(start).first(size);
  if (isZero(bytes)) {
    return true;
  }
  const auto magic = bytes.first(std::min(size, kMagic.size()));
  if (size < kHeaderSize ||
      !(isZero(magic) || std::equal(magic.begin(), magic.end(), kMagic.begin()))) {
    return false;
  }
  const std::uint32_t sector = wordAt(start, 20);
  return std::has_single_bit(sector) && sector >= kSmallestSector && sector <= 65536 &&
         wordAt(start, 24) == kPageSize && isZero(bytes.subspan(kHeaderSize));
}

/// A journal may end in the name of a "super-journal", a file that SQLite then deletes; ours never
/// do.
bool endsInAName(int file, std::int64_t size) {
  std::array<std::uint8_t, kMagic.size()> end{};
  const auto length = static_cast<std::int64_t>(end.size());
  return size >= 2 * length &&
         (::pread(file, end.data(), end.size(), size - length) != length || end == kMagic);
}

bool isOurs(const std::string& trace, int file) {
  struct stat info {};
  struct stat owned {};
  if (::fstat(file, &info) != 0 || ::stat(trace.c_str(), &owned) != 0 || !S_ISREG(info.st_mode) ||
      info.st_nlink > 1 || (info.st_uid != owned.st_uid && info.st_uid != ::geteuid())) {
    return false;
  }
  Start start{};
  const std::size_t size = std::min(static_cast<std::size_t>(info.st_size), start.size());
  return ::pread(file, start.data(), size, 0) == static_cast<ssize_t>(size) &&
         isOurHeader(start, size) && !endsInAName(file, info.st_size);
}

}  // namespace

std::string journalOf(const std::string& trace) {
  return trace + "-journal";
}

std::int64_t sizeOfFile(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? std::int64_t{info.st_size} : -1;
}

Status checkJournal(const std::string& trace) {
  const std::string journal = journalOf(trace);
  const UniqueFd file(::open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() && errno == EACCES) {
    return systemError("cannot read '" + journal + "'", EACCES);
  }
  if (sizeOfFile(journal) < 0 || (file.valid() && isOurs(trace, file.get()))) {
    return {};
  }
  return Error{ErrorCode::Damaged,
               "'" + journal + "' was not written by Photofinish for this trace",
               "Move it to another place and try again; whoever sent it may mean you harm."};
}

Result<Database> openInCopy(const std::string& trace, bool undo) {
  Result<PrivateCopy> copy = PrivateCopy::make(trace);
  if (!copy) {
    return copy.error();
  }
  if (Status status = undo ? undoInCopy(copy->path(), trace) : Status(); !status) {
    return status.error();
  }
  Result<Database> database = Database::open(copy->path(), Database::Access::Read);
  if (database.ok() && isFormerVersion(versionOf(*database))) {
    database = Result<Database>(Database());
    if (Status status = bringUpToDate(copy->path()); !status) {
      return status.error();
    }
    database = Database::open(copy->path(), Database::Access::Read);
  }
  if (database.ok()) {
    database->setPath(trace);  // stays open without its name
  }
  return database;
}

Status undoInCopy(const std::string& copy, const std::string& trace) {
  if (sizeOfFile(journalOf(trace)) <= 0) {
    return {};
  }
  Status status = copyFile(journalOf(trace), journalOf(copy));
  if (status.ok()) {
    status = checkJournal(copy);  // once more: it may have been another one since
  }
  if (status.ok()) {
    undoInterruptedWrite(copy);
  }
  ::unlink(journalOf(copy).c_str());
  return status;
}

void undoInterruptedWrite(const std::string& trace) {
  Result<Database> database = Database::open(trace, Database::Access::Update);
  if (database.ok()) {
    static_cast<void>(database->execute("SELECT count(*) FROM sqlite_schema"));
  }
}

}  // namespace pf::db
