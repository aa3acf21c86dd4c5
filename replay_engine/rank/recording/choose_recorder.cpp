// SPDX-License-Identifier: MIT
#include "replay_engine/rank/recording/choose_recorder.h"

#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/recording/clock_recorder.h"
#include "replay_engine/rank/recording/event_recorder.h"

namespace pf {
namespace {

class OutcomeRecorder final : public ChoiceRecorder {};

OutcomeRecorder g_outcomes;
ClockRecorder g_clocks;
EventRecorder g_events;

}  // namespace

void chooseRecorder() {
  if (!g_engine.record) {
    g_engine.recorder = &g_silentRecorder;
  } else if (g_engine.events) {
    g_engine.recorder = &g_events;
  } else if (followsClocks()) {
    g_engine.recorder = &g_clocks;
  } else {
    g_engine.recorder = &g_outcomes;
  }
}

}  // namespace pf
