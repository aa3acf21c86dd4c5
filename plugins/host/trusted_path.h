// SPDX-License-Identifier: MIT
// Whether what lies at a path may be run as part of this program.
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::plugins {

/// Success if `path` is absolute and it and all its parents belong to the user or root and nobody
/// else may write them (sticky directories such as /tmp excepted, when what is below is ours).
[[nodiscard]] Status checkTrustedPath(const std::string& path);

}  // namespace pf::plugins
