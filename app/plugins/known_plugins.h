// SPDX-License-Identifier: GPL-3.0-or-later
// Which plugins there are, in words.
#pragma once

#include <string>

#include "plugins/host/registry.h"

namespace pf::app {

/// Where plugins for every user of this installation lie: beside this program.
[[nodiscard]] std::string installedPlugins();

/// photofinish plugins [--json]
[[nodiscard]] std::string pluginsReport(const plugins::Registry& registry, bool json);

}  // namespace pf::app
