// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank records is on disk within a second: a power cut loses no more. The rank itself never
// waits for the disk.
#pragma once

#include <string>

namespace pf::agent {

/// Forces the log `path` to disk once a second where it has grown, on a thread of its own that goes
/// with the process: a disk that hangs holds nobody up. The file may not be there yet.
void syncEverySecond(const std::string& path);

/// The same of contents from outside of a group. On a thread of its own: there may be more of them than a disk takes, and
/// the log does not wait for them.
void syncContentsEverySecond(const std::string& path);

/// The same at once, for the last words of a rank whose recorder is gone.
void syncNow(const std::string& path);

}  // namespace pf::agent
