// SPDX-License-Identifier: MIT
// What /proc says of how a process is.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pf {

/// The start of /proc/PID/NAME; empty if there is no such process, or it is not ours to read.
[[nodiscard]] std::string readProcess(pid_t pid, const char* name);
/// State and parent and so on of /proc/PID/stat: what follows the name in parentheses.
[[nodiscard]] std::string processStat(pid_t pid);
/// 'R', 'S', 't' (tracing stop), 'T' (stopped by a signal), 'Z' …; 0 if there is no such process.
[[nodiscard]] char processState(pid_t pid);
/// Whether it is there, and not only to be waited for.
[[nodiscard]] bool processRuns(pid_t pid);
/// Processor time that its threads have used, in the kernel's ticks (10 ms mostly); -1 if there is no
/// such process.
[[nodiscard]] std::int64_t processTime(pid_t pid);
/// Bytes that the process has read and written by system calls: data that come or go by a network
/// move it, memory that ranks share and polling do not. 0 if that cannot be had.
[[nodiscard]] std::uint64_t bytesMoved(pid_t pid);

/// "it is stopped by a signal (SIGSTOP or the like): kill -CONT PID lets it go on", or what else is
/// known of a process that does not answer.
[[nodiscard]] std::string whyNoAnswer(pid_t pid, char state);

}  // namespace pf
