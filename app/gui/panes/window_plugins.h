// SPDX-License-Identifier: GPL-3.0-or-later
// The plugins of the window.
#pragma once

#include "plugins/host/registry.h"

namespace pf::gui {

/// Bundled panes, and those of the search path. Others than ours are tried by `photofinish plugins` first, another process,
/// so that one that crashes or hangs is refused.
void loadWindowPlugins(plugins::Registry& registry);

}  // namespace pf::gui
