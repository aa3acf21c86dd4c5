// SPDX-License-Identifier: MIT
// Arguments of MPI's collectives, whose last ones are the communicator and, if it does not block, the request.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

/// `function(arguments of the first `Count`…)`, after `first`.
template <typename Function, typename First, typename Tuple, std::size_t... Index>
void applyTo(Function function, First& first, const Tuple& arguments,
             std::index_sequence<Index...> /*first ones*/) {
  function(first, std::get<Index>(arguments)...);
}

/// Of a collective that blocks, or with its request.
template <bool Blocks, typename... Argument>
struct CollectiveArguments {
  static constexpr std::size_t kOwn = sizeof...(Argument) - (Blocks ? 0 : 1);

  explicit CollectiveArguments(Argument... argument) : all(argument...) {}

  [[nodiscard]] MPI_Comm comm() const { return std::get<kOwn - 1>(all); }
  [[nodiscard]] MPI_Request* request() const { return std::get<sizeof...(Argument) - 1>(all); }
  /// flowOf…(flow, arguments), without the request.
  template <typename Flow, typename Function>
  void describe(Flow& flow, Function function) const {
    applyTo(function, flow, all, std::make_index_sequence<kOwn>());
  }

  std::tuple<Argument...> all;
};

}  // namespace pf
