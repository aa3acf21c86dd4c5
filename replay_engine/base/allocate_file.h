// SPDX-License-Identifier: MIT
// Room in a file that is to be mapped: without it, a full disk would end the process at the first
// touch of a page.
#pragma once

#include <cstdint>

namespace pf {

/// posix_fallocate that survives a file size limit (SIGXFSZ is held back and eaten): 0 or an errno.
int allocateFile(int fd, std::uint64_t offset, std::uint64_t size);
/// The same for a file of holes: ftruncate.
int extendFile(int fd, std::uint64_t size);

}  // namespace pf
