// SPDX-License-Identifier: GPL-3.0-or-later
// Paths as the user gives them. Nothing here throws: the working directory may be gone.
#pragma once

#include <string>

namespace pf::app {

/// `path` from the root, without "." and ".."; as it is where the working directory is gone.
std::string absolutePath(const std::string& path);

/// The last part of a path.
std::string fileName(const std::string& path);

/// Something has this name, be it a link that leads nowhere.
bool isThere(const std::string& path);

/// What is there (behind links, too) is an ordinary file; a directory.
bool isFile(const std::string& path);
bool isDirectory(const std::string& path);

}  // namespace pf::app
