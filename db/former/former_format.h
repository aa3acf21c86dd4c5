// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of formats 11 to 13. In 13 it was not kept which ranks are debugged without the others: the last table is not
// there. In 12, besides, no groups were recorded: three more are not. In 11, besides, facts of run and ranks were rows of one table, by names in words, and what a user had added besides breakpoints, watches and cycles was
// notes of several kinds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/schema/schema.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// One that can be brought up to date.
[[nodiscard]] bool isFormerVersion(std::uint32_t version);
/// Before those: who can read it, as advice.
[[nodiscard]] std::string whoReads(std::uint32_t version);

/// All tables of a former format, in the order of their creation.
[[nodiscard]] const std::vector<Table>& formerTables(std::uint32_t version);

/// Rank, log bytes and chunks of each rank of such a trace. Needs an open transaction.
Status readFormerRanks(Database& database, std::uint32_t version, std::vector<RankInfo>& ranks);

enum class FormerSeals { Checked, Mended /*of a damaged file: that of the seals is made new*/ };

/// Makes a trace of the present format of a former one, in one transaction. Damaged if it does not
/// verify; Version or System if it cannot be written. Where seals are mended, nothing is made of a
/// table that does not verify: what would be does not verify either, and the table stays in the
/// file, as former_NAME.
Status bringUpToDate(const std::string& path, FormerSeals seals = FormerSeals::Checked);

}  // namespace pf::db
