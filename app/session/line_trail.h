// SPDX-License-Identifier: GPL-3.0-or-later
// The lines before the place where a rank stands, as far as they are known: because the user has stepped it through them since it
// stood before an event, or because it has been gone back to one of them. Who goes back to such a line needs no search.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "app/session/inspection/code_places.h"
#include "app/session/line_walk.h"
#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"

namespace pf::session {

/// Code that GDB counts.
struct LineMark {
  CodePlace code;
  int spec = 0;    ///< of the fleet, in this cycle; 0: not set
  int after = 0;   ///< times from where the search began to the next event
  int number = 0;  ///< which time where the search began, from event S on; 0: not known yet
};

/// A place behind event S: this time of a mark (0: event S itself), and these steps.
struct LineAim {
  std::size_t mark = 0;
  int hit = 0;
  std::vector<mi::RunKind> steps = {};
};

struct KnownLines {
  int rank = -1;
  Serial event = 0;          ///< S, the last that the rank has begun
  std::vector<Serial> done;  ///< events, by rank; empty: as it is now
  std::vector<LineMark> marks;
  LineAim base;   ///< where the walk begins
  LineWalk walk;  ///< from there on; the rank stands at the last
};

/// Where GDB has stopped; how deep that is has not been asked for.
[[nodiscard]] LinePlace placeOf(const mi::StopEvent& stop);
/// `then` gets the number of frames, 0 where GDB does not say it; before whatever is asked of GDB later.
void askDepth(mi::GdbSession& gdb, int thread, std::function<void(int depth)> then);

class LineTrail {
 public:
  explicit LineTrail(const SessionState& state) : m_state(state) {}

  /// A search has gone back to there.
  void isAt(KnownLines lines);
  /// GDB is about to step the current rank, as the user wants it.
  void begins(const mi::RunCommand& command);
  /// GDB lets the rank go on.
  void goesOn(int rank);
  /// GDB has stopped it, and nobody else searches.
  void stopped(int rank, const mi::StopEvent& stop);
  void forget();

  /// Null where none are known.
  [[nodiscard]] const KnownLines* of(int rank);

 private:
  void passEvents();
  [[nodiscard]] bool calls(const LinePlace& place, Serial event) const;

  const SessionState& m_state;
  std::optional<KnownLines> m_lines;
  std::optional<int> m_stepped;  ///< the thread of a step that is under way
  std::size_t m_left = 0;        ///< places that are no longer of the walk
  bool m_ends = false;  ///< steps on from where the rank stands are not known to lead there again
  Latest<NoQuestion> m_asked;
};

}  // namespace pf::session
