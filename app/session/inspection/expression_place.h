// SPDX-License-Identifier: GPL-3.0-or-later
// Where an expression of a frame lies in the memory of its rank: for what is watched when the frame is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/session/state/session_state.h"
#include "mi_bridge/asking.h"
#include "replay_engine/base/result.h"

namespace pf::session {

/// A frame that is found again in another run: by its function, and by how many frames are between it and the outermost.
struct FoundFrame {
  mi::FrameRef frame = {};
  std::string function;
  std::size_t above = 0;  ///< frames from the outermost to it, both included; 0: not known
};

struct ExpressionPlace {
  FoundFrame in;  ///< where the expression means it
  std::uint64_t address = 0;
  /// Bytes from it to where the first thread's stack ends, if it lies there. How large the environment is, which lies above, is
  /// not the same in each run.
  std::optional<std::uint64_t> belowEnd = {};
  std::uint64_t size = 0;  ///< bytes
  bool isStatic = false;   ///< a symbol of the program names it: it is there in any frame
  std::string type;        ///< as C or C++ can name it
  /// The same memory in any frame: "*(double *)0x7ffe0010", of the stack by its end.
  [[nodiscard]] std::string anywhere() const;
  /// The same memory in another run, as far as can be told.
  [[nodiscard]] bool isWhere(const ExpressionPlace& other) const;
};
using PlaceDone = std::function<void(const std::optional<ExpressionPlace>&)>;
using PlaceOrWhyNot = std::function<void(const Result<std::optional<ExpressionPlace>>&)>;

/// Nothing: the expression has no address there, or the rank has no stopped GDB. An error: GDB's, it means nothing there.
/// `done` may be called at once.
void askPlace(SessionState& state, int rank, const mi::FrameRef& frame,
              const std::string& expression, const PlaceOrWhyNot& done);
/// Where the expression lies now, in the same frame of another run, without size and type. Nothing: there is no such frame.
void askPlaceAgain(SessionState& state, int rank, const FoundFrame& in,
                   const std::string& expression, const PlaceDone& done);

// For tests.
/// GDB's text of an address: "(int *) 0x404010 <total>".
[[nodiscard]] std::optional<ExpressionPlace> placeIn(const std::string& text);
/// What C calls a type of `size` bytes that GDB calls so, perhaps in Fortran. What has no name there: its bytes.
[[nodiscard]] std::string typeInC(const std::string& type, std::uint64_t size);

}  // namespace pf::session
