// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/open_trace.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "db/former/former_format.h"
#include "db/schema/schema.h"
#include "db/schema/seal.h"
#include "db/store/journal.h"

namespace pf::db {
namespace {

using Header = std::array<std::uint8_t, 100>;

std::uint32_t wordAt(const Header& header, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = (word << 8) | header[offset + i];
  }
  return word;
}

Error notOurs(const std::string& path) {
  return Error{ErrorCode::Damaged, "'" + path + "' is not a Photofinish trace",
               "Name a file that 'photofinish record' has written."};
}

Result<Header> readHeader(Database& database) {
  Header header{};
  if (Status status = database.readStart(header); !status) {
    return status.error();
  }
  return header;
}

Status checkJournalMode(const Header& header, const std::string& path) {
  if (header[18] == 2 || header[19] == 2) {
    return Error{ErrorCode::Damaged, "'" + path + "' was switched to another journal mode",
                 "Run: sqlite3 '" + path + "' 'PRAGMA journal_mode=DELETE'"};
  }
  return {};
}

Status checkLayout(Database& database) {
  const Result<Header> header = readHeader(database);
  if (!header) {
    return header.error();
  }
  if (Status status = checkJournalMode(*header, database.path()); !status) {
    return status;
  }
  // page size 4096; rollback journal; no reserved bytes; fixed fractions
  constexpr std::array<std::uint8_t, 8> kLayout{0x10, 0x00, 1, 1, 0, 64, 32, 32};
  bool good = true;
  for (std::size_t i = 0; i < kLayout.size(); ++i) {
    good = good && (*header)[16 + i] == kLayout[i];
  }
  constexpr std::uint32_t kSchemaFormat = 4;
  constexpr std::uint32_t kUtf8 = 1;
  good = good && wordAt(*header, 44) == kSchemaFormat && wordAt(*header, 52) == 0 &&
         wordAt(*header, 56) == kUtf8;
  if (!good) {
    return Error{ErrorCode::Damaged, "the header of '" + database.path() + "' is damaged",
                 kSeeCheck};
  }
  return {};
}

/// A lock must be held, or no writer be there.
Status checkSize(Database& database) {
  const Result<Header> header = readHeader(database);
  if (!header) {
    return header.error();
  }
  const Result<std::int64_t> size = database.fileSize();
  if (!size) {
    return size.error();
  }
  const std::int64_t expected = std::int64_t{wordAt(*header, 28)} * kPageSize;
  if (*size != expected) {
    return Error{ErrorCode::Damaged,
                 "'" + database.path() + "' is " +
                     (*size < expected ? "cut short: " : "too long: ") + std::to_string(*size) +
                     " bytes instead of " + std::to_string(expected),
                 kSeeCheck};
  }
  if (wordAt(*header, 24) !=
      wordAt(*header, 92)) {  // change counter, and what the page count is valid for
    return Error{ErrorCode::Damaged, "the header of '" + database.path() + "' is damaged",
                 kSeeCheck};
  }
  return {};
}

Status checkBeside(const std::string& path) {
  if (sizeOfFile(path + "-wal") >= 0) {
    return Error{ErrorCode::Damaged, "'" + path + "-wal' is not part of a trace",
                 "If another program opened the trace, run: sqlite3 '" + path +
                     "' 'PRAGMA journal_mode=DELETE'"};
  }
  return checkJournal(path);
}

bool isOfOurs(std::uint32_t version) {
  return version == kFormatVersion || isFormerVersion(version);
}

/// Before the header is believed: what a dead writer left half done is undone, in the file only if
/// it is to be written anyway. What is left by a writer that lives is its own business.
Status undoInterrupted(Database& database, Database::Access access) {
  const std::string path = database.path();
  if (sizeOfFile(journalOf(path)) <= 0 || !isOfOurs(versionOf(database))) {
    return {};
  }
  if (access == Database::Access::Update) {
    undoInterruptedWrite(path);
    return {};
  }
  Result<Database> undone = Database();
  Status status = withoutWriters(database, [&] {
    undone = openInCopy(path);
    return undone ? Status() : Status(undone.error());
  });
  if (status.ok() && undone->handle() != nullptr) {
    database = std::move(*undone);
  }
  return status;
}

/// A trace of a former format, brought up to date: for reading a copy that nobody else sees where
/// the file itself cannot be written.
Result<Database> openFormer(const std::string& path, Database::Access access) {
  const Status status = bringUpToDate(path);
  if (status.ok()) {
    return Database::open(path, access);
  }
  if (status.error().code == ErrorCode::Damaged || access != Database::Access::Read ||
      sizeOfFile(journalOf(path)) > 0) {
    return status.error();
  }
  Result<Database> database = openInCopy(path);
  return database ? std::move(database) : Result<Database>(status.error());
}

/// The same for a foreign trace: nothing is done in its place.
Result<Database> openForeign(const std::string& path) {
  Result<Database> database = openAlone(path);
  if (!database || !isFormerVersion(versionOf(*database))) {
    return database;
  }
  database = Result<Database>(Database());
  return openInCopy(path, false);
}

/// Of a trace of one's own.
Result<Database> openOwn(const std::string& path, Database::Access access) {
  if (Status status = checkBeside(path); !status) {
    return status.error();
  }
  Result<Database> database = Database::open(path, access);
  if (!database) {
    return database;
  }
  if (Status status = undoInterrupted(*database, access); !status) {
    return status.error();
  }
  if (isFormerVersion(versionOf(*database))) {
    const Result<Header> header = readHeader(*database);
    const Status mode = header ? checkJournalMode(*header, path) : Status(header.error());
    database = Result<Database>(Database());
    database = mode ? openFormer(path, access) : Result<Database>(mode.error());
  }
  return database;
}

Status checkContents(Database& database) {
  Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Read);
  if (!transaction) {
    return transaction.error();
  }
  Status schema = checkSchema(database);
  if (Status size = checkSize(database);
      !size && (schema.ok() || schema.error().code == ErrorCode::Damaged)) {
    return size;
  }
  return schema.ok() ? checkSeals(database) : schema;
}

}  // namespace

Result<std::string> locateTrace(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) {
    const int problem = errno;
    if (problem == ENOENT || problem == ENOTDIR) {
      return Error{ErrorCode::NotFound, "there is no file '" + path + "'",
                   "Check the name; 'photofinish record' says where it writes."};
    }
    return systemError("cannot open '" + path + "'", problem);
  }
  struct stat info {};
  if (::stat(real.get(), &info) != 0) {
    return systemError("cannot open '" + path + "'", errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::Damaged,
                 "'" + path + "' is not a regular file, so it is no Photofinish trace",
                 "Name a file that 'photofinish record' has written."};
  }
  return std::string(real.get());
}

Status checkIdentity(Database& database) {
  const Result<Header> header = readHeader(database);
  if (!header) {
    return header.error();
  }
  constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
  for (std::size_t i = 0; i < kSqliteMagic.size(); ++i) {
    if ((*header)[i] != static_cast<std::uint8_t>(kSqliteMagic[i])) {
      return notOurs(database.path());
    }
  }
  if (wordAt(*header, 68) != kApplicationId) {
    return notOurs(database.path());
  }
  if (const std::uint32_t version = wordAt(*header, 60); version != kFormatVersion) {
    return Error{ErrorCode::Version,
                 "'" + database.path() + "' has trace format " + std::to_string(version) +
                     "; this Photofinish reads format " + std::to_string(kFormatVersion),
                 whoReads(version)};
  }
  return {};
}

Status checkTables(Database& database) {
  return checkSchema(database);
}

std::uint32_t versionOf(Database& database) {
  const Result<Header> header = readHeader(database);
  return header && wordAt(*header, 68) == kApplicationId ? wordAt(*header, 60) : 0;
}

Result<Database> openTrace(const std::string& path, Database::Access access,
                           std::optional<Origin> known) {
  const Result<std::string> real = locateTrace(path);
  if (!real) {
    return real.error();
  }
  const bool foreign = (known ? *known : originOf(*real)) == Origin::Foreign;
  Result<Database> database = foreign ? openForeign(*real) : openOwn(*real, access);
  if (!database) {
    return database;
  }
  const Result<std::int64_t> size = database->fileSize();
  if (!size) {
    return size.error();
  }
  database->setDeadline(readBudget(*size));
  for (Status (*check)(Database&) : {&checkIdentity, &checkLayout}) {
    if (Status status = check(*database); !status) {
      return status.error();
    }
  }
  if (Status status = checkContents(*database); !status) {
    return status.error();
  }
  database->setDeadline({});
  if (foreign && access != Database::Access::Read) {
    return Error{ErrorCode::Usage,
                 "'" + path + "' is the trace of somebody else: it is opened for reading only",
                 "Take it over with --trust, and it is yours."};
  }
  return database;
}

}  // namespace pf::db
