// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the processor's watchpoints stop a process. In some virtual machines they are taken without an error, and never do.
#pragma once

namespace pf::agent {

/// Tried once, on a child, in a few milliseconds. True where it cannot be tried: then GDB says what is wrong.
[[nodiscard]] bool watchpointsWork();

/// What is said where they do not.
inline constexpr const char* kNoWatchpoints =
    "this machine does not stop at changes of memory: the processor's watchpoints do not work (as "
    "in some virtual machines), "
    "and no change would be seen";

}  // namespace pf::agent
