// SPDX-License-Identifier: GPL-3.0-or-later
// What a short-lived child says.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace pf::agent {

/// What a child writes that does `work` with the descriptor given to it, in at most ten seconds and a
/// mebibyte; then it is killed. Its standard streams are nowhere, and no signal but SIGKILL comes to
/// it. The calling process has one thread, or `work` only calls what is safe after a fork.
[[nodiscard]] std::string outputOfChild(const std::function<void(int)>& work);

inline constexpr std::size_t kMaxInput = 4096;

/// The same of a program, found as a shell does, that gets `input` (at most kMaxInput bytes): what it
/// says on both of its streams. Empty: it cannot be started.
[[nodiscard]] std::string outputOfProgram(const std::vector<std::string>& words,
                                          const std::string& input = {});

}  // namespace pf::agent
