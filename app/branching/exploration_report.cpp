// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include <cstdio>

#include "app/branching/explore.h"
#include "app/collation/event_text.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

std::string counted(std::uint64_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, number < 100 ? "%.1f" : "%.0f", number);
  return text;
}

std::string shareText(const Exploration& found) {
  const auto& counts = found.counts;
  const std::string unvaried =
      counts.unvaried == 0 ? ""
                           : "; in " + counted(counts.unvaried, "run", "runs") +
                                 " not all that MPI_Waitany and its like could give is varied";
  if (found.whole()) {
    return std::string(found.matchingsOnly
                           ? "these are all orders in which its messages can be taken, without "
                             "those of MPI_Waitany and its like"
                           : "these are all orders in which its messages can be taken") +
           unvaried;
  }
  std::string text;
  if (counts.open > 0) {
    const double runs = static_cast<double>(counts.runs);
    const double share = 100 * runs / (runs + found.left);
    text = counted(counts.open, "branch is", "branches are") + " left: about " + rounded(share) +
           " % of the orders were seen, as far as can be guessed";
    if (counts.beyond > 0) {
      text += " (" + counted(counts.beyond, "branch lies", "branches lie") + " beyond --bound)";
    }
  }
  if (counts.givenUp > 0) {
    text += (text.empty() ? "" : "; ") + counted(counts.givenUp, "branch", "branches") +
            " could not be run";
  }
  return text + unvaried;
}

}  // namespace

std::string explorationText(const Exploration& found) {
  std::string text = counted(found.counts.runs, "run", "runs") + " of different orders, " +
                     std::to_string(found.made) + " of them now, " +
                     rounded(static_cast<double>(found.made) / std::max(found.seconds, 1e-3)) +
                     " a second; " + shareText(found) + "\n";
  for (const ExploredOutcome& each : found.outcomes) {
    const OutcomeClass& runs = each.runs;
    text += "\n" + counted(runs.runs, "run", "runs") + ": " +
            (endedWell(runs.outcome) ? "ended well" : runs.outcome.name);
    text +=
        runs.outcome.printed.empty() ? "\n" : ", printed alike (" + runs.outcome.printed + ")\n";
    if (!runs.outcome.sentence.empty()) {
      text += "    " + runs.outcome.sentence + "\n";
    }
    if (each.flips.empty()) {
      text += "    the first run is one of them\n";
    } else {
      text += "    " + counted(each.flips.size(), "delivery", "deliveries") +
              " away from the first run:\n";
    }
    for (const TakenInstead& flip : each.flips) {
      text += "      " + flip.text + "\n";
    }
    if (!runs.trace.empty()) {
      text += "    kept: " + runs.trace + "\n";
    }
  }
  for (const std::string& reason : found.givenUp) {
    text += "\nnot run: " + reason + "\n";
  }
  return text;
}

std::string explorationJson(const Exploration& found) {
  using nlohmann::json;
  json document = {
      {"state", found.state},
      {"first_trace", found.firstTrace},
      {"runs", found.counts.runs},
      {"runs_now", found.made},
      {"seconds", found.seconds},
      {"open_branches", found.counts.open},
      {"beyond_bound", found.counts.beyond},
      {"given_up", found.counts.givenUp},
      {"estimated_runs_left", found.left},
      {"all_orders_seen", found.whole() && !found.matchingsOnly && found.counts.unvaried == 0},
      {"all_matchings_seen", found.whole()},
      {"runs_not_all_varied", found.counts.unvaried},
      {"interrupted", found.interrupted},
      {"outcomes", json::array()}};
  for (const ExploredOutcome& each : found.outcomes) {
    json flips = json::array();
    for (const TakenInstead& flip : each.flips) {
      json shown = {{"rank", flip.receive.rank}, {"event", flip.receive.serial}};
      if (flip.send.valid()) {
        shown["sender"] = flip.send.rank;
        shown["sender_event"] = flip.send.serial;
      }
      shown["text"] = flip.text;
      flips.push_back(std::move(shown));
    }
    document["outcomes"].push_back({{"outcome", each.runs.outcome.name},
                                    {"sentence", each.runs.outcome.sentence},
                                    {"printed", each.runs.outcome.printed},
                                    {"waits", each.runs.outcome.waits},
                                    {"runs", each.runs.runs},
                                    {"fewest_flips", each.runs.fewestFlips},
                                    {"flips", std::move(flips)},
                                    {"trace", each.runs.trace}});
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pf::app
