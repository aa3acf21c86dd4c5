// SPDX-License-Identifier: MIT
// Values as records: written to the log (before MPI_Init to memory), and read back from the
// schedule.
#include <sys/mman.h>

#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

constexpr std::size_t kEarlyFirst = std::size_t{1} << 16;
constexpr std::size_t kEarlyMost = std::size_t{16} << 20;

/// Records from before MPI_Init.
struct Early {
  unsigned char* begin;
  unsigned char* at;
  unsigned char* end;
};
unsigned char g_firstEarly[kEarlyFirst];
Early g_early{g_firstEarly, g_firstEarly, g_firstEarly + kEarlyFirst};

unsigned char* readVarint(unsigned char* p, std::uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    *value |= std::uint64_t{*p & 0x7FU} << shift;
    if (*p++ < 0x80) {
      break;
    }
  }
  return p;
}

std::uint64_t nextVarint(ValueStream& stream) {
  const unsigned char* const before = stream.at;
  const std::uint64_t value = takeVarint(&stream.at, stream.end);
  if (leftPiece(before, stream.at)) [[unlikely]] {
    giveBackValues();
  }
  return value;
}

ValueStream& streamOf(ValueKind kind) {
  return g_systemValues.streams[static_cast<std::size_t>(kind)];
}

void growEarly() {
  if (g_early.begin != g_firstEarly) {
    g_systemValues.record = false;
    noteUncovered(NotGuaranteedKind::EarlyLost, nullptr);
    return;
  }
  void* more = mmap(nullptr, kEarlyMost, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (more == MAP_FAILED) {
    g_systemValues.record = false;
    return;
  }
  auto* begin = static_cast<unsigned char*>(more);
  const auto used = static_cast<std::size_t>(g_early.at - g_early.begin);
  std::memcpy(begin, g_early.begin, used);
  g_early = {begin, begin + used, begin + kEarlyMost};
}

/// Room for a record of a value: in the log, or before that in memory.
class Room {
 public:
  explicit Room(ValueKind kind) {
    if (g_systemValues.joined) {
      if (g_systemValues.notesWaiting.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        writeNotes();
      }
      m_at = g_engine.log.reserve();
    } else {
      if (static_cast<std::size_t>(g_early.end - g_early.at) < kMaxRecord) [[unlikely]] {
        growEarly();
      }
      m_at = g_systemValues.record ? g_early.at : m_dropped;
    }
    const auto number = static_cast<std::uint8_t>(kind);
    if (g_systemValues.lastKind == number) {
      m_at = putRecord<RecordKind::NextValue>(m_at, {});
    } else {
      m_at = putRecord<RecordKind::Value>(m_at, {number});
      g_systemValues.lastKind = number;
    }
  }
  [[nodiscard]] unsigned char* at() const { return m_at; }
  void done(unsigned char* end) {
    if (g_systemValues.joined) {
      g_engine.log.commit(end);
      g_engine.log.publish();
    } else if (g_systemValues.record) {
      g_early.at = end;
    }
  }

 private:
  const StateLock m_lock;
  unsigned char* m_at = nullptr;
  unsigned char m_dropped[kMaxRecord];
};

void told(ValueKind kind, std::int64_t value) {
  if (kind == ValueKind::Gettimeofday) {
    g_systemValues.wall = value * 1000;
  } else if (kind == ValueKind::Time) {
    g_systemValues.wall = value * 1'000'000'000;
  } else if (kind == ValueKind::Clock || kind == ValueKind::TimespecGet) {
    g_systemValues.wall = value;
  } else if (static_cast<int>(kind) == CLOCK_MONOTONIC) {
    g_systemValues.monotonic = value;
  }
}

}  // namespace

/// One by one: none may straddle a block.
void flushEarly() {
  std::uint8_t kind = kValuesJoin;
  for (unsigned char* p = g_early.begin; p < g_early.at;) {
    unsigned char* const begin = p;
    if (static_cast<RecordKind>(*p++) == RecordKind::Value) {
      kind = *p++;
    }
    std::uint64_t first = 0;
    p = readVarint(p, &first);
    const ValueShape shape = shapeOf(static_cast<ValueKind>(kind));
    if (shape == ValueShape::Bytes) {
      p += first;
    } else if (shape == ValueShape::Seconds && (first & 3U) == kSecondsBits) {
      p = readVarint(p, &first);
    }
    unsigned char* to = g_engine.log.reserve();
    std::memcpy(to, begin, static_cast<std::size_t>(p - begin));
    g_engine.log.commit(to + (p - begin));
  }
  g_engine.log.put<RecordKind::Value>({kValuesJoin});
  g_engine.log.publish();
  g_systemValues.lastKind = kValuesJoin;
  if (g_early.begin != g_firstEarly) {
    munmap(g_early.begin, kEarlyMost);
  }
  g_early = {};
}

// -- values

bool recallNumber(ValueKind kind, std::int64_t* value) {
  ValueStream& stream = streamOf(kind);
  if (!g_systemValues.replay || stream.at >= stream.end) {
    return false;
  }
  stream.given =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(stream.given) +
                                static_cast<std::uint64_t>(unzigzag(nextVarint(stream))));
  stream.any = true;
  *value = stream.given;
  told(kind, *value);
  return true;
}

void keepNumber(ValueKind kind, std::int64_t value) {
  if (!g_systemValues.record) {
    return;
  }
  Room room(kind);
  std::int64_t& last = g_systemValues.last[static_cast<std::size_t>(kind)];
  const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                                    static_cast<std::uint64_t>(last));
  last = value;
  room.done(putVarint(room.at(), zigzag(difference)));
}

bool recallSeconds(double* value) {
  ValueStream& stream = streamOf(ValueKind::Wtime);
  if (!g_systemValues.replay || stream.at >= stream.end) {
    return false;
  }
  const std::uint64_t first = nextVarint(stream);
  if ((first & 3U) == kSecondsBits) {
    const std::uint64_t bits = nextVarint(stream);
    std::memcpy(&stream.seconds, &bits, sizeof bits);
  } else {
    stream.given += unzigzag(first >> 2);
    stream.seconds = secondsOf(stream.given, first & 3U);
  }
  stream.any = true;
  *value = stream.seconds;
  return true;
}

namespace {

/// The form of secondsOf() that gives `value` back bit by bit, and its nanoseconds; kSecondsBits:
/// none.
std::uint32_t formOf(double value, std::int64_t* nanoseconds) {
  static std::uint32_t usual = 0;
  if (!(value >= 0 && value < 4.0e9)) {
    return kSecondsBits;
  }
  const auto whole = static_cast<std::int64_t>(value);
  const double rest = value - static_cast<double>(whole);
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): it is positive, and tried below
  *nanoseconds = whole * 1'000'000'000 + static_cast<std::int64_t>(rest * 1.0e9 + 0.5);
  for (std::uint32_t i = 0; i < kSecondsBits; ++i) {
    const std::uint32_t form = (usual + i) % kSecondsBits;
    const double again = secondsOf(*nanoseconds, form);
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are given back
    if (std::memcmp(&again, &value, sizeof again) == 0) [[likely]] {
      usual = form;
      return form;
    }
  }
  return kSecondsBits;
}

/// The value as a record has it; kSecondsBits: its bits are to follow.
std::uint64_t codedSeconds(double value) {
  std::int64_t nanoseconds = 0;
  const std::uint32_t form = formOf(value, &nanoseconds);
  if (form == kSecondsBits) {
    return kSecondsBits;
  }
  std::int64_t& last = g_systemValues.last[static_cast<std::size_t>(ValueKind::Wtime)];
  const std::uint64_t difference = zigzag(nanoseconds - last);
  last = nanoseconds;
  return difference << 2 | form;
}

unsigned char* putSeconds(unsigned char* p, std::uint64_t coded, double value) {
  p = putVarint(p, coded);
  if (coded != kSecondsBits) {
    return p;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return putVarint(p, bits);
}

}  // namespace

void keepSeconds(double value) {
  if (g_systemValues.quick.load(std::memory_order_relaxed)) {
    const std::uint64_t coded = codedSeconds(value);
    if (coded != kSecondsBits) [[likely]] {
      addQuickly(ValueKind::Wtime, coded);
      return;
    }
    g_engine.log.commit(putSeconds(beginQuickly(ValueKind::Wtime), coded, value));
    g_engine.log.publish();
  } else if (g_systemValues.record) {
    Room room(ValueKind::Wtime);
    room.done(putSeconds(room.at(), codedSeconds(value), value));
  }
}

std::ptrdiff_t recallBytes(ValueKind kind, void* to, std::size_t size) {
  ValueStream& stream = streamOf(kind);
  if (!g_systemValues.replay || stream.at >= stream.end) {
    return -1;
  }
  auto* out = static_cast<unsigned char*>(to);
  std::size_t total = 0;
  while (stream.at < stream.end) {
    const std::size_t wanted = size - total < kValueBytes ? size - total : kValueBytes;
    std::uint64_t piece = nextVarint(stream);
    const auto left = static_cast<std::uint64_t>(stream.end - stream.at);  // behind the length
    piece = piece < left ? piece : left;
    const std::size_t taken = piece < wanted ? piece : wanted;
    std::memcpy(out + total, stream.at, taken);
    if (leftPiece(stream.at, stream.at + piece)) [[unlikely]] {
      giveBackValues();
    }
    stream.at += piece;
    total += taken;
    if (piece < kValueBytes || total == size) {
      break;
    }
  }
  return static_cast<std::ptrdiff_t>(total);
}

void keepBytes(ValueKind kind, const void* from, std::size_t size, std::size_t asked) {
  const auto* in = static_cast<const unsigned char*>(from);
  for (std::size_t done = 0; g_systemValues.record;) {
    const std::size_t piece = size - done < kValueBytes ? size - done : kValueBytes;
    Room room(kind);
    unsigned char* p = putVarint(room.at(), piece);
    std::memcpy(p, in + done, piece);
    room.done(p + piece);
    done += piece;
    if (piece < kValueBytes || done == asked) {
      break;
    }
  }
}

std::int64_t liveClock(ValueKind kind, std::int64_t real) {
  if (!g_systemValues.replay) {
    return real;
  }
  ValueStream& stream = streamOf(kind);
  if (!stream.live) {
    stream.live = true;
    stream.ahead = stream.any ? stream.given - real : 0;
  }
  told(kind, real + stream.ahead);
  return real + stream.ahead;
}

double liveSeconds(double real) {
  if (!g_systemValues.replay) {
    return real;
  }
  ValueStream& stream = streamOf(ValueKind::Wtime);
  if (!stream.live) {
    stream.live = true;
    stream.secondsAhead = stream.any ? stream.seconds - real : 0;
  }
  return real + stream.secondsAhead;
}

}  // namespace pf
