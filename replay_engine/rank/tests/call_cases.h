// SPDX-License-Identifier: GPL-3.0-or-later
// A small program for each class of MPI calls, with two scripts: what came while it was recorded, and
// what comes in its replay, which tempts MPI to choose otherwise.
#pragma once

#include <vector>

#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {

struct CallCase {
  const char* name;
  fake::Script recorded;
  fake::Script replayed;
  void (*program)();
  const char* events;         ///< eventsIn() its log with all events
  const char* receives = "";  ///< receivesIn()
  const char* choices = "";   ///< choicesIn()
  const char* sends = "";     ///< sendsIn()
  bool inThreads = true;      ///< its failures are of calls that ranks with threads make, too
  bool replays = true;        ///< false: what MPI chose is in no record
  bool tempts = true;  ///< without the interposer, the replay's script lets it see something else
};

std::vector<CallCase> receiveCases();
std::vector<CallCase> completionCases();
std::vector<CallCase> probeCases();
std::vector<CallCase> sendCases();
std::vector<CallCase> collectiveCases();
std::vector<CallCase> exchangeCases();

std::vector<CallCase> failureCases();

}  // namespace pf::test
