// SPDX-License-Identifier: GPL-3.0-or-later
// A breakpoint as the user types it, and as the trace keeps it.
#pragma once

#include <QString>

#include "db/schema/trace_types.h"
#include "replay_engine/base/result.h"
#include "views/values/debug_values.h"

namespace pf::session {

/// One of
///   FILE:LINE        FUNCTION        *ADDRESS        hit N of PLACE (the N-th hit: GDB's ignore
///   count, N - 1) watch EXPRESSION    rwatch EXPRESSION    awatch EXPRESSION catch throw    catch
///   catch    catch signal NAME
/// or a logical breakpoint (replay_engine/steering/logical_stops.h). Usage, with the forms, on anything else.
[[nodiscard]] Result<values::Breakpoint> parseBreakpoint(const QString& text);

/// What parseBreakpoint() takes, for tool tips and errors.
[[nodiscard]] QString breakpointForms();

/// parseBreakpoint()'s text of a breakpoint.
[[nodiscard]] QString breakpointText(const values::Breakpoint& breakpoint);

/// Usage for one that no GDB is given, whoever wrote it (mi_bridge/breakpoint_words.h).
Status mayBeGiven(const values::Breakpoint& breakpoint);

[[nodiscard]] db::Breakpoint toRow(const values::Breakpoint& breakpoint);
[[nodiscard]] values::Breakpoint fromRow(const db::Breakpoint& row);

}  // namespace pf::session
