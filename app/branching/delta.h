// SPDX-License-Identifier: GPL-3.0-or-later
// Which of many differences are needed for an effect: delta debugging.
// Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2), 2002, Algorithm ddmin.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

/// Whether the effect is there with these differences, in ascending order.
using HasEffect = std::function<Result<bool>(const std::vector<std::size_t>& differences)>;

/// A set of the differences 0 … count - 1 that has the effect, and has it no more when one of them is taken away (1-minimal, as far
/// as `hasEffect` answers alike). All of them must have it.
Result<std::vector<std::size_t>> minimalSet(std::size_t count, const HasEffect& hasEffect);

}  // namespace pf::app
