// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/files/paths.h"

#include <filesystem>

namespace pf::app {
namespace fs = std::filesystem;

std::string absolutePath(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string fileName(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool isThere(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool isFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool isDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace pf::app
