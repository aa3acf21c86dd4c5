// SPDX-License-Identifier: MIT
#include "replay_engine/rank/forcing/tagged.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/requests.h"

namespace pf {

struct TaggedReplay {
  // of the schedule
  const ScheduleTag* receives = nullptr;
  const ScheduleTagStream* streams = nullptr;
  const ScheduleTagSend* sends = nullptr;
  const ScheduleTagSeen* seen = nullptr;
  std::uint64_t receiveCount = 0;
  std::uint64_t streamCount = 0;
  std::uint64_t seenCount = 0;
  // how far it is used
  std::uint64_t nextReceive = 0;
  std::uint64_t nextSeen = 0;
  struct Progress {
    std::uint32_t sent;
    std::uint32_t tagged;  ///< of them
  };
  Progress* progress = nullptr;  ///< by stream

  std::uint64_t range = 0;  ///< tags of one shadow
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

/// Tags that a communicator has.
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

bool before(const ScheduleTagStream& stream, std::uint64_t key, int dest, int tag) {
  if (stream.key != key) {
    return stream.key < key;
  }
  return stream.dest != dest ? stream.dest < dest : stream.tag < tag;
}

}  // namespace

bool startTags(const char** why) {
  const ScheduleHeader& schedule = g_engine.choices.header();
  if (schedule.tagged == 0) {
    return true;
  }
  static TaggedReplay tags;
  tags.receives = sectionOf<ScheduleTag>(schedule.tags, &tags.receiveCount);
  tags.streams = sectionOf<ScheduleTagStream>(schedule.tagStreams, &tags.streamCount);
  std::uint64_t sendCount = 0;
  tags.sends = sectionOf<ScheduleTagSend>(schedule.tagSends, &sendCount);
  tags.seen = sectionOf<ScheduleTagSeen>(schedule.tagsSeen, &tags.seenCount);
  tags.range = tagRange();
  tags.shadowCount = schedule.lastTag / tags.range + 1;
  if (tags.shadowCount > kMostShadows) {
    *why = "more receives than this MPI library has tags for: replay with --force pinned";
    return false;
  }
  tags.progress = static_cast<TaggedReplay::Progress*>(
      std::calloc(tags.streamCount + 1, sizeof(TaggedReplay::Progress)));
  tags.shadows = static_cast<MPI_Comm*>(std::calloc(tags.shadowCount, sizeof(MPI_Comm)));
  if (tags.progress == nullptr || tags.shadows == nullptr) {
    *why = "no memory";
    return false;
  }
  MPI_Group world = MPI_GROUP_NULL;  // not by MPI_Comm_dup, which calls the application's callbacks
  PF_REAL(Comm_group)(MPI_COMM_WORLD, &world);
  for (std::uint64_t i = 0; i < tags.shadowCount; ++i) {
    PF_REAL(Comm_create)(MPI_COMM_WORLD, world, &tags.shadows[i]);
    PF_REAL(Comm_set_errhandler)(tags.shadows[i], MPI_ERRORS_RETURN);
  }
  PF_REAL(Group_free)(&world);
  g_engine.tags = &tags;
  return true;
}

void endTags() {
  if (g_engine.tags == nullptr) {
    return;
  }
  for (std::uint64_t i = 0; i < g_engine.tags->shadowCount; ++i) {
    PF_REAL(Comm_free)(&g_engine.tags->shadows[i]);
  }
  g_engine.tags = nullptr;
}

namespace tags {

SendRoute route(int dest, int tag, MPI_Comm comm) {
  TaggedReplay& own = *g_engine.tags;
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
  const ScheduleTagStream& stream = own.streams[low];
  TaggedReplay::Progress& done = own.progress[low];
  ++done.sent;
  const ScheduleTagSend& next = own.sends[stream.first + done.tagged];
  if (done.tagged == stream.count || next.number != done.sent) {
    return {dest, tag, comm, false, static_cast<std::uint32_t>(low + 1)};
  }
  giveBack(own.sends + stream.first, done.tagged, kPieceOfStream);
  ++done.tagged;
  return {world, static_cast<int>(next.post % own.range), own.shadows[next.post / own.range], true,
          static_cast<std::uint32_t>(low + 1)};
}

const ScheduleTag* ofPost(std::uint32_t post) {
  TaggedReplay& own = *g_engine.tags;
  while (own.nextReceive < own.receiveCount && own.receives[own.nextReceive].post < post) {
    giveBack(own.receives, own.nextReceive, kPiece);
    ++own.nextReceive;
  }
  const ScheduleTag& next = own.receives[own.nextReceive];
  return own.nextReceive < own.receiveCount && next.post == post ? &next : nullptr;
}

const ScheduleTag* ofProbe(std::uint32_t probe) {
  TaggedReplay& own = *g_engine.tags;
  while (own.nextSeen < own.seenCount && own.seen[own.nextSeen].probe < probe) {
    giveBack(own.seen, own.nextSeen, kPiece);
    ++own.nextSeen;
  }
  const ScheduleTagSeen& next = own.seen[own.nextSeen];
  return own.nextSeen < own.seenCount && next.probe == probe ? &own.receives[next.receive]
                                                             : nullptr;
}

void restore(MPI_Status* status, const ScheduleTag& tag) {
  if (status != MPI_STATUS_IGNORE && status->MPI_SOURCE == tag.world &&
      status->MPI_TAG == shadowOf(tag).tag) {
    status->MPI_SOURCE = tag.source;
    status->MPI_TAG = tag.tag;
  }
}

}  // namespace tags

void takeBack(const SendRoute& route) {
  if (route.stream != 0) {
    TaggedReplay::Progress& done = g_engine.tags->progress[route.stream - 1];
    --done.sent;
    done.tagged -= route.tagged ? 1U : 0U;
  }
}

ProbeRoute shadowOf(const ScheduleTag& tag) {
  const TaggedReplay& own = *g_engine.tags;
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

int receiveTagged(const ScheduleTag& tag, void* buffer, int count, MPI_Datatype datatype,
                  MPI_Comm comm, MPI_Status* status) {
  const ProbeRoute from = shadowOf(tag);
  const int result =
      PF_REAL(Recv)(buffer, count, datatype, from.source, from.tag, from.comm, status);
  tags::restore(status, tag);
  return errorOnShadow(comm, result);
}

int exchangeTagged(const TaggedExchange& what, const SendRoute& to, const ScheduleTag* tag,
                   MPI_Status* status) {
  const ProbeRoute from =
      tag != nullptr ? shadowOf(*tag) : ProbeRoute{what.source, what.tag, what.comm, nullptr};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int received = PF_REAL(Irecv)(what.buffer, what.count, what.datatype, from.source, from.tag,
                                from.comm, &requests[0]);
  int sent = received;
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
  return to.tagged ? errorOnShadow(what.comm, sent) : sent;
}

void keepMessage(MPI_Message message, const ScheduleTag* tag, MPI_Comm comm) {
  if (tag != nullptr) {
    Request entry;
    entry.handle = keyOf(message);
    entry.kind = RequestKind::TaggedMessage;
    entry.comm = comm;
    Requests& messages = g_engine.tags->messages;
    messages.detail(*messages.insert(entry)).tagged = tag;
  }
}

KeptMessage takeMessage(MPI_Message message) {
  const Request* const found =
      g_engine.tags == nullptr ? nullptr : g_engine.tags->messages.find(keyOf(message));
  if (found == nullptr) {
    return {};
  }
  const KeptMessage kept{found->tagged(), found->comm};
  g_engine.tags->messages.erase(keyOf(message));
  return kept;
}

}  // namespace pf
