// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/tests/lossy_disk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <filesystem>

#include "db/tests/sample.h"

namespace pf::db {
namespace {

constexpr std::size_t kSector = 512;

LossyDisk* g_disk = nullptr;

std::uint64_t inodeOf(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? std::uint64_t{info.st_ino} : 0;
}

void put(FileBytes& content, std::size_t at, const std::uint8_t* bytes, std::size_t size) {
  content.resize(std::max(content.size(), at + size));
  std::copy_n(bytes, size, content.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The sectors of a write that have reached the disk, each with one chance in `chance`.
void putSome(FileBytes& content, const DiskCall& call, std::mt19937::result_type chance,
             std::mt19937& random) {
  const auto begin = static_cast<std::size_t>(call.at);
  const std::size_t end = begin + call.bytes.size();
  if (random() % 2 == 0) {  // the size alone
    content.resize(std::max(content.size(), end));
  }
  const bool torn = random() % 2 == 0;
  bool kept = random() % chance == 0;
  for (std::size_t at = begin; at < end;) {
    const std::size_t next = std::min(end, (at / kSector + 1) * kSector);
    if (torn) {
      kept = random() % chance == 0;
    }
    if (kept) {
      put(content, at, call.bytes.data() + (at - begin), next - at);
    }
    at = next;
  }
}

void apply(FileBytes& content, const DiskCall& call) {
  if (call.kind == DiskCall::Kind::Write) {
    put(content, static_cast<std::size_t>(call.at), call.bytes.data(), call.bytes.size());
  } else if (call.kind == DiskCall::Kind::Resize) {
    content.resize(static_cast<std::size_t>(call.at));
  }
}

void apply(std::map<std::string, std::size_t>& names, const DiskCall& call) {
  using Kind = DiskCall::Kind;
  if (call.kind == Kind::Rename) {
    names.erase(call.former);
  }
  if (call.kind == Kind::Make || call.kind == Kind::Name || call.kind == Kind::Rename) {
    names[call.name] = call.file;
  } else if (call.kind == Kind::Remove) {
    names.erase(call.name);
  }
}

/// Behind the last sync of it, or 0.
std::size_t lastSync(const std::vector<DiskCall>& calls, std::size_t count, DiskCall::Kind kind,
                     std::size_t file) {
  while (count > 0 && !(calls[count - 1].kind == kind && calls[count - 1].file == file)) {
    --count;
  }
  return count;
}

}  // namespace

Files filesOf(const std::string& directory) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files[entry.path().filename().string()] = readFile(entry.path().string());
  }
  return files;
}

void putFiles(const Files& files, const std::string& directory) {
  for (const auto& [name, bytes] : files) {
    writeFile(directory + "/" + name, bytes);
  }
}

LossyDisk::LossyDisk(const std::string& directory)
    : m_directory(directory), m_directoryInode(inodeOf(directory)) {
  for (const auto& [name, bytes] : filesOf(directory)) {
    m_numbers[inodeOf(directory + "/" + name)] = m_files;
    m_names[name] = m_files;
    m_contents[m_files++] = bytes;
  }
  g_disk = this;
}

LossyDisk::~LossyDisk() {
  g_disk = nullptr;
}

std::string LossyDisk::nameIn(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  return slash != std::string::npos && path.substr(0, slash) == m_directory ? path.substr(slash + 1)
                                                                            : std::string();
}

void LossyDisk::note(int file, DiskCall call) {
  struct stat info {};
  if (::fstat(file, &info) != 0) {
    return;
  }
  if (info.st_ino == m_directoryInode && call.kind == DiskCall::Kind::Sync) {
    m_calls.push_back({.kind = DiskCall::Kind::SyncNames});
  } else if (const auto found = m_numbers.find(info.st_ino); found != m_numbers.end()) {
    call.file = found->second;
    m_calls.push_back(std::move(call));
  }
}

void LossyDisk::noteMade(const std::string& path) {
  if (const std::string name = nameIn(path); !name.empty()) {
    m_numbers[inodeOf(path)] = m_files;
    m_calls.push_back({.kind = DiskCall::Kind::Make, .file = m_files++, .name = name});
  }
}

void LossyDisk::noteName(const std::string& path, const std::string& former, DiskCall::Kind kind) {
  if (const std::string name = nameIn(path); !name.empty()) {
    const auto found = m_numbers.find(inodeOf(path));
    m_calls.push_back({.kind = kind,
                       .file = found != m_numbers.end() ? found->second : 0,
                       .name = name,
                       .former = nameIn(former)});
  }
}

FileBytes LossyDisk::contentAfter(std::size_t file, std::size_t count, std::mt19937& random) const {
  const auto found = m_contents.find(file);
  FileBytes content = found != m_contents.end() ? found->second : FileBytes();
  const std::size_t synced = lastSync(m_calls, count, DiskCall::Kind::Sync, file);
  const auto chance = 1 + random() % 4;  // 1: all that was written is there
  const bool nothing = random() % 8 == 0;
  for (std::size_t i = 0; i < count; ++i) {
    const DiskCall& call = m_calls[i];
    if (call.file != file || (i >= synced && nothing)) {
      continue;
    }
    if (i < synced || (call.kind == DiskCall::Kind::Resize && random() % chance == 0)) {
      apply(content, call);
    } else if (call.kind == DiskCall::Kind::Write) {
      putSome(content, call, chance, random);
    }
  }
  return content;
}

Files LossyDisk::cutAfter(std::size_t count, std::mt19937& random) const {
  std::map<std::string, std::size_t> names = m_names;
  const std::size_t synced = lastSync(m_calls, count, DiskCall::Kind::SyncNames, 0);
  const auto chance = 1 + random() % 3;
  const bool ordered =
      random() % 2 == 0;  // a journal of names: none is there without those before it
  bool goesOn = true;
  for (std::size_t i = 0; i < count; ++i) {
    const bool kept = i < synced || (goesOn && random() % chance == 0);
    if (kept) {
      apply(names, m_calls[i]);
    } else if (ordered && m_calls[i].kind != DiskCall::Kind::Write) {
      goesOn = false;
    }
  }
  Files files;
  for (const auto& [name, file] : names) {
    files[name] = contentAfter(file, count, random);
  }
  return files;
}

namespace {

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

template <typename Result>
Result noted(Result result, int file, DiskCall call) {
  const int problem = errno;
  if (result == 0 && g_disk != nullptr) {
    g_disk->note(file, std::move(call));
  }
  errno = problem;
  return result;
}

ssize_t notedWrite(ssize_t result, int file, const void* bytes, off_t at) {
  if (result > 0 && g_disk != nullptr) {
    const auto* const begin = static_cast<const std::uint8_t*>(bytes);
    noted(0, file,
          {.kind = DiskCall::Kind::Write, .at = at, .bytes = FileBytes(begin, begin + result)});
  }
  return result;
}

int notedName(int result, const char* path, const char* former, DiskCall::Kind kind) {
  const int problem = errno;
  if (result == 0 && g_disk != nullptr) {
    g_disk->noteName(path, former, kind);
  }
  errno = problem;
  return result;
}

int openNoted(const char* call, const char* path, int flags, mode_t mode) {
  const bool isNew = g_disk != nullptr && (flags & O_CREAT) != 0 && inodeOf(path) == 0;
  const int file = real<int(const char*, int, ...)>(call)(path, flags, mode);
  if (file >= 0 && isNew) {
    g_disk->noteMade(path);
  } else if (file >= 0 && (flags & O_TRUNC) != 0) {
    noted(0, file, {.kind = DiskCall::Kind::Resize});
  }
  return file;
}

mode_t modeOf(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace
}  // namespace pf::db

// These take the place of the C library's, in SQLite too.
// NOLINTBEGIN(cert-dcl50-cpp): as the C library declares them
extern "C" {
#define PF_SEEN __attribute__((visibility("default")))

PF_SEEN int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = pf::db::modeOf(flags, rest);
  va_end(rest);
  return pf::db::openNoted("open", path, flags, mode);
}
PF_SEEN int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = pf::db::modeOf(flags, rest);
  va_end(rest);
  return pf::db::openNoted("open64", path, flags, mode);
}
PF_SEEN ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) {
  return pf::db::notedWrite(pf::db::real<decltype(pwrite64)>("pwrite64")(file, bytes, size, at),
                            file, bytes, at);
}
PF_SEEN ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return pwrite64(file, bytes, size, at);
}
PF_SEEN ssize_t write(int file, const void* bytes, size_t size) {
  const ssize_t result = pf::db::real<decltype(write)>("write")(file, bytes, size);
  const int problem = errno;
  const off_t behind = pf::db::g_disk != nullptr && result > 0 ? ::lseek(file, 0, SEEK_CUR) : -1;
  errno = problem;
  return behind >= 0 ? pf::db::notedWrite(result, file, bytes, behind - result) : result;
}
PF_SEEN int ftruncate64(int file, off_t size) noexcept {
  return pf::db::noted(pf::db::real<int(int, off_t)>("ftruncate64")(file, size), file,
                       {.kind = pf::db::DiskCall::Kind::Resize, .at = size});
}
PF_SEEN int ftruncate(int file, off_t size) noexcept {
  return ftruncate64(file, size);
}
PF_SEEN int fsync(int file) {
  return pf::db::noted(pf::db::real<int(int)>("fsync")(file), file, {});
}
PF_SEEN int fdatasync(int file) {
  return pf::db::noted(pf::db::real<int(int)>("fdatasync")(file), file, {});
}
PF_SEEN int unlink(const char* path) noexcept {
  return pf::db::notedName(pf::db::real<int(const char*)>("unlink")(path), path, "",
                           pf::db::DiskCall::Kind::Remove);
}
PF_SEEN int link(const char* former, const char* path) noexcept {
  return pf::db::notedName(pf::db::real<int(const char*, const char*)>("link")(former, path), path,
                           "", pf::db::DiskCall::Kind::Name);
}
PF_SEEN int rename(const char* former, const char* path) noexcept {
  return pf::db::notedName(pf::db::real<int(const char*, const char*)>("rename")(former, path),
                           path, former, pf::db::DiskCall::Kind::Rename);
}
PF_SEEN int renameat2(int from, const char* former, int to, const char* path,
                      unsigned flags) noexcept {
  return pf::db::notedName(pf::db::real<int(int, const char*, int, const char*, unsigned)>(
                               "renameat2")(from, former, to, path, flags),
                           path, former, pf::db::DiskCall::Kind::Rename);
}
}
// NOLINTEND(cert-dcl50-cpp)
