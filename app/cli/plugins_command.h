// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plugins/host/registry.h"

namespace pf::cli {

/// Bundled ones, and those of the search path, which are loaded when this is called first. How many
/// were refused is told then.
[[nodiscard]] const plugins::Registry& loadedPlugins();

}  // namespace pf::cli
