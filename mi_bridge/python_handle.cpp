// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python_handle.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace pf::mi {
namespace {

constexpr std::string_view kHandleMark = "python ";  // GDB's names have no blank

}  // namespace

std::string PythonHandle::text() const {
  return std::string(kHandleMark) + std::to_string(place.object) + " " +
         std::to_string(place.indices) + " " + std::to_string(place.offset) + " " + path;
}

std::optional<PythonHandle> PythonHandle::from(const std::string& text) {
  if (!text.starts_with(kHandleMark)) {
    return std::nullopt;
  }
  PythonHandle out;
  const char* at = text.data() + kHandleMark.size();
  const char* const end = text.data() + text.size();
  for (std::uint64_t* const number : {&out.place.object, &out.place.indices, &out.place.offset}) {
    const auto [behind, problem] = std::from_chars(at, end, *number);
    if (problem != std::errc() || behind == end || *behind != ' ') {
      return std::nullopt;
    }
    at = behind + 1;
  }
  out.path.assign(at, end);
  return out;
}

VarObject pythonVarOf(const python::Value& value, const std::string& shown,
                      const std::string& path) {
  constexpr std::int64_t kMost = 1 << 30;
  VarObject out;
  out.name = PythonHandle{value.place, path}.text();
  out.expression = shown;
  out.type = value.type;
  out.value = value.text;
  out.children = static_cast<int>(std::min(value.parts, kMost));
  out.displayHint = value.numbered ? "array" : "";
  return out;
}

VarPage pythonPageOf(const python::PartPage& page, const PythonHandle& whole) {
  VarPage out;
  for (const python::Part& each : page.parts) {
    const bool written = !whole.path.empty() && !each.step.empty();
    out.children.push_back(
        pythonVarOf(each.value, each.name, written ? whole.path + each.step : std::string()));
  }
  out.hasMore = page.more;
  return out;
}

}  // namespace pf::mi
