// SPDX-License-Identifier: GPL-3.0-or-later
// Every distinct matching of a program's messages exactly once: from each run, the runs that are left to be made.
//
// Runs form a tree. A run lists its choices in an order in which they may have been made (its *steps*), and some of its steps
// are *open*. For an open step and another message that it could have taken (races.h), a branch of the tree is: all steps
// before it, what the other message needs, and the step with the other message. The run of a branch is forced so far, and goes
// on by itself. In its steps, what the message needed and the step itself are closed, those behind are open.
//
// Why no matching is missed. Let X be any run that begins with steps s1 … s(i-1) of a run E, and differs in s(i), which takes
// m in E and n in X. What n needs does not depend on s(i) (nothing of its rank comes behind s(i) before n is sent, as X takes
// it there), so there is a run with s1 … s(i) as in E that sends n beside s(i). That one is in the part of the tree below
// E's step s(i), and by induction is made; in it, s(i) races with n. Why none comes twice: the parts of the tree are disjoint, as each
// two of them have a receive for which they name different messages, and the same branch, found in several runs, is one by its key.
//
// A call of Waitany's kind is a step as a receive is: what it could have given instead (choices.h) takes the place of the other
// message. The same reasoning holds: X, which has the call give something else, has what that needs, and it does not depend on
// the call; so a run of the part below E's step has all that, too, and shows it. An index that changes nothing else
// is an execution of its own, as nobody can tell what the program does with it: runs without Offered records have no such steps.
//
// Source: optimal dynamic partial order reduction in the manner of TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL
// 2022) and Must (Enea, Giannakopoulou, Kokologiannakis, Majumdar, OOPSLA 2024), where a send revisits earlier receives; the
// keys take the place of their test for maximal extensions, as here a run is made as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/branching/choices.h"
#include "replay_engine/races/races.h"

namespace pf {

/// A choice that was made.
struct RunStep {
  RunChoice choice;
  ChosenName took;
  bool open = true;
  friend bool operator==(const RunStep&, const RunStep&) = default;
};

/// A branch of the tree: equal where the same choices are made.
using BranchKey = std::array<std::uint64_t, 2>;

struct Branch {
  std::uint32_t step = 0;  ///< of its parent's steps: the first that is not kept
  ChosenName takes;        ///< what it takes instead
  BranchKey key{};
  std::uint32_t race =
      kNone;  ///< of those that the run has; kNone: the step is a call of Waitany's kind, or it is not told
};

/// The steps of a run that begins with `first`. Divergence: it does not, or it lacks one of them.
Result<std::vector<RunStep>> stepsOf(const Choices& choices, std::span<const RunStep> first);

/// The branches that this run shows, in the order of its steps.
std::vector<Branch> branchesOf(const Execution& execution, const Choices& choices,
                               std::span<const Race> races, std::span<const RunStep> steps);

/// The beginning of a branch's run.
struct BranchStart {
  std::vector<Serial> done;    ///< of each rank, the events that are as in the parent
  std::vector<RunStep> steps;  ///< with which its run begins, the changed one last
  /// Those of them that are made behind `done`, or whose receives complete there.
  std::vector<RunStep> ahead;
};
/// Damaged: the parent has no such branch.
Result<BranchStart> startOf(const Execution& execution, const Choices& choices,
                            std::span<const RunStep> steps, const Branch& branch);

/// What each receive took: ranks joined by ';', receives of a rank in posting order by ',', each as SENDER.NUMBER (the
/// number-th message, from 0, of that world rank to this one, as they were sent), or '-' where it took none.
std::string matchingText(const Execution& execution);
/// What each call of Waitany's kind gave that had several active requests: ranks joined by ';', calls by ',', the indices of
/// one by '+'.
std::string givenTexts(const Execution& execution);

}  // namespace pf
