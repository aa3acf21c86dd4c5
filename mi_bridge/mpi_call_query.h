// SPDX-License-Identifier: GPL-3.0-or-later
// The MPI call that a stopped thread stands in, with those of its arguments that its caller's code tells (gdb_python/calls.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pf::mi {

/// What is not known is not there.
struct StandingCall {
  enum class Comm : std::uint8_t { Unknown, World, Other };
  std::string name;         ///< "MPI_Recv", also of the routine of another language
  std::optional<int> peer;  ///< rank in the communicator: source, destination or root
  bool anySource = false;
  bool nobody = false;  ///< MPI_PROC_NULL
  std::optional<int> tag;
  bool anyTag = false;
  Comm comm = Comm::Unknown;
  std::string place;  ///< "ring.c:12"
  friend bool operator==(const StandingCall&, const StandingCall&) = default;
};

/// A console command of GDB, which has to have been told arraySetup() (array_query.h). It sets kStandingCall.
inline constexpr const char* kStandingCallCommand = "python gdb.photofinish_mpi_call()";
inline constexpr const char* kStandingCall = "$photofinish_mpi_call";
/// From the value of kStandingCall, which is a stranger's. Nothing: the thread is in no call of MPI.
[[nodiscard]] std::optional<StandingCall> standingCallIn(std::string_view value);

}  // namespace pf::mi
