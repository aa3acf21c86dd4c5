// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include "db/former/former_format.h"
#include "db/schema/seal.h"
#include "db/sqlite/file_copy.h"
#include "db/store/journal.h"
#include "db/store/open_trace.h"
#include "db/store/verify.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::db {
namespace {

using Page = std::array<std::uint8_t, kPageSize>;

void putWord(Page& page, std::size_t offset, std::uint32_t word) {
  for (std::size_t i = 4; i > 0; --i) {
    page[offset + i - 1] = static_cast<std::uint8_t>(word);
    word >>= 8;
  }
}

std::int64_t offsetOf(std::int64_t page) {
  return (page - 1) * std::int64_t{kPageSize};
}

bool readPage(int file, std::int64_t number, Page& page) {
  return ::pread(file, page.data(), page.size(), offsetOf(number)) == std::int64_t{kPageSize};
}

bool writePage(int file, std::int64_t number, const Page& page) {
  return ::pwrite(file, page.data(), page.size(), offsetOf(number)) == std::int64_t{kPageSize};
}

/// Pages that hold the list of tables in a new trace: those that are no table's first page.
Result<std::set<std::int64_t>> schemaPages(Database& database) {
  const Result<std::int64_t> size = database.fileSize();
  if (!size) {
    return size.error();
  }
  std::set<std::int64_t> pages;
  for (std::int64_t page = 1; page <= *size / kPageSize; ++page) {
    pages.insert(page);
  }
  Result<Statement> rows = database.prepare("SELECT rootpage FROM sqlite_schema");
  if (!rows) {
    return rows.error();
  }
  while (true) {
    switch (rows->step()) {
      case Statement::Step::Failed:
        return rows->error();
      case Statement::Step::Done:
        return pages;
      case Statement::Step::Row:
        pages.erase(rows->integer(0));
        break;
    }
  }
}

/// Makes an empty trace in `path` and says which of its pages hold the list of tables.
Result<std::set<std::int64_t>> makeTemplate(const std::string& path) {
  Result<Database> database = Database::open(path, Database::Access::Build);
  if (!database) {
    return database.error();
  }
  if (Status status = createSchema(*database); !status) {
    return status.error();
  }
  return schemaPages(*database);
}

Status setHeader(int file, const Page& good) {
  const std::int64_t size = ::lseek(file, 0, SEEK_END);
  Page page{};
  if (size < std::int64_t{kPageSize} || !readPage(file, 1, page)) {
    return Error{ErrorCode::Damaged, "less than one page is left of the file", {}};
  }
  constexpr std::size_t kHeaderSize = 100;
  std::copy_n(good.begin(), kHeaderSize, page.begin());
  const std::int64_t pages = size / kPageSize;
  putWord(page, 28, static_cast<std::uint32_t>(pages));
  if (!writePage(file, 1, page) || ::ftruncate(file, pages * kPageSize) != 0) {
    return systemError("cannot write a copy of the damaged file", errno);
  }
  return {};
}

}  // namespace

Result<RepairedCopy> RepairedCopy::make(const std::string& path, const std::string& directory) {
  Result<std::pair<std::string, UniqueFd>> file = makeTemporaryFile(directory);
  if (!file) {
    return file.error();
  }
  RepairedCopy copy;
  copy.m_path = file->first;
  copy.m_original = path;
  if (Status status = copyContent(path, file->second.get()); !status) {
    return status.error();
  }
  file->second.reset();
  if (originOf(path) != Origin::Foreign && checkJournal(path).ok()) {
    if (Status status = undoInCopy(copy.m_path, path); !status) {
      return status.error();
    }
  }
  if (const Status status = copy.repair(); !status) {
    Error error = status.error();
    error.message = copy.ofOriginal(std::move(error.message));
    return error;
  }
  return copy;
}

Status RepairedCopy::repair() {
  Result<std::pair<std::string, UniqueFd>> model =
      makeTemporaryFile(m_path.substr(0, m_path.rfind('/')));
  if (!model) {
    return model.error();
  }
  const Result<std::set<std::int64_t>> pages = makeTemplate(model->first);
  ::unlink(model->first.c_str());
  if (!pages) {
    return pages.error();
  }
  const UniqueFd file(::open(m_path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  Page first{};
  if (!file.valid() || !readPage(model->second.get(), 1, first)) {
    return systemError("cannot read back a copy in '" + m_path + "'", errno);
  }
  if (Status status = setHeader(file.get(), first); !status) {
    return status;
  }
  if (tryOpen().ok() || tryFormer(file.get())) {
    return {};
  }
  for (const std::int64_t number : *pages) {
    Page page{};
    if (readPage(model->second.get(), number, page) && !writePage(file.get(), number, page)) {
      return systemError("cannot write a copy of the damaged file", errno);
    }
  }
  if (Status status = setHeader(file.get(), first); !status) {
    return status;
  }
  return tryOpen();
}

/// Whether it has the tables of a former format, and could be brought up to date.
bool RepairedCopy::tryFormer(int file) {
  for (std::uint32_t version = kFormatVersion - 1; isFormerVersion(version); --version) {
    {
      Result<Database> database = Database::open(m_path, Database::Access::Read);
      if (!database || !checkSchema(*database, formerTables(version)).ok()) {
        continue;
      }
    }
    Page page{};
    constexpr std::size_t kUserVersion = 60;
    if (!readPage(file, 1, page)) {
      return false;
    }
    putWord(page, kUserVersion, version);
    return writePage(file, 1, page) && bringUpToDate(m_path, FormerSeals::Mended).ok() &&
           openAsItIs().ok();
  }
  return false;
}

/// With whatever tables it has besides.
Status RepairedCopy::openAsItIs() {
  Result<Database> database = Database::open(m_path, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  database->setDeadline(readBudget(0));
  m_database = std::move(database).value();
  return {};
}

Status RepairedCopy::tryOpen() {
  Result<Database> database = Database::open(m_path, Database::Access::Read);
  if (!database) {
    return database.error();
  }
  database->setDeadline(readBudget(0));
  Status status = checkSchema(*database);
  if (status.ok()) {
    m_database = std::move(database).value();
  }
  return status;
}

RepairedCopy::RepairedCopy(RepairedCopy&& other) noexcept
    : m_path(std::exchange(other.m_path, {})),
      m_original(std::move(other.m_original)),
      m_database(std::move(other.m_database)) {}

std::string RepairedCopy::ofOriginal(std::string text) const {
  for (std::size_t at = text.find(m_path); !m_path.empty() && at != std::string::npos;
       at = text.find(m_path, at + m_original.size())) {
    text.replace(at, m_path.size(), m_original);
  }
  return text;
}

RepairedCopy::~RepairedCopy() {
  m_database = Database();
  if (!m_path.empty()) {
    ::unlink(m_path.c_str());
  }
}

}  // namespace pf::db
