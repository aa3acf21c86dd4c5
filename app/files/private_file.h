// SPDX-License-Identifier: GPL-3.0-or-later
// What is for its user alone: reports, sessions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "replay_engine/base/result.h"

namespace pf::app {

/// The file `path` is whole, or as it was, and nobody else can read it at any time (0600, whatever
/// the umask is and whatever was there). A symbolic link is followed if this user or root has laid
/// it; that of somebody else is refused. `advice`: of an error.
Status writePrivateFile(const std::string& path, std::string_view bytes, const std::string& advice);

/// Makes the file `path` (0600), which must not be there. `what` it is: of an error, as "the schedule".
Status writeNewFile(const std::string& path, std::span<const unsigned char> bytes,
                    const std::string& what);

/// The error of a link, before there is anything to write.
Status mayFollowLink(const std::string& path, const std::string& advice);

}  // namespace pf::app
