// SPDX-License-Identifier: GPL-3.0-or-later
// Records a program, and compares its races and how it ended with what is known of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/ci/other_orders.h"
#include "app/recording/record.h"
#include "app/reports/ci_result.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct CiWish {
  std::vector<std::string> command;  ///< launcher, its options, program, arguments
  std::string baseline;              ///< file of known races; empty: nothing is known
  bool update = false;               ///< what is new is added to it
  std::size_t runs = 1;
  std::size_t explored = 0;  ///< executions of other orders, at most; 0: none
  std::string check;         ///< command of the shell, as of `record --check`; empty: none
  /// A trace, or a directory for one, that is kept in any case; empty: one under the name that `record` gives, if there
  /// is something to see in it.
  std::string trace;
  bool replace = false;          ///< traces of these names go; else they are kept under numbers
  std::uint64_t jitterSeed = 0;  ///< of each second run, counted on; 0: from 1 on
  std::chrono::milliseconds stallLimit{
      0};  ///< every rank waits: until the run is ended; 0: where nothing can get on only
  std::function<Result<TriedOrders>(const OrdersWish&)> explore = app::tryOrders;
};

struct CiEnd {
  CiResult result;
  bool interrupted = false;  ///< by the user: nothing is judged
  int exitStatus = 0;        ///< then: of the run
};

/// Tells how each run ended, on standard error; what the program prints of the first run and of those that failed is shown.
/// An error is none of the program's.
Result<CiEnd> runForCi(const CiWish& wish);

}  // namespace pf::app
