// Traces of format 4, which had a row for each event, receive, probe, message and collective.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace pf::db {

inline constexpr std::uint32_t kFormerVersion = 4;

/// Makes a trace of format 5 of one of format 4, in one transaction. Damaged if it does not verify;
/// Version if it cannot be written.
Status bringUpToDate(const std::string& path);

}  // namespace pf::db
