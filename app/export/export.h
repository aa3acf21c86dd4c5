// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish export: a trace in the formats of other tools, by exporters of plugins.
#pragma once

#include <string>

#include "plugins/api/plugin.h"
#include "plugins/host/registry.h"
#include "replay_engine/base/result.h"

namespace pf::app {

/// Entry of the bundled exporters: csv, chrome, shiviz, otf2.
[[nodiscard]] const PhotofinishPlugin* bundledExporters();

/// `format`: the name of an exporter of `plugins`. `output`: a file, or a directory where that is
/// what the exporter makes, that must not be there yet; a device or pipe may be; empty or "-" is
/// standard output, for text.
Status exportTrace(const std::string& trace, const std::string& format, const std::string& output,
                   const plugins::Registry& plugins);

}  // namespace pf::app
