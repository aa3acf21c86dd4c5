// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/event_text.h"

#include "app/collation/collate.h"

namespace pf::app {
namespace {

std::string nameOfCall(const Execution& execution, const Event& event) {
  return event.call < execution.callNames.size() ? execution.callNames[event.call] : "?";
}

}  // namespace

std::string eventLine(const Execution& execution, EventRef event) {
  return eventName(event) + " " + eventText(execution, event);
}

std::string callText(const Execution& execution, EventRef ref) {
  const Event& event = execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  return nameOfCall(execution, event) + " at " + siteText(execution, event.site);
}

std::string eventName(EventRef event) {
  return "rank " + std::to_string(event.rank) + " event " + std::to_string(event.serial);
}

std::string eventText(const Execution& execution, EventRef ref) {
  if (ref.rank < 0 || static_cast<std::size_t>(ref.rank) >= execution.ranks.size() ||
      ref.serial == 0 ||
      ref.serial > execution.ranks[static_cast<std::size_t>(ref.rank)].events.size()) {
    return "the end of its record";
  }
  const Event& event = execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  std::string text = nameOfCall(execution, event);
  const bool message = event.kind == EventKind::Send || event.kind == EventKind::Receive ||
                       event.kind == EventKind::Post || event.kind == EventKind::Probe ||
                       event.kind == EventKind::SendReceive;
  if (message) {
    const char* preposition = event.kind == EventKind::Send ? " to " : " from ";
    text += preposition + (event.peer == kAnySource ? std::string("any source")
                                                    : "rank " + std::to_string(event.peer));
    text += event.tag == kAnyTag ? ", any tag" : ", tag " + std::to_string(event.tag);
  }
  return text + " at " + siteText(execution, event.site);
}

}  // namespace pf::app
