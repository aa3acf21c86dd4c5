// SPDX-License-Identifier: MIT
#include "replay_engine/rank/forcing/shadow.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/requests.h"
#include "replay_engine/rank/engine/send_halves.h"

namespace pf {

struct ShadowReplay {
  // of the schedule
  const ScheduleRoute* receives = nullptr;
  const ScheduleRouteStream* streams = nullptr;
  const ScheduleRouteSend* sends = nullptr;
  const ScheduleRouteSeen* seen = nullptr;
  std::uint64_t receiveCount = 0;
  std::uint64_t streamCount = 0;
  std::uint64_t seenCount = 0;
  // how far it is used
  std::uint64_t nextReceive = 0;
  std::uint64_t nextSeen = 0;
  struct Progress {
    std::uint32_t sent;
    std::uint32_t routed;  ///< of them
  };
  Progress* progress = nullptr;  ///< by stream

  std::uint64_t range = 0;  ///< shadow routes of one shadow
  std::uint64_t shadowCount = 0;
  MPI_Comm* shadows = nullptr;
  Requests messages;  ///< of matched probes, by their handles
};

namespace {

constexpr std::uint64_t kMostShadows = 1024;

template <typename T>
const T* sectionOf(const ScheduleSection& section, std::uint64_t* count) {
  *count = section.size / sizeof(T);
  return reinterpret_cast<const T*>(g_engine.choices.section(section));
}

/// ShadowRoutes that a communicator has.
std::uint64_t tagRange() {
  void* value = nullptr;
  int has = 0;
  PF_REAL(Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, &value, &has);
  std::uint64_t range =
      1 + static_cast<std::uint64_t>(has != 0 ? *static_cast<int*>(value) : 32767);
  // For tests: as if MPI had fewer.
  const char* fewer = std::getenv("PHOTOFINISH_TAG_RANGE");
  const long few = fewer != nullptr ? std::atol(fewer) : 0;
  if (few > 0 && static_cast<std::uint64_t>(few) < range) {
    range = static_cast<std::uint64_t>(few);
  }
  return range;
}

/// A message handle is no request, but has its size in all MPI libraries that we know.
MPI_Request keyOf(MPI_Message message) {
  static_assert(sizeof(MPI_Message) == sizeof(MPI_Request));
  MPI_Request key;
  std::memcpy(&key, &message, sizeof key);
  return key;
}

/// A replay streams its schedule: of what lies before all[index], `piece` bytes now and then are
/// given back, so that a rank does not grow with the trace. What is read again comes back.
template <typename T>
void giveBack(const T* all, std::uint64_t index, std::uintptr_t piece) {
  if ((index + 1) % (piece / sizeof(T)) != 0) [[likely]] {
    return;
  }
  const auto end = reinterpret_cast<std::uintptr_t>(all + index) & ~(piece - 1);
  if (end - piece >= reinterpret_cast<std::uintptr_t>(all)) {
    madvise(reinterpret_cast<void*>(end - piece), piece, MADV_DONTNEED);
  }
}
constexpr std::uintptr_t kPiece = 1U << 20;
constexpr std::uintptr_t kPieceOfStream = 1U << 16;

bool before(const ScheduleRouteStream& stream, std::uint64_t key, int dest, int tag) {
  if (stream.key != key) {
    return stream.key < key;
  }
  return stream.dest != dest ? stream.dest < dest : stream.tag < tag;
}

}  // namespace

bool startShadow(const char** why) {
  const ScheduleHeader& schedule = g_engine.choices.header();
  if (schedule.routed == 0) {
    return true;
  }
  static ShadowReplay routes;
  routes.receives = sectionOf<ScheduleRoute>(schedule.routes, &routes.receiveCount);
  routes.streams = sectionOf<ScheduleRouteStream>(schedule.routeStreams, &routes.streamCount);
  std::uint64_t sendCount = 0;
  routes.sends = sectionOf<ScheduleRouteSend>(schedule.routeSends, &sendCount);
  routes.seen = sectionOf<ScheduleRouteSeen>(schedule.routesSeen, &routes.seenCount);
  routes.range = tagRange();
  routes.shadowCount = schedule.lastRoute / routes.range + 1;
  if (routes.shadowCount > kMostShadows) {
    *why = "more receives than this MPI library has tags for: replay with --force pinned";
    return false;
  }
  routes.progress = static_cast<ShadowReplay::Progress*>(
      std::calloc(routes.streamCount + 1, sizeof(ShadowReplay::Progress)));
  routes.shadows = static_cast<MPI_Comm*>(std::calloc(routes.shadowCount, sizeof(MPI_Comm)));
  if (routes.progress == nullptr || routes.shadows == nullptr) {
    *why = "no memory";
    return false;
  }
  MPI_Group world = MPI_GROUP_NULL;  // not by MPI_Comm_dup, which calls the application's callbacks
  PF_REAL(Comm_group)(MPI_COMM_WORLD, &world);
  for (std::uint64_t i = 0; i < routes.shadowCount; ++i) {
    PF_REAL(Comm_create)(MPI_COMM_WORLD, world, &routes.shadows[i]);
    PF_REAL(Comm_set_errhandler)(routes.shadows[i], MPI_ERRORS_RETURN);
  }
  PF_REAL(Group_free)(&world);
  g_engine.routes = &routes;
  return true;
}

void endTags() {
  if (g_engine.routes == nullptr) {
    return;
  }
  for (std::uint64_t i = 0; i < g_engine.routes->shadowCount; ++i) {
    PF_REAL(Comm_free)(&g_engine.routes->shadows[i]);
  }
  g_engine.routes = nullptr;
}

namespace routes {

SendRoute route(int dest, int tag, MPI_Comm comm) {
  ShadowReplay& own = *g_engine.routes;
  const SendRoute plain{dest, tag, comm};
  const int world = g_engine.comms.worldRank(comm, dest);
  const std::uint64_t key = g_engine.comms.of(comm).key;
  std::uint64_t low = 0;
  std::uint64_t high = own.streamCount;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (before(own.streams[middle], key, world, tag)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == own.streamCount || own.streams[low].key != key || own.streams[low].dest != world ||
      own.streams[low].tag != tag) {
    return plain;
  }
  const ScheduleRouteStream& stream = own.streams[low];
  ShadowReplay::Progress& done = own.progress[low];
  ++done.sent;
  const ScheduleRouteSend& next = own.sends[stream.first + done.routed];
  if (done.routed == stream.count || next.number != done.sent) {
    return {dest, tag, comm, false, static_cast<std::uint32_t>(low + 1)};
  }
  giveBack(own.sends + stream.first, done.routed, kPieceOfStream);
  ++done.routed;
  return {world, static_cast<int>(next.post % own.range), own.shadows[next.post / own.range], true,
          static_cast<std::uint32_t>(low + 1)};
}

const ScheduleRoute* ofPost(std::uint32_t post) {
  ShadowReplay& own = *g_engine.routes;
  while (own.nextReceive < own.receiveCount && own.receives[own.nextReceive].post < post) {
    giveBack(own.receives, own.nextReceive, kPiece);
    ++own.nextReceive;
  }
  const ScheduleRoute& next = own.receives[own.nextReceive];
  return own.nextReceive < own.receiveCount && next.post == post ? &next : nullptr;
}

const ScheduleRoute* ofProbe(std::uint32_t probe) {
  ShadowReplay& own = *g_engine.routes;
  while (own.nextSeen < own.seenCount && own.seen[own.nextSeen].probe < probe) {
    giveBack(own.seen, own.nextSeen, kPiece);
    ++own.nextSeen;
  }
  const ScheduleRouteSeen& next = own.seen[own.nextSeen];
  return own.nextSeen < own.seenCount && next.probe == probe ? &own.receives[next.receive]
                                                             : nullptr;
}

void restore(MPI_Status* status, const ScheduleRoute& tag) {
  if (status != MPI_STATUS_IGNORE && status->MPI_SOURCE == tag.world &&
      status->MPI_TAG == shadowOf(tag).tag) {
    status->MPI_SOURCE = tag.source;
    status->MPI_TAG = tag.tag;
  }
}

}  // namespace routes

void takeBack(const SendRoute& route) {
  if (route.stream != 0) {
    ShadowReplay::Progress& done = g_engine.routes->progress[route.stream - 1];
    --done.sent;
    done.routed -= route.routed ? 1U : 0U;
  }
}

ProbeRoute shadowOf(const ScheduleRoute& tag) {
  const ShadowReplay& own = *g_engine.routes;
  return {tag.world, static_cast<int>(tag.post % own.range), own.shadows[tag.post / own.range],
          &tag};
}

int errorOnShadow(MPI_Comm comm, int result) {
  if (result != MPI_SUCCESS) {
    const bool retired = g_engine.comms.of(comm).retired;
    PF_REAL(Comm_call_errhandler)(retired ? MPI_COMM_WORLD : comm, result);
  }
  return result;
}

int receiveRouted(const ScheduleRoute& tag, void* buffer, int count, MPI_Datatype datatype,
                  MPI_Comm comm, MPI_Status* status) {
  const ProbeRoute from = shadowOf(tag);
  const int result =
      PF_REAL(Recv)(buffer, count, datatype, from.source, from.tag, from.comm, status);
  routes::restore(status, tag);
  return errorOnShadow(comm, result);
}

int exchangeTagged(const ShadowExchange& what, const SendRoute& to, const ScheduleRoute* tag,
                   MPI_Status* status) {
  const ProbeRoute from =
      tag != nullptr ? shadowOf(*tag) : ProbeRoute{what.source, what.tag, what.comm, nullptr};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int sent =
      checkSendHalf(what.sendBuffer, what.sendCount, what.sendType, to.peer, to.tag, to.comm);
  if (sent != MPI_SUCCESS) {
    return to.routed ? errorOnShadow(what.comm, sent) : sent;
  }
  int received = PF_REAL(Irecv)(what.buffer, what.count, what.datatype, from.source, from.tag,
                                from.comm, &requests[0]);
  sent = received;
  if (received == MPI_SUCCESS) {
    sent = PF_REAL(Isend)(what.sendBuffer, what.sendCount, what.sendType, to.peer, to.tag, to.comm,
                          &requests[1]);
    if (sent != MPI_SUCCESS) {
      PF_REAL(Cancel)(&requests[0]);
      PF_REAL(Request_free)(&requests[0]);
    }
  }
  if (sent == MPI_SUCCESS) {
    const int before = status != MPI_STATUS_IGNORE ? status->MPI_ERROR : 0;
    received = PF_REAL(Wait)(&requests[0], status);
    sent = PF_REAL(Wait)(&requests[1], MPI_STATUS_IGNORE);
    restoreStatus(status, tag);
    if (status != MPI_STATUS_IGNORE) {
      status->MPI_ERROR = before;
    }
  }
  if (received != MPI_SUCCESS) {
    return tag != nullptr ? errorOnShadow(what.comm, received) : received;
  }
  return to.routed ? errorOnShadow(what.comm, sent) : sent;
}

void keepMessage(MPI_Message message, const ScheduleRoute* tag, MPI_Comm comm) {
  if (tag != nullptr) {
    Request entry;
    entry.handle = keyOf(message);
    entry.kind = RequestKind::RoutedMessage;
    entry.comm = comm;
    Requests& messages = g_engine.routes->messages;
    messages.detail(*messages.insert(entry)).routed = tag;
  }
}

KeptMessage takeMessage(MPI_Message message) {
  const Request* const found =
      g_engine.routes == nullptr ? nullptr : g_engine.routes->messages.find(keyOf(message));
  if (found == nullptr) {
    return {};
  }
  const KeptMessage kept{found->routed(), found->comm};
  g_engine.routes->messages.erase(keyOf(message));
  return kept;
}

}  // namespace pf
