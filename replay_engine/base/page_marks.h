// SPDX-License-Identifier: MIT
// Bits of RankPage::claimed beside the lowest one, which says that a process has taken the page.
#pragma once

#include <cstdint>

namespace pf {

/// By the rank: it has met processes of another job (MPI_Comm_spawn, MPI_Comm_connect …). On the page
/// they are "any rank".
inline constexpr std::uint32_t kMetOtherJobs = 2;

}  // namespace pf
