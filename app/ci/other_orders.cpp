// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ci/other_orders.h"

#include <filesystem>

#include "app/branching/explore.h"
#include "app/files/passing_directory.h"

namespace pf::app {
namespace fs = std::filesystem;

namespace {

/// Out of the exploration's directory, beside it.
Result<std::string> takeOut(const std::string& trace, const std::string& directory,
                            std::size_t number) {
  std::string to = directory + "-" + std::to_string(number) + ".pft";
  std::error_code error;
  fs::rename(trace, to, error);
  return error ? Result<std::string>(systemError("cannot move " + trace, error.value())) : to;
}

}  // namespace

Result<TriedOrders> tryOrders(const OrdersWish& wish) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error) {
    return systemError("cannot make a directory for the exploration", error.value());
  }
  const PassingDirectory place((temporary / "photofinish-ci-").string());
  if (Status made = place.made(); !made) {
    return made.error();
  }
  ExploreOptions options;
  options.command = wish.command;
  options.state = place.file("orders");
  options.mostRuns = wish.mostRuns;
  options.check = wish.check;
  const Result<Exploration> found = explore(options);
  if (!found) {
    return found.error();
  }
  TriedOrders orders;
  orders.tried = found->counts.runs;
  for (const ExploredOutcome& each : found->outcomes) {
    if (each.runs.trace.empty()) {
      continue;
    }
    Result<std::string> kept = takeOut(each.runs.trace, place.path(), orders.runs.size() + 1);
    if (!kept) {
      return kept.error();
    }
    orders.runs.push_back({std::move(*kept), each.runs.outcome.name == "wrong"});
  }
  return orders;
}

}  // namespace pf::app
