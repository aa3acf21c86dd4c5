// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of format 4, which had a row for each event, receive, probe, message and collective, of
// format 5, which had no summaries, of 6 and 7, which had rows of races (6: and no times), and of
// 8, which had fewer columns and the pyramid by its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/schema/schema.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// One that can be brought up to date.
[[nodiscard]] bool isFormerVersion(std::uint32_t version);

/// All tables of a former format, in the order of their creation.
[[nodiscard]] const std::vector<Table>& formerTables(std::uint32_t version);

enum class FormerSeals { Checked, Mended /*of a damaged file: that of the seals is made new*/ };

/// Makes a trace of the present format of a former one, in one transaction; without its execution
/// where that does not verify, as the logs can make it again; of damaged columns without them only
/// where the races need them. Damaged if more than that is damaged; Version or System if it cannot be
/// written.
Status bringUpToDate(const std::string& path, FormerSeals seals = FormerSeals::Checked);

}  // namespace pf::db
