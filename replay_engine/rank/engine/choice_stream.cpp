// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/choice_stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/log_format/pins.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/lanes.h"

namespace pf {

LaneChoices& ChoiceStreams::mine() {
  return g_engine.threads ? *myLane().choices : m_main;
}

bool isSchedule(const void* mapped) {
  ScheduleHeader header;
  std::memcpy(&header, mapped, sizeof header);
  const std::uint32_t crc = header.crc;
  header.crc = 0;
  return header.magic == kScheduleMagic && header.version == kLogVersion &&
         crc32c(&header, sizeof header) == crc;
}

bool ChoiceStreams::openSchedule(const char* path, int rank, int size, const char** why) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0 ||
      info.st_size < static_cast<off_t>(sizeof(ScheduleHeader))) {
    *why = "the schedule of this rank cannot be read";
    if (fd >= 0) {
      ::close(fd);
    }
    return false;
  }
  m_size = static_cast<std::uint64_t>(info.st_size);
  void* mapped = mmap(nullptr, m_size, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) {
    *why = "the schedule of this rank cannot be mapped";
    return false;
  }
  madvise(mapped, m_size, MADV_DONTFORK);
  m_base = static_cast<const unsigned char*>(mapped);
  if (!isSchedule(mapped)) {
    *why = "the schedule of this rank is damaged";
    return false;
  }
  m_header = reinterpret_cast<const ScheduleHeader*>(m_base);
  m_pinPageNumber = kNoPins;
  if (m_header->rank != rank || m_header->size != size) {
    *why = "the recording had another number of ranks";
    return false;
  }
  for (std::size_t k = 0; k < kChoiceKinds; ++k) {
    m_main.streams[k].at = section(m_header->choices[k]);
    m_main.streams[k].end = m_main.streams[k].at + m_header->choices[k].size;
  }
  m_main.finalFailedPolls = m_header->finalFailedPolls;
  return true;
}

void ChoiceStreams::shareWithChild(bool share) const {
  madvise(const_cast<unsigned char*>(m_base), m_size, share ? MADV_DOFORK : MADV_DONTFORK);
}

void ChoiceStreams::openLane(LaneChoices& lane, const ScheduleLane* recorded) const {
  static const std::uint32_t none[kChoiceKinds] = {};
  lane.finalFailedPolls = recorded != nullptr ? recorded->finalFailedPolls : none;
  for (std::size_t k = 0; recorded != nullptr && k < kChoiceKinds; ++k) {
    lane.streams[k].at = section(recorded->choices[k]);
    lane.streams[k].end = lane.streams[k].at + recorded->choices[k].size;
  }
}

namespace {
constexpr std::uint16_t kCallOf[] = {
    kCallTest,   kCallTestall, kCallTestany, kCallTestsome, kCallWaitany,           kCallWaitsome,
    kCallIprobe, kCallImprobe, kCallProbe,   kCallMprobe,   kCallRequest_get_status};
static_assert(std::size(kCallOf) == static_cast<std::size_t>(ChoiceKind::Lock));
}  // namespace

NextChoice ChoiceStreams::next(ChoiceKind kind) {
  if (!isOpen()) {
    return NextChoice::Live;
  }
  const auto k = static_cast<std::size_t>(kind);
  LaneChoices& lane = mine();
  ChoiceStream& stream = lane.streams[k];
  if (!stream.primed) {
    const unsigned char* const before = stream.at;
    stream.last = stream.at >= stream.end;
    stream.failedPolls =
        stream.last ? lane.finalFailedPolls[k] : takeVarint(&stream.at, stream.end);
    stream.primed = true;
    hasRead(before, stream.at);
  }
  if (stream.failedPolls == kUntilThere &&
      (kind == ChoiceKind::Iprobe || kind == ChoiceKind::Improbe)) {
    return NextChoice::WhenThere;
  }
  if (stream.failedPolls > 0) {
    --stream.failedPolls;
    return NextChoice::FailedPoll;
  }
  if (stream.last) {
    if (g_recordEnds != nullptr && kind != ChoiceKind::Lock && allUsed(g_engine.serial)) {
      g_recordEnds(kCallOf[k]);  // polls that fail are no events
    }
    // In the recording this thread had no more of them; others may not have come to that point yet.
    return g_engine.threads && !turnsUsedUp() ? NextChoice::FailedPoll : NextChoice::Live;
  }
  stream.primed = false;
  return NextChoice::Hit;
}

std::uint64_t ChoiceStreams::payload(ChoiceKind kind) {
  ChoiceStream& stream = mine().streams[static_cast<std::size_t>(kind)];
  const unsigned char* const before = stream.at;
  const std::uint64_t value = takeVarint(&stream.at, stream.end);
  hasRead(before, stream.at);
  return value;
}

std::array<std::uint64_t, 2> ChoiceStreams::payloadAhead(ChoiceKind kind) {
  const ChoiceStream& stream = mine().streams[static_cast<std::size_t>(kind)];
  const unsigned char* at = stream.at;
  const std::uint64_t first = takeVarint(&at, stream.end);
  return {first, takeVarint(&at, stream.end)};
}

void ChoiceStreams::useAhead(ChoiceKind kind) {
  (void)payload(kind);
  (void)payload(kind);
  mine().streams[static_cast<std::size_t>(kind)].primed = false;
}

void ChoiceStreams::giveBack() const {
  madvise(const_cast<unsigned char*>(m_base), m_size, MADV_DONTNEED);
}

void ChoiceStreams::turnToPins(std::uint32_t wild) {
  m_pinPageNumber = wild / kPinsAPage;
  m_pinPage =
      isOpen() ? pinIn(section(m_header->pins), m_header->pins.size, m_pinPageNumber * kPinsAPage)
               : nullptr;
  if (m_pinPage > m_pinFurthest) {  // receives that are waited for ask for those before again
    if (m_pinFurthest != nullptr) {
      hasRead(m_pinFurthest, m_pinPage);
    }
    m_pinFurthest = m_pinPage;
  }
}

bool ChoiceStreams::wasCancelled(std::uint32_t post) {
  if (!isOpen()) {
    return false;
  }
  const unsigned char* const posts = section(m_header->cancelled);
  const std::uint64_t count = m_header->cancelled.size / 4;
  const auto at = [posts](std::uint64_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, posts + index * 4, 4);
    return value;
  };
  const std::uint64_t before = m_cancel;
  while (m_cancel < count && at(m_cancel) < post) {
    ++m_cancel;
  }
  while (m_cancel > 0 && at(m_cancel - 1) >= post) {
    --m_cancel;
  }
  hasRead(posts + before * 4, posts + m_cancel * 4);
  return m_cancel < count && at(m_cancel) == post;
}

std::uint32_t ChoiceStreams::check(std::uint64_t serial) const {
  if (serial == 0 || serial > m_header->checks.size / 4) {
    return 0;
  }
  const unsigned char* at = section(m_header->checks) + (serial - 1) * 4;
  hasRead(at - 4, at);
  std::uint32_t value = 0;
  std::memcpy(&value, at, 4);
  return value;
}

const ScheduleFailed* ChoiceStreams::failed(std::uint64_t key) const {
  if (!isOpen()) {
    return nullptr;
  }
  const auto* const all = reinterpret_cast<const ScheduleFailed*>(section(m_header->failed));
  const auto* const end = all + m_header->failed.size / sizeof(ScheduleFailed);
  const auto* const found = std::lower_bound(
      all, end, key,
      [](const ScheduleFailed& call, std::uint64_t wanted) { return call.key < wanted; });
  return found != end && found->key == key ? found : nullptr;
}

bool ChoiceStreams::allUsed(std::uint64_t serial) const {
  return serial >= m_header->serials;
}

}  // namespace pf
