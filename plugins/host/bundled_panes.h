// SPDX-License-Identifier: MIT
// The bundled panes in words. No Qt: the command line lists them, too, and keeps their names.
#pragma once

#include <array>

#include "plugins/api/plugin.h"

namespace pf::plugins {

inline constexpr photofinish::Description kQueues{
    "queues", "Message queues",
    "What is posted, unexpected and waited for at the moment that the diagram shows, by rank and "
    "communicator, and who waits for whom; a cycle is a deadlock."};
inline constexpr photofinish::Description kCommMatrix{
    "comm_matrix", "Communication matrix",
    "How many messages and bytes each rank sent to each other one. Groups of ranks that can be "
    "replayed apart lie together and are framed: those the trace was recorded with, or those that "
    "Find groups finds. The menu of a cell debugs its ranks alone."};
inline constexpr photofinish::Description kCallSites{
    "call_sites", "Call sites",
    "The lines of the program that call MPI: how often, with whom, how many of it race."};
inline constexpr photofinish::Description kRankTimeline{
    "rank_timeline", "Timeline",
    "The events of one rank from first to last, with what became of each. What is selected here "
    "is selected in the diagram, and the other way round; the filter is that of the search. The "
    "event that a replay is before is bold."};

inline constexpr std::array kBundledPanes{kQueues, kCommMatrix, kCallSites, kRankTimeline};

}  // namespace pf::plugins
