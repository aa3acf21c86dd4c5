// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/event_clocks.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "replay_engine/causality/forward_pass.h"

namespace pf {
namespace {

struct Clock {
  std::vector<std::uint32_t> steps;

  [[nodiscard]] bool covers(const Clock& other) const {
    return std::equal(other.steps.begin(), other.steps.end(), steps.begin(),
                      [](std::uint32_t theirs, std::uint32_t ours) { return theirs <= ours; });
  }
  void join(const Clock& other) {
    std::transform(steps.begin(), steps.end(), other.steps.begin(), steps.begin(),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  }
};

class ClockPass {
 public:
  using Known = std::shared_ptr<const Clock>;

  ClockPass(const EventGraph& graph, const std::function<void(const ClockStep&)>& visit)
      : m_graph(graph), m_visit(visit) {}

  void enter(Place place, Known& known) {
    if (!waits(place)) {
      step(place, ClockStep::Part::Whole, known);
    } else if (sends(place)) {
      step(place, ClockStep::Part::Send, known);
    }
  }

  void leave(Place place, Known& known) {
    if (waits(place)) {
      step(place, sends(place) ? ClockStep::Part::Rest : ClockStep::Part::Whole, known);
    }
  }

 private:
  [[nodiscard]] bool waits(Place place) const {
    return std::ranges::any_of(m_graph.incoming(place),
                               [](Link link) { return link.kind != LinkKind::Synchronous; });
  }
  [[nodiscard]] bool sends(Place place) const {
    return std::ranges::any_of(m_graph.outgoing(place),
                               [](Link link) { return link.kind == LinkKind::Message; });
  }

  void step(Place place, ClockStep::Part part, Known& known) {
    auto clock = known == nullptr ? std::make_shared<Clock>() : std::make_shared<Clock>(*known);
    clock->steps.resize(m_graph.rankCount(), 0);
    ++clock->steps[place.rank];
    known = clock;
    m_visit({{static_cast<Rank>(place.rank), place.serial}, part, known->steps});
  }

  const EventGraph& m_graph;
  const std::function<void(const ClockStep&)>& m_visit;
};

}  // namespace

void visitClocks(const Execution& execution, const std::function<void(const ClockStep&)>& visit) {
  const EventGraph graph(execution);
  ClockPass policy(graph, visit);
  ForwardPass<Clock, ClockPass>(graph, policy, false).run();
}

}  // namespace pf
