// SPDX-License-Identifier: MIT
// Signals that somebody outside of the rank sends it: when they come is in no record. They are seen
// where the program handles them (external_signals.cpp), and noted when one comes.
#pragma once

#include <csignal>

namespace pf {

/// Whether the program's handler of this signal is called through ours. Not of faults.
bool isWatched(int number);
using SigAction = int (*)(int, const struct sigaction*, struct sigaction*);
/// sigaction() of a watched one: the program sees nothing of ours.
int programsAction(SigAction next, int number, const struct sigaction* action,
                   struct sigaction* before);

}  // namespace pf
