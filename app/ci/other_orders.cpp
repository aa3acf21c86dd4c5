// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ci/other_orders.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "app/branching/explore.h"

namespace pf::app {
namespace fs = std::filesystem;

namespace {

/// A directory for the exploration, which goes with this.
class Workplace {
 public:
  Workplace() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "photofinish-ci-XXXXXX").string();
    m_path = !error && ::mkdtemp(name.data()) != nullptr ? name : std::string();
  }
  ~Workplace() {
    std::error_code ignored;
    if (!m_path.empty()) {
      fs::remove_all(m_path, ignored);
    }
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  std::string m_path;
};

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
  const Workplace place;
  if (place.path().empty()) {
    return systemError("cannot make a directory for the exploration", errno);
  }
  ExploreOptions options;
  options.command = wish.command;
  options.state = place.path() + "/orders";
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
