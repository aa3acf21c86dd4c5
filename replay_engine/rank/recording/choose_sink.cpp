// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/choose_sink.h"

#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/recording/clock_sink.h"
#include "replay_engine/rank/recording/event_sink.h"

namespace pf {
namespace {

class OutcomeSink final : public ChoiceSink {};

OutcomeSink g_outcomes;
ClockSink g_clocks;
EventSink g_events;

}  // namespace

void chooseSink() {
  if (!g_engine.record) {
    g_engine.sink = &g_silentSink;
  } else if (g_engine.events) {
    g_engine.sink = &g_events;
  } else if (followsClocks()) {
    g_engine.sink = &g_clocks;
  } else {
    g_engine.sink = &g_outcomes;
  }
}

}  // namespace pf
