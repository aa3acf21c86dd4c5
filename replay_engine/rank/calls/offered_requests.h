// SPDX-License-Identifier: MIT
// Which requests a call of MPI_Waitany's kind could choose from (MPI 4.0, 3.7.5), where that is recorded: in runs that others
// shall branch from. In all other runs nothing is looked at.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

/// How many requests the call may say are done.
enum class Gives : std::uint8_t { One, Some };

/// The active requests of an array, as they are before the call that changes them.
class OfferedRequests {
 public:
  OfferedRequests(int count, const MPI_Request* requests);
  ~OfferedRequests();
  OfferedRequests(const OfferedRequests&) = delete;
  OfferedRequests& operator=(const OfferedRequests&) = delete;

  /// Behind the record of the call's event: that `count` of them, at `indices`, were given. Under the engine's lock.
  void log(Gives gives, int count, const int* indices) const;

 private:
  OfferedRequest* m_offered = nullptr;
  int m_count = 0;
};

/// A send that has no entry among the engine's requests (requests.h) has returned this handle.
inline void noteSendHandle(MPI_Request request, int result) {
  if (g_engine.offers && result == MPI_SUCCESS) [[unlikely]] {
    g_engine.sendHandles.note(request, 1);
  }
}
/// A handle of something else.
inline void forgetSendHandle(MPI_Request request, int result) {
  if (g_engine.offers && result == MPI_SUCCESS) [[unlikely]] {
    g_engine.sendHandles.note(request, 0);
  }
}

}  // namespace pf
