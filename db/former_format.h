// Traces of format 4, which had a row for each event, receive, probe, message and collective.
#pragma once

#include "schema.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace pf::db {

inline constexpr std::uint32_t kFormerVersion = 4;

/// All tables of format 4, in the order of their creation.
[[nodiscard]] const std::vector<Table>& formerTables();

/// Makes a trace of format 5 of one of format 4, in one transaction; without its execution where
/// that does not verify, as the logs can make it again. Damaged if more than that is damaged;
/// Version if it cannot be written.
Status bringUpToDate(const std::string& path);

}  // namespace pf::db
