// SPDX-License-Identifier: MIT
#include "plugins/host/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace pf::plugins {
namespace {

Error untrusted(const std::string& path, const std::string& why) {
  return {ErrorCode::Usage, "plugins are not loaded from " + path + ": " + why,
          "Use what only you can write, for example: chmod go-w " + path};
}

Error notThere(const std::string& path, int error) {
  return error == ENOENT ? Error{ErrorCode::NotFound, path + " does not exist", "Check the name."}
                         : systemError("could not examine " + path, error);
}

Status checkOne(const std::string& path, bool last) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return notThere(path, errno);
  }
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return Error{ErrorCode::Usage,
                 "plugins are not loaded from " + path + ": it belongs to another user",
                 "Use what belongs to you or to root."};
  }
  const bool others = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if (others && (last || !sticky)) {  // sticky does not help the directory itself
    return untrusted(path, "others may write it");
  }
  return {};
}

}  // namespace

Status checkTrustedPath(const std::string& path) {
  if (path.empty() || path.front() != '/') {
    return Error{ErrorCode::Usage,
                 "plugins are not loaded from '" + path + "': the path is not absolute",
                 "Give it from the root of the file system on."};
  }
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);  // without symbolic links
  if (real == nullptr) {
    return notThere(path, errno);
  }
  std::string part = real.get();
  for (bool last = true;; last = false) {
    if (Status status = checkOne(part, last); !status || part == "/") {
      return status;
    }
    part.resize(part.find_last_of('/'));
    part = part.empty() ? "/" : part;
  }
}

}  // namespace pf::plugins
