// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sqlite/guarded_files.h"

#include <string_view>

#include <sqlite3.h>

namespace pf::db {
namespace {

sqlite3_vfs* base(sqlite3_vfs* self) {
  return static_cast<sqlite3_vfs*>(self->pAppData);
}

int openFile(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* given) {
  if ((flags & (SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL)) != 0) {
    file->pMethods = nullptr;
    return SQLITE_CANTOPEN;
  }
  return base(self)->xOpen(base(self), name, file, flags, given);
}

int deleteFile(sqlite3_vfs* self, const char* name, int syncDirectory) {
  if (name == nullptr || !std::string_view(name).ends_with("-journal")) {
    return SQLITE_IOERR_DELETE;
  }
  return base(self)->xDelete(base(self), name, syncDirectory);
}

/// Nothing is added to the first version of the interface: what later ones have is for other uses.
sqlite3_vfs guarding(sqlite3_vfs* guarded) {
  sqlite3_vfs made{};
  made.iVersion = 1;
  made.szOsFile = guarded->szOsFile;
  made.mxPathname = guarded->mxPathname;
  made.zName = "photofinish";
  made.pAppData = guarded;
  made.xOpen = openFile;
  made.xDelete = deleteFile;
  made.xAccess = [](sqlite3_vfs* self, const char* name, int flags, int* result) {
    return base(self)->xAccess(base(self), name, flags, result);
  };
  made.xFullPathname = [](sqlite3_vfs* self, const char* name, int size, char* result) {
    return base(self)->xFullPathname(base(self), name, size, result);
  };
  made.xRandomness = [](sqlite3_vfs* self, int size, char* bytes) {
    return base(self)->xRandomness(base(self), size, bytes);
  };
  made.xSleep = [](sqlite3_vfs* self, int microseconds) {
    return base(self)->xSleep(base(self), microseconds);
  };
  made.xCurrentTime = [](sqlite3_vfs* self, double* day) {
    return base(self)->xCurrentTime(base(self), day);
  };
  made.xGetLastError = [](sqlite3_vfs* self, int size, char* text) {
    return base(self)->xGetLastError(base(self), size, text);
  };
  return made;
}

const char* install() {
  sqlite3_vfs* guarded = sqlite3_vfs_find(nullptr);
  if (guarded == nullptr) {
    return nullptr;
  }
  static sqlite3_vfs made = guarding(guarded);
  return sqlite3_vfs_register(&made, 0) == SQLITE_OK ? made.zName : nullptr;
}

}  // namespace

const char* guardedFiles() {
  static const char* const kName = install();
  return kName;
}

}  // namespace pf::db
