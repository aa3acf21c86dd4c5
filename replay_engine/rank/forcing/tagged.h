// SPDX-License-Identifier: MIT
// Deliveries forced by tags, in a replay (Netzer and Miller, 4.2): a traced message goes over a
// communicator of our own, the *shadow*, from and to world ranks, with the number of its receive
// (post) as tag; its receive is posted there, so that it takes this message and no other, and no
// other receive takes it. What is not traced goes as the program has it. Which message and which
// receive: replay_engine/log/tags.h.
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
  bool tagged = false;
  std::uint32_t stream = 0;
};

/// Where a probe looks.
struct ProbeRoute {
  int source;
  int tag;
  MPI_Comm comm;
  const ScheduleTag* tagged = nullptr;
};

/// All ranks take part, if the schedule of each says so. False: why.
bool startTags(const char** why);
void endTags();

namespace tags {
SendRoute route(int dest, int tag, MPI_Comm comm);
const ScheduleTag* ofPost(std::uint32_t post);
const ScheduleTag* ofProbe(std::uint32_t probe);
void restore(MPI_Status* status, const ScheduleTag& tag);
}  // namespace tags

/// Before each message leaves, in their order.
inline SendRoute routeSend(int dest, int tag, MPI_Comm comm) {
  if (g_engine.tags == nullptr || dest < 0 || comm == MPI_COMM_NULL) [[likely]] {
    return {dest, tag, comm};
  }
  return tags::route(dest, tag, comm);
}
/// It did not leave, and does not count.
void takeBack(const SendRoute& route);

/// The message of this receive comes tagged; else null. In the order of posts.
inline const ScheduleTag* tagOfPost(std::uint32_t post) {
  return g_engine.tags == nullptr ? nullptr : tags::ofPost(post);
}
/// The same of the message that successful probe number `probe` sees.
inline const ScheduleTag* tagOfProbe(std::uint32_t probe) {
  return g_engine.tags == nullptr ? nullptr : tags::ofProbe(probe);
}
/// Where the message of this receive comes.
ProbeRoute shadowOf(const ScheduleTag& tag);

/// Makes the status of a receive that took its tagged message what the application expects. No
/// effect on one that MPI has not filled.
inline void restoreStatus(MPI_Status* status, const ScheduleTag* tag) {
  if (tag != nullptr) [[unlikely]] {
    tags::restore(status, *tag);
  }
}
/// Errors on a shadow only return: the handler of the application's communicator is called here.
int errorOnShadow(MPI_Comm comm, int result);

int receiveTagged(const ScheduleTag& tag, void* buffer, int count, MPI_Datatype datatype,
                  MPI_Comm comm, MPI_Status* status);

/// One half or both of MPI_Sendrecv go over a shadow.
struct TaggedExchange {
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
int exchangeTagged(const TaggedExchange& what, const SendRoute& to, const ScheduleTag* tag,
                   MPI_Status* status);

/// A matched probe has taken a tagged message; what it came with, if it did, when it is received.
void keepMessage(MPI_Message message, const ScheduleTag* tag, MPI_Comm comm);
struct KeptMessage {
  const ScheduleTag* tag = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;
};
KeptMessage takeMessage(MPI_Message message);

}  // namespace pf
