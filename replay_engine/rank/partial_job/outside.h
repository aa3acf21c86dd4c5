// SPDX-License-Identifier: MIT
// What ranks that do not run have sent: the payload of the recording (../group_recording/contents_of_group.h), in its order.
#pragma once

#include "replay_engine/log_format/payload_format.h"
#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

struct OutsideEntry {
  const PayloadEntry* head;
  const unsigned char* content;

  [[nodiscard]] const unsigned char* end() const { return content + head->size; }
};

/// The next one, which must be this; where it is not, the replay has diverged and this does not return. `call`: that asks.
OutsideEntry takeOutside(PayloadKind kind, std::uint16_t call, int a, int b);
inline constexpr int kAny = -1;  ///< as `a` or `b`

/// Of a call with ranks outside that failed in the recording: its error is told to the handler of `comm`, and returned. Else
/// MPI_SUCCESS. To ask before anything of the call is looked at: its arguments may be what was wrong.
int failedAsRecorded(std::uint16_t call, MPI_Comm comm);

/// Messages to this process itself: contents from outside arrive by them.
MPI_Comm feeder();
/// A tag that no receive which is posted there has, until freeFeederTag(). For what is over in one call: kFeederNow.
int feederTag();
void freeFeederTag(int tag);
inline constexpr int kFeederNow = 0;
inline constexpr int kFeederNothing = 1;  ///< and for messages of no bytes, of any thread
/// Sends `size` bytes where a receive with this tag is posted.
void feed(const void* content, std::uint64_t size, int tag);

[[noreturn]] void outsideDiffers(std::uint16_t call, const char* expected, const char* got);

}  // namespace pf
