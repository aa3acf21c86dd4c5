// SPDX-License-Identifier: GPL-3.0-or-later
// What has to happen before MPI can give a message to a receive, or show it to a probe, besides
// the send of the one and the post of the other. Private to the analysis.
//
// MPI's matching order (MPI 3.1, 3.5) demands of message m and receive or probe r of one rank:
//   a. every receive posted before r that accepts m has left the queue: its own message was
//      delivered to it, or it was cancelled;
//   b. every earlier message of m's source and communicator that r accepts was delivered.
// Few of these imply all others, so few are returned:
//   - Of receives with equal envelopes an earlier one's delivery is itself a prerequisite of a
//     later one's. So the last of each envelope stands for all, and there are only four envelopes
//     that accept m: its source or any, its tag or any.
//   - b adds to a only where r takes any tag: then messages of another tag than m's that went to
//     receives of that tag. (Another receive of an earlier message accepts m too, and was posted
//     before r, else r would have had its message.) Again the last of each tag stands for all.
//   - What the rank saw complete before r began need not be said again. Blocking receives, so,
//     are never returned. Not so where the rank has several threads: another one saw it.
// "Earlier" in b is the sender's order (send_order.h): two of its threads may send at once.
// A cancelled receive is known to be out of the way from the first MPI_Cancel after its post on,
// if that was recorded as an event. Else nothing is known of it. A receive of which the record
// does not say what it took is not in the way.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay_engine/causality/send_order.h"
#include "replay_engine/execution/envelope.h"
#include "replay_engine/execution/execution.h"

namespace pf {

struct Prerequisites {
  std::vector<std::uint32_t> deliveries;  ///< messages
  std::uint32_t cancel = 0;               ///< event of the same rank to have finished, 0 = none
};

/// The receives of one rank that were posted before a point that moves on.
class EarlierPosts {
 public:
  EarlierPosts(const Execution& execution, const Chains& chains, const SendOrder& sends,
               std::uint32_t rank);

  /// The point is now just before the rank's receive number `posts`, or a probe there; `begin` is
  /// the event of that. Neither may fall.
  void advance(std::uint32_t posts, Serial begin);

  /// Of giving `message` to a receive or probe of the rank at the point. Valid until the next call.
  [[nodiscard]] const Prerequisites& of(std::uint32_t message, bool anyTag);

 private:
  /// The receives of one envelope.
  struct Posted {
    std::uint32_t message = kNone;  ///< that the last one took
    Serial seen = 0;                ///< event that completed that one
    std::uint32_t cancel = 0;       ///< the last MPI_Cancel of one of them
  };
  struct Taken {
    std::uint32_t message;
    Serial seen;
  };
  /// Messages of one source (a chain of it) and tag that receives of that tag took.
  struct TagStream {
    Tag tag;
    std::uint32_t chain;
    std::vector<Taken> taken;
  };

  void add(const PostedReceive& receive);
  [[nodiscard]] std::uint32_t cancelOf(const PostedReceive& receive);
  void listCancels();
  void addOtherTags(std::uint32_t message);

  [[nodiscard]] std::uint32_t chainOf(std::uint32_t message) const;

  const Execution& m_execution;
  const RankHistory& m_history;
  const Chains& m_chains;
  const SendOrder& m_sends;
  bool m_threads;                ///< what the rank saw, r's thread need not have seen
  bool m_asksForAnyTag = false;  ///< some receive or probe of the rank
  std::uint32_t m_posts = 0;
  Serial m_begin = 0;
  Serial m_openUntil = 0;  ///< nothing here was not yet seen complete after this event
  std::unordered_map<Envelope, Posted, EnvelopeHash> m_posted;
  std::unordered_map<Envelope, std::vector<TagStream>, EnvelopeHash> m_taken;  ///< tag is kAnyTag
  std::vector<Serial> m_cancels;
  bool m_cancelsListed = false;
  Prerequisites m_found;
};

}  // namespace pf
