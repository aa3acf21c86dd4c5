// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/expression_place.h"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "mi_bridge/gdb_session.h"
#include "mi_bridge/python_stacks.h"

namespace pf::session {
namespace {

constexpr int kMostFramesAsked = 256;
/// Where the dynamic linker keeps the first thread's stack pointer at the beginning of the process.
constexpr const char* kStackEnd = "&__libc_stack_end";
constexpr std::uint64_t kLargestStack = std::uint64_t{64} << 20;

std::string bytesType(std::uint64_t size) {
  return "char [" + std::to_string(size) + "]";
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
  return "0x" + std::string(text.data(), end);
}

/// Of memory as GDB writes it. 0: that is no whole number.
std::uint64_t wordIn(const std::string& digits) {
  const std::string bytes = mi::bytesOf(digits);
  std::uint64_t number = 0;
  if (bytes.size() == sizeof number) {
    std::memcpy(&number, bytes.data(), sizeof number);
  }
  return number;
}

/// Of a text in decimal; 0: it is none.
std::uint64_t numberIn(const std::string& text) {
  std::uint64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string ExpressionPlace::anywhere() const {
  const std::string where = belowEnd ? "(*(unsigned long *)" + std::string(kStackEnd) + " - " +
                                           std::to_string(*belowEnd) + ")"
                                     : hexadecimal(address);
  return "*(" + type + " *)" + where;
}

bool ExpressionPlace::isWhere(const ExpressionPlace& other) const {
  return belowEnd == other.belowEnd && (belowEnd || address == other.address);
}

std::optional<ExpressionPlace> placeIn(const std::string& text) {
  const std::size_t at = text.find("0x");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  ExpressionPlace place;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 2, end, place.address, 16);
  if (error != std::errc()) {
    return std::nullopt;
  }
  place.isStatic = std::string_view(rest, static_cast<std::size_t>(end - rest)).starts_with(" <");
  return place;
}

std::string typeInC(const std::string& type, std::uint64_t size) {
  const auto begins = [&type](std::string_view with) { return type.starts_with(with); };
  if (begins("integer") || begins("logical")) {
    return size == 1   ? "signed char"
           : size == 2 ? "short"
           : size == 4 ? "int"
           : size == 8 ? "long"
                       : bytesType(size);
  }
  if (begins("real")) {
    return size == 4 ? "float" : size == 8 ? "double" : bytesType(size);
  }
  const bool unnamed = type.empty() || type.find("{...}") != std::string::npos ||
                       type.find("(anonymous") != std::string::npos;
  if (unnamed || begins("complex") || begins("character") || begins("Type ") || begins("PTR TO")) {
    return bytesType(size);
  }
  return type;
}

namespace {

/// Of the thread of `frame`. None: the rank has no stopped GDB, or the frame is one of Python.
void askFrames(SessionState& state, int rank, const mi::FrameRef& frame,
               const std::function<void(const std::vector<mi::Frame>&)>& done) {
  mi::GdbSession* const gdb = state.stoppedDebugger(rank);
  if (gdb == nullptr || frame.python != 0) {
    done({});
    return;
  }
  gdb->inspect().frames(frame.thread, 0, kMostFramesAsked - 1,
                        [done](const Result<std::vector<mi::Frame>>& frames) {
                          done(frames ? *frames : std::vector<mi::Frame>());
                        });
}

void askAddress(SessionState& state, int rank, const FoundFrame& in, const std::string& expression,
                const PlaceDone& done) {
  mi::GdbSession* const gdb = state.stoppedDebugger(rank);
  if (gdb == nullptr || in.frame.python != 0) {
    done(std::nullopt);
    return;
  }
  const auto onStack = [&state, rank, done](ExpressionPlace place) {
    mi::GdbSession* const same = state.stoppedDebugger(rank);
    if (same == nullptr || place.isStatic) {
      done(place);
      return;
    }
    same->inspect().readMemory(kStackEnd, sizeof(std::uint64_t),
                               [place, done](const Result<std::string>& bytes) mutable {
                                 const std::uint64_t end = bytes ? wordIn(*bytes) : 0;
                                 if (place.address < end && end - place.address < kLargestStack) {
                                   place.belowEnd = end - place.address;
                                 }
                                 done(place);
                               });
  };
  gdb->inspect().evaluate(
      in.frame, "&(" + expression + ")", [in, done, onStack](const Result<std::string>& text) {
        std::optional<ExpressionPlace> place = text ? placeIn(*text) : std::nullopt;
        if (place) {
          place->in = in;
          onStack(*place);
        } else {
          done(place);
        }
      });
}

}  // namespace

void askPlace(SessionState& state, int rank, const mi::FrameRef& frame,
              const std::string& expression, const PlaceOrWhyNot& done) {
  using Place = std::optional<ExpressionPlace>;
  const auto type = [&state, rank, expression, done](ExpressionPlace place) {
    mi::GdbSession* const gdb = state.stoppedDebugger(rank);
    if (gdb == nullptr) {
      done(Place());
      return;
    }
    gdb->inspect().createVar(
        place.in.frame, expression,
        [&state, rank, place, done](const Result<mi::VarObject>& object) mutable {
          place.type = typeInC(object ? object->type : std::string(), place.size);
          if (mi::GdbSession* const same = state.stoppedDebugger(rank); object && same != nullptr) {
            same->inspect().deleteVar(object->name, [](const Status&) {});
          }
          done(Place(place));
        });
  };
  const auto size = [&state, rank, frame, expression, done, type](const Place& place) {
    mi::GdbSession* const gdb = state.stoppedDebugger(rank);
    if (gdb == nullptr || frame.python != 0 || (place && place->isStatic)) {
      done(place);
    } else if (place) {
      gdb->inspect().evaluate(place->in.frame, "sizeof(" + expression + ")",
                              [type, found = *place](const Result<std::string>& text) mutable {
                                found.size = text ? numberIn(*text) : 0;
                                type(std::move(found));
                              });
    } else {
      gdb->inspect().evaluate(frame, expression, [done](const Result<std::string>& text) {
        text ? done(Place()) : done(text.error());
      });
    }
  };
  askFrames(state, rank, frame, [=, &state](const std::vector<mi::Frame>& frames) {
    FoundFrame in{frame, {}, 0};
    for (std::size_t i = 0; i < frames.size() && frames.size() < std::size_t{kMostFramesAsked};
         ++i) {
      if (frames[i].gdbLevel == frame.level && frames[i].python == 0) {
        in.function = frames[i].function;
        in.above = frames.size() - i;
      }
    }
    askAddress(state, rank, in, expression, size);
  });
}

void askPlaceAgain(SessionState& state, int rank, const FoundFrame& in,
                   const std::string& expression, const PlaceDone& done) {
  askFrames(state, rank, in.frame, [=, &state](const std::vector<mi::Frame>& frames) {
    if (in.above == 0 || in.above > frames.size() ||
        frames.size() >= std::size_t{kMostFramesAsked}) {
      done(std::nullopt);
      return;
    }
    const mi::Frame& same = frames[frames.size() - in.above];
    if (same.function != in.function || same.python != 0) {
      done(std::nullopt);
      return;
    }
    FoundFrame now = in;
    now.frame.level = same.gdbLevel;
    askAddress(state, rank, now, expression, done);
  });
}

}  // namespace pf::session
