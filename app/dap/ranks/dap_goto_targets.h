// SPDX-License-Identifier: GPL-3.0-or-later
// What a 'goto' can go to: events of the recording that a line of the program made, and the line
// itself. Numbers of targets are never used again. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <QString>

#include "app/dap/wire/dap_client_format.h"
#include "replay_engine/execution/execution.h"

namespace pf::headless {

class GotoTargets {
 public:
  using Line = std::pair<QString, int>;  ///< file and number

  /// Whether it can be gone to.
  using Filter = std::function<bool(const EventRef& event)>;

  /// The targets on this line, as 'GotoTarget's; those of another one are gone.
  Json find(const Execution& execution, const Line& line, const ClientFormat& format,
            const Filter& isMeant);
  [[nodiscard]] std::optional<EventRef> event(std::int64_t target) const;
  [[nodiscard]] std::optional<Line> line(std::int64_t target) const;

 private:
  std::map<std::int64_t, EventRef> m_events;
  std::map<std::int64_t, Line> m_lines;
  int m_last = 0;
};

}  // namespace pf::headless
