// SPDX-License-Identifier: GPL-3.0-or-later
// Whether reading the cycle counter can be made to trap. In some virtual machines it is granted without an error, and does not.
#pragma once

namespace pf::agent {

/// Tried once, on a child, in a few milliseconds (prctl(2), PR_SET_TSC).
[[nodiscard]] bool cycleCounterTraps();

/// What is said where it does not.
inline constexpr const char* kNoCycleTrap =
    "this machine does not let the rdtsc instruction trap (as some virtual machines), and what it "
    "gives the program would not be recorded or given back";

}  // namespace pf::agent
