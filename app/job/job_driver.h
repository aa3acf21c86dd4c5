// SPDX-License-Identifier: GPL-3.0-or-later
// Follows a job from its start to its end, on one thread: what its daemon says, what there is to say of daemon and
// launcher, and that it has ended. For recordings and replays of the command line; a session has Qt's loop
// (app/session/targets/replay_target.cpp).
#pragma once

#include <poll.h>

#include <optional>
#include <string>

#include "app/job/job.h"
#include "replay_engine/protocol/messages.h"

namespace pf::app {

/// Who follows a job. All is called by drive(), on its thread.
class JobFollower {
 public:
  virtual ~JobFollower() = default;

  virtual void heard(const protocol::Message& message) = 0;
  /// The daemon is gone, and the launcher is not.
  virtual void daemonLost() = 0;
  /// A line about daemon or launcher (Job::notices()).
  virtual void noticed(const std::string& text) = 0;
  /// Twice a second or more often, until the launcher has ended.
  virtual void turn() {}
  /// It has what it wants, though the job may go on.
  [[nodiscard]] virtual bool isDone() const { return false; }
  /// The launcher has ended, but there is more to come.
  [[nodiscard]] virtual bool expectsMore() { return false; }
  /// What else to wait for; its fd is -1 where there is nothing. `ended`: the launcher has.
  [[nodiscard]] virtual pollfd alsoWaitsFor(bool ended) const {
    (void)ended;
    return {-1, 0, 0};
  }
  /// That is there.
  virtual void otherCame() {}
};

/// Until the launcher has ended and nothing more comes: its exit status (Job::launcherStatus()). Nothing if the
/// follower is done before that.
[[nodiscard]] std::optional<int> drive(Job& job, JobFollower& follower);

}  // namespace pf::app
