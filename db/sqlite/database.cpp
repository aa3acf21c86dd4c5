// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sqlite/database.h"

#include <sys/stat.h>

#include <array>
#include <new>
#include <utility>

#include <sqlite3.h>

#include "db/sqlite/guarded_files.h"
#include "db/sqlite/row_source.h"
#include "db/store/open_trace.h"

namespace pf::db {
namespace {

constexpr int kLongestValue = 16 << 20;  // bytes of one string, blob or row
constexpr int kInstructionsBetweenLooks = 4096;
constexpr int kBusyTimeout = 5000;  // milliseconds
constexpr int kLockPause = 20;      // milliseconds

bool isDamage(int code) {
  return (code & 0xFF) == SQLITE_CORRUPT || (code & 0xFF) == SQLITE_NOTADB;
}

Error errorOf(sqlite3* handle, int code, const std::string& path) {
  std::string detail = sqlite3_errstr(code);
  if (const std::string more = handle != nullptr ? sqlite3_errmsg(handle) : "";
      !more.empty() && more != detail) {
    detail += ": " + more;
  }
  const int osError = handle != nullptr ? sqlite3_system_errno(handle) : 0;
  if (code == SQLITE_READONLY_ROLLBACK) {
    return Error{
        ErrorCode::System,
        "'" + path + "' was being changed when its writer died, and this must be undone first",
        "Copy it, together with '" + path + "-journal', to a directory that you may write to."};
  }
  if (isDamage(code)) {
    return Error{ErrorCode::Damaged, "'" + path + "' is damaged (" + detail + ")",
                 "Run 'photofinish check' on it to see what is lost."};
  }
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return Error{ErrorCode::System, "cannot write '" + path + "': the disk or quota is full",
                   "Free some space, or name a file on another disk, and try again."};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: {
      const std::string what = "cannot read or write '" + path + "' (" + detail + ")";
      return osError != 0 ? systemError(what, osError) : Error{ErrorCode::System, what, {}};
    }
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error{ErrorCode::System, "'" + path + "' is being written by another process",
                   "Wait until it has finished, or close the other window, and try again."};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Error{ErrorCode::System, "no permission to write '" + path + "' (" + detail + ")",
                   "Copy the file to a directory of your own and work on the copy."};
    case SQLITE_INTERRUPT:
      return Error{ErrorCode::Damaged, "reading '" + path + "' took longer than its size explains",
                   "The file is damaged or was made to be slow; run 'photofinish check' on it."};
    case SQLITE_NOMEM:
      throw std::bad_alloc();  // nothing is wrong with the file
    case SQLITE_TOOBIG:
      return Error{ErrorCode::Usage, "a value for '" + path + "' is longer than 16 MiB", {}};
    default:
      return Error{
          ErrorCode::Internal, "SQLite refused a request on '" + path + "' (" + detail + ")", {}};
  }
}

/// SQLite's code.
int fileOf(sqlite3* handle, sqlite3_file** file) {
  const int rc =
      sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(file));
  return rc == SQLITE_OK && (*file == nullptr || (*file)->pMethods == nullptr) ? SQLITE_CANTOPEN
                                                                               : rc;
}

}  // namespace

struct Database::Deadline {
  std::chrono::steady_clock::time_point end;

  static int expired(void* self) {
    return std::chrono::steady_clock::now() >= static_cast<Deadline*>(self)->end ? 1 : 0;
  }
};

// ---- Statement

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

void Statement::bindInteger(int parameter, std::int64_t value) {
  if (const int rc = sqlite3_bind_int64(m_handle.get(), parameter, value); rc != SQLITE_OK) {
    m_failure = rc;
  }
}

void Statement::bindText(int parameter, std::string_view value) {
  const char* data = value.data() != nullptr ? value.data() : "";
  if (const int rc =
          sqlite3_bind_text64(m_handle.get(), parameter, data, value.size(), nullptr, SQLITE_UTF8);
      rc != SQLITE_OK) {
    m_failure = rc;
  }
}

void Statement::bindBlob(int parameter, Bytes value) {
  const void* data = value.data() != nullptr ? static_cast<const void*>(value.data()) : "";
  if (const int rc = sqlite3_bind_blob64(m_handle.get(), parameter, data, value.size(), nullptr);
      rc != SQLITE_OK) {
    m_failure = rc;
  }
}

void Statement::bindNull(int parameter) {
  if (const int rc = sqlite3_bind_null(m_handle.get(), parameter); rc != SQLITE_OK) {
    m_failure = rc;
  }
}

Statement::Step Statement::step() {
  if (m_failure != 0) {
    return Step::Failed;
  }
  const int rc = sqlite3_step(m_handle.get());
  if (rc == SQLITE_ROW) {
    return Step::Row;
  }
  if (rc == SQLITE_DONE) {
    return Step::Done;
  }
  m_failure = rc;
  return Step::Failed;
}

void Statement::reset() {
  sqlite3_reset(m_handle.get());
  m_failure = 0;
}

Status Statement::run() {
  Step result = step();
  while (result == Step::Row) {
    result = step();
  }
  Status status;
  if (result == Step::Failed) {
    status = error();
  }
  reset();
  return status;
}

Error Statement::error() const {
  sqlite3* connection = sqlite3_db_handle(m_handle.get());
  const char* path = sqlite3_db_filename(connection, "main");
  return errorOf(connection, m_failure, path != nullptr ? path : "");
}

int Statement::columnCount() const {
  return sqlite3_column_count(m_handle.get());
}

std::string Statement::columnName(int column) const {
  const char* name = sqlite3_column_name(m_handle.get(), column);
  return name != nullptr ? name : "";
}

bool Statement::isReadOnly() const {
  return sqlite3_stmt_readonly(m_handle.get()) != 0;
}

Statement::Type Statement::type(int column) const {
  switch (sqlite3_column_type(m_handle.get(), column)) {
    case SQLITE_INTEGER:
      return Type::Integer;
    case SQLITE_FLOAT:
      return Type::Real;
    case SQLITE_TEXT:
      return Type::Text;
    case SQLITE_BLOB:
      return Type::Blob;
    default:
      return Type::Null;
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(m_handle.get(), column);
}

std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_text(m_handle.get(), column);
  const int size = sqlite3_column_bytes(m_handle.get(), column);
  return data != nullptr
             ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size))
             : std::string_view();
}

Bytes Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(m_handle.get(), column);
  const int size = sqlite3_column_bytes(m_handle.get(), column);
  return data != nullptr
             ? Bytes(static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size))
             : Bytes();
}

void Statement::row(std::vector<Value>& values) const {
  const int columns = sqlite3_column_count(m_handle.get());
  values.resize(static_cast<std::size_t>(columns));
  for (int column = 0; column < columns; ++column) {
    sqlite3_value* stored =
        sqlite3_column_value(m_handle.get(), column);  // good without a mutex: one thread
    Value& value = values[static_cast<std::size_t>(column)];
    switch (sqlite3_value_type(stored)) {
      case SQLITE_INTEGER:
        value.type = Type::Integer;
        value.integer = sqlite3_value_int64(stored);
        break;
      case SQLITE_FLOAT:
        value.type = Type::Real;
        value.real = sqlite3_value_double(stored);
        break;
      case SQLITE_TEXT:
      case SQLITE_BLOB: {
        value.type = sqlite3_value_type(stored) == SQLITE_TEXT ? Type::Text : Type::Blob;
        const void* data =
            sqlite3_value_blob(stored);  // of a text: its bytes, for the file is UTF-8
        value.data = static_cast<const char*>(data);
        value.size = data != nullptr ? static_cast<std::size_t>(sqlite3_value_bytes(stored)) : 0;
        break;
      }
      default:
        value.type = Type::Null;
        break;
    }
  }
}

// ---- Database

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Result<Database> Database::open(const std::string& path, Access access) {
  const char* files = guardedFiles();
  if (files == nullptr) {
    return Error{
        ErrorCode::Internal, "this SQLite library cannot be made safe for foreign files", {}};
  }
  const int rights = access == Access::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  sqlite3* handle = nullptr;
  const int rc =
      sqlite3_open_v2(path.c_str(), &handle,
                      rights | (path.starts_with("file:") ? SQLITE_OPEN_URI : 0) |
                          SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX,
                      files);
  Database database;
  database.m_path = path;
  database.m_handle.reset(handle);
  if (rc != SQLITE_OK) {
    return errorOf(handle, rc, path);
  }
  if (access != Access::Read && sqlite3_db_readonly(handle, "main") == 1) {
    return errorOf(nullptr, SQLITE_READONLY, path);
  }
  if (Status status = database.harden(access); !status) {
    return status.error();
  }
  return database;
}

Status Database::harden(Access access) {
  sqlite3* handle = m_handle.get();
  sqlite3_busy_timeout(handle, kBusyTimeout);
  constexpr std::array<std::pair<int, int>, 6> kSwitches{
      {{SQLITE_DBCONFIG_DEFENSIVE, 1},
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
       {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
       {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
       {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0}}};
  for (const auto& [what, value] : kSwitches) {
    int now = -1;
    if (sqlite3_db_config(handle, what, value, &now) != SQLITE_OK || now != value) {
      return Error{
          ErrorCode::Internal, "this SQLite library cannot be made safe for foreign files", {}};
    }
  }
  constexpr std::array<std::pair<int, int>, 11> kLimits{{{SQLITE_LIMIT_LENGTH, kLongestValue},
                                                         {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                                                         {SQLITE_LIMIT_COLUMN, 64},
                                                         {SQLITE_LIMIT_EXPR_DEPTH, 32},
                                                         {SQLITE_LIMIT_COMPOUND_SELECT, 4},
                                                         {SQLITE_LIMIT_VDBE_OP, 50000},
                                                         {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                                         {SQLITE_LIMIT_ATTACHED, 0},
                                                         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64},
                                                         {SQLITE_LIMIT_VARIABLE_NUMBER, 64},
                                                         {SQLITE_LIMIT_TRIGGER_DEPTH, 1}}};
  for (const auto& [what, value] : kLimits) {
    sqlite3_limit(handle, what, value);
  }
  const char* common = "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;";
  const char* special = "PRAGMA query_only=ON;";
  if (access == Access::Update) {
    special = "PRAGMA secure_delete=OFF;";
  } else if (access == Access::Build) {
    special =
        "PRAGMA page_size=4096; PRAGMA auto_vacuum=NONE; PRAGMA journal_mode=OFF; PRAGMA "
        "synchronous=OFF; "
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA secure_delete=OFF; PRAGMA cache_size=-16000;";
  }
  if (Status status = execute(common); !status) {
    return status;
  }
  return execute(special);
}

Result<Statement> Database::prepare(std::string_view sql) {
  return prepareWith(sql, SQLITE_PREPARE_NO_VTAB);
}

Result<Statement> Database::prepareFed(std::string_view sql) {
  return prepareWith(sql, 0);
}

Result<RowSource*> Database::feed() {
  if (!m_feed) {
    auto made = std::make_shared<RowSource>();
    if (!made->attach(m_handle.get())) {
      return errorOf(m_handle.get(), sqlite3_extended_errcode(m_handle.get()), m_path);
    }
    m_feed = std::move(made);
  }
  return m_feed.get();
}

Result<Statement> Database::prepareWith(std::string_view sql, unsigned flags) {
  const char* rest = sql.data();
  const char* const end = rest + sql.size();
  Statement first;
  while (rest != end) {
    sqlite3_stmt* handle = nullptr;
    const int rc = sqlite3_prepare_v3(m_handle.get(), rest, static_cast<int>(end - rest), flags,
                                      &handle, &rest);
    Statement statement;
    statement.m_handle.reset(handle);
    if (rc != SQLITE_OK) {
      return errorOf(m_handle.get(), rc, m_path);
    }
    if (handle == nullptr) {
      continue;  // blanks, a comment, a semicolon
    }
    if (first.m_handle != nullptr) {
      return Error{ErrorCode::Usage, "there is more than one SQL statement", {}};
    }
    first = std::move(statement);
  }
  if (first.m_handle == nullptr) {
    return Error{ErrorCode::Usage, "there is no SQL statement", {}};
  }
  return first;
}

Status Database::execute(std::string_view sql) {
  const std::string text(sql);
  if (const int rc = sqlite3_exec(m_handle.get(), text.c_str(), nullptr, nullptr, nullptr);
      rc != SQLITE_OK) {
    return errorOf(m_handle.get(), rc, m_path);
  }
  return {};
}

Status Database::close() {
  if (m_handle == nullptr) {
    return {};
  }
  if (const int rc = sqlite3_close(m_handle.get()); rc != SQLITE_OK) {
    return errorOf(m_handle.get(), rc, m_path);
  }
  static_cast<void>(m_handle.release());  // closed just above
  return {};
}

void Database::setDeadline(std::chrono::milliseconds budget) {
  if (budget.count() == 0) {
    sqlite3_progress_handler(m_handle.get(), 0, nullptr, nullptr);
    return;
  }
  if (!m_deadline) {
    m_deadline = std::make_shared<Deadline>();
  }
  m_deadline->end = std::chrono::steady_clock::now() + budget;
  sqlite3_progress_handler(m_handle.get(), kInstructionsBetweenLooks, &Deadline::expired,
                           m_deadline.get());
}

Result<std::int64_t> Database::fileSize() {
  sqlite3_file* opened = nullptr;
  sqlite3_int64 size = 0;
  int rc = fileOf(m_handle.get(), &opened);
  rc = rc == SQLITE_OK ? opened->pMethods->xFileSize(opened, &size) : rc;
  if (rc != SQLITE_OK) {
    return errorOf(m_handle.get(), rc, m_path);
  }
  return std::int64_t{size};
}

Status Database::readStart(std::span<std::uint8_t> bytes) {
  sqlite3_file* opened = nullptr;
  int rc = fileOf(m_handle.get(), &opened);
  rc = rc == SQLITE_OK
           ? opened->pMethods->xRead(opened, bytes.data(), static_cast<int>(bytes.size()), 0)
           : rc;
  if (rc == SQLITE_IOERR_SHORT_READ) {
    return Error{ErrorCode::Damaged, "'" + m_path + "' is too short to be a Photofinish trace", {}};
  }
  if (rc != SQLITE_OK) {
    return errorOf(m_handle.get(), rc, m_path);
  }
  return {};
}

std::int64_t Database::lastInsertId() const {
  return sqlite3_last_insert_rowid(m_handle.get());
}

std::int64_t Database::rowsChanged() const {
  return sqlite3_changes64(m_handle.get());
}

Status withoutWriters(Database& database, const std::function<Status()>& work) {
  sqlite3_file* opened = nullptr;
  int rc = fileOf(database.handle(), &opened);
  for (int waited = 0; rc == SQLITE_OK || rc == SQLITE_BUSY; waited += kLockPause) {
    rc = opened->pMethods->xLock(opened, SQLITE_LOCK_SHARED);
    if (rc != SQLITE_BUSY || waited >= kBusyTimeout) {
      break;
    }
    sqlite3_sleep(kLockPause);
  }
  if (rc != SQLITE_OK) {
    return errorOf(database.handle(), rc, database.path());
  }
  int writer = 0;
  rc = opened->pMethods->xCheckReservedLock(opened, &writer);
  Status status = rc == SQLITE_OK ? Status() : errorOf(database.handle(), rc, database.path());
  if (status.ok() && writer == 0) {
    status = work();
  }
  opened->pMethods->xUnlock(opened, SQLITE_LOCK_NONE);
  return status;
}

// ---- Transaction

Result<Transaction> Transaction::begin(Database& database, Kind kind) {
  // EXTRA: what has been committed is not undone by a journal whose removal a power cut forgets. It
  // is not said when the file is opened: SQLite reads the list of tables first.
  if (Status status = database.execute(
          kind == Kind::Write ? "PRAGMA synchronous=EXTRA; BEGIN IMMEDIATE" : "BEGIN");
      !status) {
    return status.error();
  }
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : m_database(std::exchange(other.m_database, nullptr)) {}

Transaction::~Transaction() {
  if (m_database != nullptr) {
    static_cast<void>(
        m_database->execute("ROLLBACK"));  // fails only where SQLite has rolled back itself
  }
}

Status Transaction::commit() {
  Status status = m_database->execute("COMMIT");
  if (status.ok()) {
    m_database = nullptr;
  }
  return status;
}

}  // namespace pf::db
