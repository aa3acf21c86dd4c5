// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/thread_order.h"

#include <pthread.h>

#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/wrapper_support.h"

namespace pf {
namespace {

/// What is known of an object that threads release and acquire.
struct KnownObject {
  const volatile void* object = nullptr;
  std::uint32_t releaser = Lane::kNoLane;  ///< the last one
  std::uint64_t releasedAt = 0;            ///< Lane::changes of it, then
  std::uint32_t knower = Lane::kNoLane;    ///< a thread that knows all that was released here
};

/// By address; a collision only costs records that need not be.
constexpr std::size_t kObjects = 4096;
KnownObject g_objects[kObjects];

KnownObject& known(const volatile void* object) {
  const auto bits = reinterpret_cast<std::uintptr_t>(object);
  KnownObject& found = g_objects[(bits >> 3) * 0x9E3779B97F4A7C15U >> 52];
  if (found.object != object) {
    found = KnownObject{};
    found.object = object;
  }
  return found;
}

void log(const Lane& lane, ThreadOrdering kind, std::uint64_t what) {
  g_engine.log.put<RecordKind::Ordered>({static_cast<std::uint32_t>(kind), lane.number, what});
  g_engine.log.publish();
}

std::uint64_t nameOf(const volatile void* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

}  // namespace

void releases(const volatile void* object) {
  Lane& lane = myLane();
  lockState();
  KnownObject& there = known(object);
  if (there.releaser != lane.number || there.releasedAt != lane.changes) {
    log(lane, ThreadOrdering::Released, nameOf(object));
    there.releaser = lane.number;
    there.releasedAt = lane.changes;
    there.knower = there.knower == lane.number ? lane.number : Lane::kNoLane;
  }
  unlockState();
}

void acquires(const volatile void* object) {
  Lane& lane = myLane();
  lockState();
  KnownObject& there = known(object);
  if (there.knower != lane.number) {
    log(lane, ThreadOrdering::Acquired, nameOf(object));
    there.knower = lane.number;
    ++lane.changes;
  }
  unlockState();
}

void arrives(const void* barrier) {
  Lane& lane = myLane();
  lockState();
  log(lane, ThreadOrdering::Arrived, nameOf(barrier));
  unlockState();
}

void leaves(const void* barrier) {
  Lane& lane = myLane();
  lockState();
  log(lane, ThreadOrdering::Left, nameOf(barrier));
  ++lane.changes;
  unlockState();
}

void logThreadMade(const Lane& parent, std::uint32_t ordinal) {
  if (parent.number != Lane::kNoLane) {  // else it has done nothing yet
    log(parent, ThreadOrdering::Made, ordinal);
  }
}

void logThreadEnd(const Lane& lane) {
  if (lane.number != Lane::kNoLane) {
    log(lane, ThreadOrdering::Ended, pthread_self());
  }
}

void logJoined(unsigned long thread) {
  Lane& lane = myLane();
  lockState();
  log(lane, ThreadOrdering::Joined, thread);
  ++lane.changes;
  unlockState();
}

}  // namespace pf
