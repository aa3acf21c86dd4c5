// SPDX-License-Identifier: GPL-3.0-or-later
// What is evaluated in a frame of Python: a name, and the way from there to a part: w.items[-1]['size'].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pf::mi::python {

struct Step {
  enum class Kind { Attribute, Index, Key };
  Kind kind = Kind::Attribute;
  std::string text;  ///< of an attribute or key, as UTF-8
  std::int64_t index = 0;

  bool operator==(const Step&) const = default;
};

struct Path {
  std::string name;
  std::vector<Step> steps;

  bool operator==(const Path&) const = default;
};

[[nodiscard]] bool isName(std::string_view text);
/// Nothing: the text is no such way, or one of more than a hundred steps.
[[nodiscard]] std::optional<Path> pathOf(std::string_view text);

}  // namespace pf::mi::python
