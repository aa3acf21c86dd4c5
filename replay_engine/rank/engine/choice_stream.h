// SPDX-License-Identifier: MIT
// The choices of each kind that a recording has made (recording/log_sink.h), as a replay reads them back from its
// schedule. Where there is none, MPI chooses.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "replay_engine/log_format/log_format.h"
#include "replay_engine/log_format/pins.h"

namespace pf {

struct CallPlace;

/// What the recording says of the next call of a kind.
enum class NextChoice : std::uint8_t {
  FailedPoll,  ///< it failed (flag = false)
  Hit,         ///< it succeeded; payload() follows
  WhenThere,   ///< it is to succeed once payloadAhead() is there; then comes useAhead()
  Live,        ///< the record has ended: let MPI choose
};

/// Whether a mapped file begins as a schedule of this version.
bool isSchedule(const void* mapped);

/// The next varint in [*at, end), which *at then is behind; 0 at the end.
inline std::uint64_t takeVarint(const unsigned char** at, const unsigned char* end) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
    const unsigned char byte = *(*at)++;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) {
      break;
    }
  }
  return value;
}

/// A replay streams its schedule: each time that one of its readers comes from one such piece into
/// the next, the pages that have been read so far are given back, all at once; those in use come
/// back by a few page faults. So a rank does not grow with the trace.
constexpr unsigned kReadPieceBits = 18;
inline bool leftPiece(const unsigned char* before, const unsigned char* after) {
  return ((reinterpret_cast<std::uintptr_t>(before) ^ reinterpret_cast<std::uintptr_t>(after)) >>
          kReadPieceBits) != 0;
}

/// A kind's choices in the schedule.
struct ChoiceStream {
  const unsigned char* at = nullptr;
  const unsigned char* end = nullptr;
  std::uint64_t failedPolls = 0;  ///< left before the next success
  bool primed = false;            ///< `failedPolls` has been read
  bool last = false;              ///< `failedPolls` are those after the last success
};

/// The choices of one thread.
struct LaneChoices {
  std::uint64_t failedPollsLogged[kChoiceKinds] = {};
  std::atomic<std::uint64_t>* inHeader = nullptr;  ///< where they are kept in the log, or null
  ChoiceStream streams[kChoiceKinds];
  const std::uint32_t* finalFailedPolls = nullptr;
};

class ChoiceStreams {
 public:
  bool openSchedule(const char* path, int rank, int size, const char** why);
  [[nodiscard]] bool isOpen() const { return m_header != nullptr; }
  [[nodiscard]] const ScheduleHeader& header() const { return *m_header; }
  [[nodiscard]] const unsigned char* section(const ScheduleSection& s) const {
    return m_base + s.offset;
  }
  /// Those of lane 0, and of all where threads are not told apart.
  [[nodiscard]] LaneChoices& main() { return m_main; }
  /// Those of the calling thread.
  [[nodiscard]] LaneChoices& mine();
  /// Makes ready those of another lane. `recorded`: null if the recording did not have it.
  void openLane(LaneChoices& lane, const ScheduleLane* recorded) const;
  NextChoice next(ChoiceKind kind);
  /// Next number of the payload of the choice that next() returned as Hit.
  std::uint64_t payload(ChoiceKind kind);
  /// The first two numbers of the payload of a choice that next() has returned as WhenThere.
  [[nodiscard]] std::array<std::uint64_t, 2> payloadAhead(ChoiceKind kind);
  /// It has succeeded.
  void useAhead(ChoiceKind kind);
  /// Source for wildcard receive number `wild`: a rank of the communicator, or kPinUnknown.
  std::int32_t pin(std::uint32_t wild) {
    if (wild / kPinsAPage != m_pinPageNumber) [[unlikely]] {
      turnToPins(wild);
    }
    std::int32_t source = kPinUnknown;
    if (m_pinPage != nullptr) {
      std::memcpy(&source, m_pinPage + std::size_t{wild % kPinsAPage} * 4, 4);
    }
    return source;
  }
  /// Whether the receive with this post number was cancelled in the recording.
  bool wasCancelled(std::uint32_t post);
  /// Checksum of event `serial` (from 1), or 0 where there is none.
  std::uint32_t check(std::uint64_t serial) const;
  /// The completion call of this name, if it failed in the recording, else null; and the indices of
  /// the requests that it left as they were, ascending.
  [[nodiscard]] const ScheduleFailed* failed(std::uint64_t key) const;
  [[nodiscard]] const std::uint32_t* unfinished(const ScheduleFailed& call) const {
    return reinterpret_cast<const std::uint32_t*>(section(m_header->unfinished)) + call.first;
  }
  /// Whether everything recorded of this rank has been used.
  [[nodiscard]] bool allUsed(std::uint64_t serial) const;
  /// Whether a child of fork() has the schedule, too.
  void shareWithChild(bool share) const;
  /// A reader of a section has come from `before` to `after`.
  void hasRead(const unsigned char* before, const unsigned char* after) const {
    if (leftPiece(before, after)) [[unlikely]] {
      giveBack();
    }
  }

 private:
  void giveBack() const;
  /// To the page with the pin of wildcard receive `wild`.
  void turnToPins(std::uint32_t wild);

  const unsigned char* m_base = nullptr;
  const ScheduleHeader* m_header = nullptr;
  std::uint64_t m_size = 0;
  std::uint64_t m_cancel = 0;  ///< in the section of cancelled receives: not before those asked for
  static constexpr std::uint32_t kNoPins = 0xffffffff;
  const unsigned char* m_pinPage = nullptr;  ///< null: nothing is known of those of this page
  std::uint32_t m_pinPageNumber = kNoPins;
  const unsigned char* m_pinFurthest = nullptr;
  LaneChoices m_main;
};

}  // namespace pf
