// SPDX-License-Identifier: MIT
// Deliveries forced by shadow routes, in a replay (Netzer and Miller, 4.2): a traced message goes over a
// communicator of our own, the *shadow*, from and to world ranks, with the number of its receive
// (post) as tag; its receive is posted there, so that it takes this message and no other, and no
// other receive takes it. What is not traced goes as the program has it. Which message and which
// receive: replay_engine/log/shadow_routes.h.
//
// Posts beyond MPI_TAG_UB: there is one shadow for each range of them, so that no two receives of a
// rank have the same communicator and tag.
//
// Of the status that the application sees, source and tag are made what they would be.
// With several threads, posts and sends have the numbers of their turns, which a replay enforces.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

struct Posted;

/// Where a message goes. `stream`: 1 + index of its stream, if one with traced messages.
struct SendRoute {
  int peer;
  int tag;
  MPI_Comm comm;
  bool routed = false;
  std::uint32_t stream = 0;
};

/// Where a probe looks.
struct ProbeRoute {
  int source;
  int tag;
  MPI_Comm comm;
  const ScheduleRoute* routed = nullptr;
};

/// All ranks take part, if the schedule of each says so. False: why.
bool startShadow(const char** why);
void endTags();

namespace routes {
SendRoute route(int dest, int tag, MPI_Comm comm);
const ScheduleRoute* ofPost(std::uint32_t post);
const ScheduleRoute* ofProbe(std::uint32_t probe);
void restore(MPI_Status* status, const ScheduleRoute& tag);
}  // namespace routes

/// Before each message leaves, in their order.
inline SendRoute routeSend(int dest, int tag, MPI_Comm comm) {
  if (g_engine.routes == nullptr || dest < 0 || comm == MPI_COMM_NULL) [[likely]] {
    return {dest, tag, comm};
  }
  return routes::route(dest, tag, comm);
}
/// It did not leave, and does not count.
void takeBack(const SendRoute& route);

/// The message of this receive comes routed; else null. In the order of posts.
inline const ScheduleRoute* routeOfPost(std::uint32_t post) {
  return g_engine.routes == nullptr ? nullptr : routes::ofPost(post);
}
/// The same of the message that successful probe number `probe` sees.
inline const ScheduleRoute* routeOfProbe(std::uint32_t probe) {
  return g_engine.routes == nullptr ? nullptr : routes::ofProbe(probe);
}
/// Where the message of this receive comes.
ProbeRoute shadowOf(const ScheduleRoute& tag);

/// Makes the status of a receive that took its routed message what the application expects. No
/// effect on one that MPI has not filled.
inline void restoreStatus(MPI_Status* status, const ScheduleRoute* tag) {
  if (tag != nullptr) [[unlikely]] {
    routes::restore(status, *tag);
  }
}
/// Errors on a shadow only return: the handler of the application's communicator is called here.
int errorOnShadow(MPI_Comm comm, int result);

int receiveRouted(const ScheduleRoute& tag, void* buffer, int count, MPI_Datatype datatype,
                  MPI_Comm comm, MPI_Status* status);

/// One half or both of MPI_Sendrecv go over a shadow.
struct ShadowExchange {
  const void* sendBuffer;
  int sendCount;
  MPI_Datatype sendType;
  void* buffer;
  int count;
  MPI_Datatype datatype;
  int source;
  int tag;
  MPI_Comm comm;
};
int exchangeTagged(const ShadowExchange& what, const SendRoute& to, const ScheduleRoute* tag,
                   MPI_Status* status);

/// A matched probe has taken a routed message; what it came with, if it did, when it is received.
void keepMessage(MPI_Message message, const ScheduleRoute* tag, MPI_Comm comm);
struct KeptMessage {
  const ScheduleRoute* tag = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;
};
KeptMessage takeMessage(MPI_Message message);

}  // namespace pf
