// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_asked_event.h"

namespace pf::headless {

std::optional<EventRef> askedEvent(DapClient& client, const Request& request,
                                   const Execution& execution) {
  const std::int64_t rank = number(request.arguments, "rank", -1);
  const std::int64_t serial = number(request.arguments, "serial", 0);
  const auto& ranks = execution.ranks;
  if (rank < 0 || serial < 1 || static_cast<std::size_t>(rank) >= ranks.size() ||
      static_cast<std::size_t>(serial) > ranks[static_cast<std::size_t>(rank)].events.size()) {
    client.fail(
        request, "the recording has no such event",
        "'rank' and 'serial' name it, serials count from 1; 'photofinish events' lists them.");
    return {};
  }
  return EventRef{static_cast<Rank>(rank), static_cast<Serial>(serial)};
}

}  // namespace pf::headless
