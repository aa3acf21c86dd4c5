// SPDX-License-Identifier: GPL-3.0-or-later
// The part of an offline report that a trace alone gives: what was run, how it ended, its races.
#pragma once

#include <string>

#include "app/offline_report/offline_report.h"
#include "app/trace_loading/trace_loader.h"

namespace pf::headless {

OfflineReport factsOf(const std::string& trace, const session::LoadedTrace& loaded);

ReportEvent reportEvent(const Execution& execution, EventRef event);
/// "main.c:57", or "" without a line.
std::string placeText(const std::string& file, int line);
/// The line of a source without its indentation; "" if it cannot be read.
std::string sourceLine(const std::string& file, int line);

}  // namespace pf::headless
