// SPDX-License-Identifier: MIT
// What is kept of a run. The handlers of MPI's calls tell what happens, in the order in which it does; which of it goes
// into the log, and how, is the sink's, which is chosen once (replay_engine/rank/recording/choose_sink.h).
//
// Under the engine's lock. That an event begins and where the rank is, the engine keeps itself: each call has that in its
// path (engine.cpp). A sink has no state of its own: the numbers of posts, sends and events are the engine's, and are counted in every run.
#pragma once

#include <initializer_list>

#include "replay_engine/execution/execution.h"
#include "replay_engine/log_format/log_format.h"
#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/engine/requests.h"

namespace pf {

struct CallPlace;
struct Contents;

/// What a receive was asked for, and the numbers that it got.
struct Posted {
  std::uint32_t post = 0;
  std::uint32_t wildNumber = 0;
  bool wild = false;
  int source = 0;  ///< to give to MPI
  const ScheduleRoute* routed = nullptr;
};

/// A message, or a receive or probe that asks for one: `peer` of `comm`, or MPI_ANY_SOURCE.
struct Envelope {
  MPI_Comm comm;
  int peer;
  int tag;
};

/// The two halves of MPI_Sendrecv; a peer may be MPI_PROC_NULL.
struct ExchangeEnvelopes {
  MPI_Comm comm;
  int dest;
  int sendTag;
  int source;
  int receiveTag;
};

/// What a rank gives to a collective, and takes of it.
struct CollectivePartOfRank {
  MPI_Comm comm;
  CollectiveFlow flow;
  int root;
  bool contributes;
  bool takes;
  std::uint32_t persistent =
      0;  ///< 1 + how-manieth persistent collective of the communicator is started; 0: it is none
  std::uint32_t start = 0;  ///< how-manieth start of it, from 0
};

class RecordSink {
 public:
  // -- events: a call that the program has begun, and that counts
  /// The event neither sends nor receives.
  virtual void local(const CallPlace&) {}
  virtual void note(const CallPlace&) {}  ///< its replay is not guaranteed

  // -- sends
  /// Before the message leaves: no receiver's record can then name one that its sender's does not have.
  virtual void sends(const CallPlace&, RecordKind, Envelope, const Contents&) {}
  virtual void sendFailed(Envelope) {}
  /// A non-blocking synchronous send has this request.
  virtual void synchronousPosted(MPI_Request, std::uint32_t) {}
  /// The end of a blocking synchronous send whose begin was an event of its own.
  virtual void synchronousDone(const CallPlace&, std::uint32_t) {}

  // -- receives
  virtual void posts(const CallPlace&, Envelope) {}
  virtual void posted(std::uint32_t, Envelope, MPI_Request) {}
  /// By a blocking call: source and tag of the message; null: it got none.
  virtual void received(const CallPlace&, const Posted&, Envelope, const MPI_Status*) {}

  // -- MPI_Start, MPI_Sendrecv
  virtual void starts(const CallPlace&) {}
  virtual void started(const Request&, const Contents&) {}
  /// Before the message of a blocking MPI_Sendrecv leaves; and what it took.
  virtual void exchanges(const ExchangeEnvelopes&) {}
  virtual void exchanged(const CallPlace&, const Posted&, const ExchangeEnvelopes&, const Contents&,
                         const MPI_Status*) {}
  /// Where its begin is an event of its own.
  virtual void exchangePosts(const CallPlace&, const ExchangeEnvelopes&, const Contents&) {}

  // -- what goes to ranks outside of the group (recordings with groups)
  /// The next message holds this.
  virtual void outgoing(const Contents&) {}
  /// The collective whose event has begun is given this.
  virtual void outgoingGiven(const Contents&) {}

  // -- choices that MPI has made
  virtual void chose(ChoiceKind, std::initializer_list<std::uint32_t>) {}
  virtual void choseSome(ChoiceKind, int, const int*) {}
  virtual void missed(ChoiceKind) {}  ///< a test or a probe that failed
  /// A probe found the message of this status. `kind`: Receive of a matched one.
  virtual void probed(const CallPlace&, RecordKind, Envelope, const MPI_Status&) {}
  virtual void probeRefused(const CallPlace&) {}

  // -- requests
  virtual void completes(const CallPlace&) {}
  /// The program is told that it is done (a copy: the table may have changed since), with this error.
  virtual void requestDone(const Request&, const MPI_Status*, int) {}
  virtual void receiveDone(const Request&, const MPI_Status*, int) {}
  virtual void told() {}  ///< that is all that the call has told
  virtual void cancelled(const Request&) {}
  virtual void letGo(const Request&) {}
  /// Not told, but it has taken a message.
  virtual void matched(const Request&, const MPI_Status&) {}

  // -- collectives
  /// `given`: what it contributes, where contents are looked at.
  virtual CollectiveClock enters(const CallPlace&, RecordKind, const CollectivePartOfRank&,
                                 const Contents&) {
    return {};
  }
  virtual void leaves(MPI_Comm, const CollectiveClock&) {}
  virtual void collectivePosted(MPI_Request, std::uint32_t, MPI_Comm, const CollectiveClock&) {}
  /// The end of a blocking one whose begin was an event of its own.
  virtual void collectiveDone(const CallPlace&, std::uint32_t) {}
  virtual void communicatorFreed() {}

  virtual void publish() {}  ///< all that was told so far counts
  virtual void ends() {}     ///< MPI_Finalize, after the last event

 protected:
  ~RecordSink() = default;
};

/// Keeps nothing: of a replay that is not recorded.
class SilentSink final : public RecordSink {};
extern SilentSink g_silentSink;

}  // namespace pf
