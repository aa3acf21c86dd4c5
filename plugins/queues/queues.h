// SPDX-License-Identifier: MIT
// Bundled plugin: at a moment of the run, which receives are posted, which messages have come
// unexpected, and which rank waits for which.
#pragma once

#include "plugins/bundled/view_pane.h"

namespace pf::plugins {

/// Its entry.
[[nodiscard]] const PhotofinishPlugin* queuesPlugin();

}  // namespace pf::plugins
