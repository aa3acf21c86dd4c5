// SPDX-License-Identifier: GPL-3.0-or-later
// The JSON that is inside some columns: arrays of strings, arrays of integers. Bytes of a string
// that are no UTF-8 (a command line may hold any) are written as lone surrogates \udc80 … \udcff,
// as Python does, and come back as they were.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::db {

[[nodiscard]] std::string jsonOf(const std::vector<std::string>& values);
[[nodiscard]] std::string jsonOf(const std::vector<Rank>& values);
/// False unless `json` is such an array, as jsonOf() writes it.
[[nodiscard]] bool fromJson(std::string_view json, std::vector<std::string>& values);
[[nodiscard]] bool fromJson(std::string_view json, std::vector<Rank>& values);

}  // namespace pf::db
