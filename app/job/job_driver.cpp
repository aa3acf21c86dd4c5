// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job/job_driver.h"

namespace pf::app {
namespace {

constexpr int kTurnMs = 500;
constexpr int kLastTurnMs = 50;
/// Turns in which nothing comes any more, though there is an agent that has not said that it goes.
constexpr int kQuietTurns = 4;

/// Waits for something to hear, or for a while: whether there is.
bool wait(Job& job, JobFollower& follower, bool ended) {
  protocol::ClientConnection* daemon = job.connection();
  pollfd waiting[3] = {{ended ? -1 : job.launcherFd(), POLLIN, 0},
                       {daemon != nullptr ? daemon->fd() : -1, POLLIN, 0},
                       follower.alsoWaitsFor(ended)};
  const int patience = ended            ? (job.ranksGone() ? 0 : kLastTurnMs)
                       : job.endsSoon() ? kLastTurnMs
                                        : kTurnMs;
  const int ready = poll(waiting, 3, patience);
  if (waiting[2].fd >= 0 && waiting[2].revents != 0) {
    follower.otherCame();
  }
  return ready > 0;
}

}  // namespace

std::optional<int> drive(Job& job, JobFollower& follower) {
  for (int quiet = 0; !follower.isDone();) {
    const std::optional<int> ended = job.launcherStatus();
    if (!ended) {
      follower.turn();
      for (const std::string& text : job.notices()) {
        follower.noticed(text);
      }
    }
    const bool ready = wait(job, follower, ended.has_value());
    const Job::Heard heard = job.listen([&follower](const protocol::Message& message) {
      follower.heard(message);
      return !follower.isDone();
    });
    if (heard == Job::Heard::DaemonGone && !ended) {
      follower.daemonLost();
    }
    if (!ended || follower.isDone()) {
      continue;
    }
    if (follower.expectsMore()) {
      if (job.connection() == nullptr) {
        poll(nullptr, 0, kLastTurnMs);
      }
      continue;
    }
    const bool nothing = heard != Job::Heard::Something;
    if (job.connection() == nullptr || (nothing && job.ranksGone()) ||
        (nothing && !ready && ++quiet >= kQuietTurns)) {
      return ended;
    }
  }
  return std::nullopt;
}

}  // namespace pf::app
