// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_goto_targets.h"

#include "app/collation/event_text.h"

namespace pf::headless {
namespace {

constexpr std::size_t kMostTargets = 200;

Json targetJson(int id, const std::string& label, int line) {
  return {{"id", id}, {"label", label}, {"line", line}};
}

std::string labelOf(const Execution& execution, const EventRef& event) {
  return app::eventName(event) + ": " + app::eventText(execution, event);
}

/// By call site: whether it is on the line.
std::vector<bool> sitesOn(const Execution& execution, const GotoTargets::Line& line) {
  const std::string file = line.first.toStdString();
  std::vector<bool> on;
  for (const CallSite& site : execution.sites) {
    on.push_back(site.line == line.second && site.file == file);
  }
  return on;
}

/// Up to kMostTargets.
std::vector<EventRef> eventsOn(const Execution& execution, const GotoTargets::Line& line,
                               const GotoTargets::Filter& isMeant) {
  const std::vector<bool> on = sitesOn(execution, line);
  std::vector<EventRef> found;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const auto& events = execution.ranks[rank].events;
    for (std::size_t i = 0; i < events.size() && found.size() < kMostTargets; ++i) {
      const EventRef event{static_cast<Rank>(rank), i + 1};
      if (events[i].site < on.size() && on[events[i].site] && isMeant(event)) {
        found.push_back(event);
      }
    }
  }
  return found;
}

template <typename T>
std::optional<T> look(const std::map<std::int64_t, T>& map, std::int64_t id) {
  const auto found = map.find(id);
  return found != map.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace

Json GotoTargets::find(const Execution& execution, const Line& line, const ClientFormat& format,
                       const Filter& isMeant) {
  m_events.clear();
  m_lines.clear();
  Json targets = Json::array();
  const int number = format.lineToClient(line.second);
  for (const EventRef& event : eventsOn(execution, line, isMeant)) {
    m_events[++m_last] = event;
    targets.push_back(targetJson(m_last, labelOf(execution, event), number));
  }
  m_lines[++m_last] = line;
  targets.push_back(targetJson(m_last, "on to this line", number));
  return targets;
}

std::optional<EventRef> GotoTargets::event(std::int64_t target) const {
  return look(m_events, target);
}

std::optional<GotoTargets::Line> GotoTargets::line(std::int64_t target) const {
  return look(m_lines, target);
}

}  // namespace pf::headless
