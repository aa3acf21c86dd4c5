// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/traces/known_runs.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "db/sqlite/database.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

using Row = std::tuple<Mark, std::string, std::string>;

/// One connection at a time: closing any descriptor of a file drops the locks of all.
std::mutex g_mutex;
std::set<Row> g_here;  ///< marks of this process

std::string homeDirectory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return home;
  }
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> text(16384);
  getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found);
  return found != nullptr && entry.pw_dir[0] == '/' ? entry.pw_dir : "";
}

/// Empty: this user has no home.
std::string stateDirectory() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && state[0] == '/') {
    return state;
  }
  const std::string home = homeDirectory();
  return home.empty() ? "" : home + "/.local/state";
}

/// Ours, and of nobody else to write.
bool isPrivate(const struct stat& info) {
  return info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Error refused(const std::string& path) {
  return Error{ErrorCode::System, path + " is not this user's alone",
               "Make it so (chmod go-w), or remove it."};
}

void makeDirectories(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    ::mkdir(path.substr(0, at).c_str(), 0700);
  }
  ::mkdir(path.c_str(), 0700);
}

/// The file, which is ours; NotFound where it is not there and is not to be made.
Result<std::string> knownFile(bool make) {
  const std::string state = stateDirectory();
  if (state.empty()) {
    return Error{ErrorCode::System, "there is no home directory to keep what is known in",
                 "Set XDG_STATE_HOME."};
  }
  const std::string wanted = state + "/photofinish";
  if (make) {
    makeDirectories(wanted);
  }
  std::array<char, PATH_MAX> directory{};  // without memory that may fail: nothing is known then
  struct stat info {};
  if (realpath(wanted.c_str(), directory.data()) == nullptr || stat(directory.data(), &info) != 0) {
    const int why = errno;
    return make ? systemError("cannot make " + wanted, why) : Error{ErrorCode::NotFound, {}, {}};
  }
  if (!isPrivate(info)) {
    return refused(directory.data());
  }
  std::string file = std::string(directory.data()) + "/known.db";
  if (make) {
    const UniqueFd made(open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made.valid() && errno != EEXIST) {
      return systemError("cannot make " + file, errno);
    }
  }
  if (lstat(file.c_str(), &info) != 0) {
    return Error{ErrorCode::NotFound, {}, {}};
  }
  if (!S_ISREG(info.st_mode) || !isPrivate(info)) {
    return refused(file);
  }
  return file;
}

std::string_view textOf(Mark mark) {  // literals: SQLite does not copy what is bound
  switch (mark) {
    case Mark::Started:
      return "started";
    case Mark::Own:
      return "own";
    case Mark::Taken:
      return "taken";
    case Mark::Groups:
      return "groups";
    case Mark::Contents:
      return "contents";
    case Mark::Words:
      break;
  }
  return "words";
}

/// `sql` with the two as its first parameters; `name` must outlive it.
Result<db::Statement> prepared(db::Database& database, const char* sql, Mark mark,
                               const std::string& name) {
  Result<db::Statement> statement = database.prepare(sql);
  if (statement) {
    statement->bindText(1, textOf(mark));
    statement->bindText(2, name);
  }
  return statement;
}

Result<db::Database> openToChange() {
  const Result<std::string> file = knownFile(true);
  if (!file) {
    return file.error();
  }
  Result<db::Database> database = db::Database::open(*file, db::Database::Access::Update);
  if (!database) {
    return database.error();
  }
  // What a power cut takes away is asked for again.
  if (Status status = database->execute(
          "PRAGMA synchronous=OFF; CREATE TABLE IF NOT EXISTS known(mark TEXT, name TEXT, digest "
          "TEXT, PRIMARY KEY(mark, name, digest)) WITHOUT ROWID");
      !status) {
    return status.error();
  }
  return database;
}

/// Nothing where they cannot be told.
Result<std::set<std::string>> digestsIn(const std::string& file, db::Database::Access access,
                                        Mark mark, const std::string& name) {
  Result<db::Database> database = db::Database::open(file, access);
  if (!database) {
    return database.error();
  }
  Result<db::Statement> statement =
      prepared(*database, "SELECT digest FROM known WHERE mark=? AND name=?", mark, name);
  if (!statement) {
    return statement.error();
  }
  std::set<std::string> digests;
  while (true) {
    switch (statement->step()) {
      case db::Statement::Step::Row:
        digests.emplace(statement->text(0));
        break;
      case db::Statement::Step::Done:
        return digests;
      case db::Statement::Step::Failed:
        return statement->error();
    }
  }
}

/// Of this process and of the file.
Result<std::set<std::string>> digestsOf(Mark mark, const std::string& name) {
  std::set<std::string> found;
  for (const Row& row : g_here) {
    if (std::get<0>(row) == mark && std::get<1>(row) == name) {
      found.insert(std::get<2>(row));
    }
  }
  if (const Result<std::string> file = knownFile(false); file) {
    Result<std::set<std::string>> kept = digestsIn(*file, db::Database::Access::Read, mark, name);
    if (!kept) {  // a writer that was killed: its change is undone first
      kept = digestsIn(*file, db::Database::Access::Update, mark, name);
    }
    if (!kept) {
      return kept.error();
    }
    found.merge(*kept);
  }
  return found;
}

}  // namespace

Status keepMark(Mark mark, const std::string& name, const std::string& digest) {
  return keepMarks(mark, {{name, digest}});
}

Status keepMarks(Mark mark, const std::vector<NamedDigest>& all) {
  const std::lock_guard lock(g_mutex);
  for (const NamedDigest& each : all) {
    g_here.emplace(mark, each.name, each.digest);
  }
  Result<db::Database> database = openToChange();
  if (!database) {
    return database.error();
  }
  Result<db::Transaction> transaction =
      db::Transaction::begin(*database, db::Transaction::Kind::Write);
  if (!transaction) {
    return transaction.error();
  }
  for (const NamedDigest& each : all) {
    Result<db::Statement> statement =
        prepared(*database, "INSERT OR IGNORE INTO known VALUES(?,?,?)", mark, each.name);
    if (!statement) {
      return statement.error();
    }
    statement->bindText(3, each.digest);
    if (Status status = statement->run(); !status) {
      return status;
    }
  }
  return transaction->commit();
}

Result<std::vector<std::string>> marksOf(Mark mark, const std::string& name) {
  const std::lock_guard lock(g_mutex);
  const Result<std::set<std::string>> found = digestsOf(mark, name);
  if (!found) {
    return found.error();
  }
  return std::vector<std::string>(found->begin(), found->end());
}

bool hasMark(Mark mark, const std::string& name, const std::string& digest) {
  const std::lock_guard lock(g_mutex);
  if (g_here.count({mark, name, digest}) != 0) {
    return true;
  }
  const Result<std::set<std::string>> found = digestsOf(mark, name);
  return found.ok() && found->count(digest) != 0;
}

void dropMarks(Mark mark, const std::string& name) {
  const std::lock_guard lock(g_mutex);
  std::erase_if(
      g_here, [&](const Row& row) { return std::get<0>(row) == mark && std::get<1>(row) == name; });
  if (Result<db::Database> database = openToChange(); database) {
    Result<db::Statement> statement =
        prepared(*database, "DELETE FROM known WHERE mark=? AND name=?", mark, name);
    if (statement) {
      static_cast<void>(statement->run());
    }
  }
}

}  // namespace pf::app
