// SPDX-License-Identifier: MIT
// Arguments of MPI's collectives, whose last ones are the communicator and, if it does not block, the request; of persistent
// ones, an info before that.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// What stands behind the communicator.
enum class Behind : std::uint8_t { Nothing, Request, InfoAndRequest };

template <Behind behind, typename... Argument>
struct CollectiveArguments {
  static constexpr std::size_t kOwn = sizeof...(Argument) - static_cast<std::size_t>(behind);

  explicit CollectiveArguments(Argument... argument) : all(argument...) {}

  [[nodiscard]] MPI_Comm comm() const { return std::get<kOwn - 1>(all); }
  [[nodiscard]] MPI_Request* request() const { return std::get<sizeof...(Argument) - 1>(all); }
  /// flowOf…(flow, arguments), up to the communicator.
  template <typename Flow, typename Function>
  void describe(Flow& flow, Function function) const {
    applyTo(function, flow, all, std::make_index_sequence<kOwn>());
  }

  std::tuple<Argument...> all;
};

}  // namespace pf
