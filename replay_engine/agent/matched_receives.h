// SPDX-License-Identifier: GPL-3.0-or-later
// Which receives of a rank that waits in a call have taken a message already. The rank cannot say
// it before it comes out of the call, and one that hangs never does: its agent reads it in the
// rank's memory (RankPage::requests) and writes it into the header of the rank's log.
#pragma once

#include <sys/types.h>

#include <string>

#include "replay_engine/base/matched_receives.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::agent {

class MatchedLook {
 public:
  MatchedLook() = default;
  ~MatchedLook();
  MatchedLook(const MatchedLook&) = delete;
  MatchedLook& operator=(const MatchedLook&) = delete;

  /// `log`: the file that the rank `pid` writes. Nothing happens where the rank is in no call, or
  /// goes on meanwhile.
  void look(pid_t pid, const RankPage& page, const std::string& log);

 private:
  void* m_mapped = nullptr;  ///< the begin of the log
};

}  // namespace pf::agent
