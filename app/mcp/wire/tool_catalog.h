// SPDX-License-Identifier: GPL-3.0-or-later
// The tools that a client can call: what each is for, what may be given to it as a JSON schema, and what was given, checked.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::headless::mcp {

using Json = nlohmann::json;

enum class Takes {
  Text,    ///< a line
  Number,  ///< a whole one
  Choice,  ///< one of the words of `choices`
  Texts,   ///< an array of lines
};

/// What may be given to a tool.
struct Argument {
  std::string_view name;
  Takes takes = Takes::Text;
  bool required = false;
  std::string_view about;
  std::vector<std::string_view> choices = {};
  std::int64_t least = 0;
  std::int64_t most = INT32_MAX;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view about;
  std::vector<Argument> arguments;
  bool looksOnly = true;  ///< neither the recording nor where the replay is becomes another
};

/// All, in the order in which one needs them.
[[nodiscard]] std::span<const Tool> tools();
/// Null: there is none.
[[nodiscard]] const Tool* findTool(std::string_view name);

/// As tools/list has it: name, title, description, inputSchema, annotations.
[[nodiscard]] Json describe(const Tool& tool);

/// What was given to a tool, and is right as far as its schema tells.
class Given {
 public:
  /// Usage: something is missing, unknown, of another type or out of its bounds; with what may be given.
  [[nodiscard]] static Result<Given> read(const Tool& tool, const Json& arguments);

  [[nodiscard]] bool has(std::string_view name) const;
  /// Empty: it was not given.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t fallback) const {
    return number(name).value_or(fallback);
  }
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

 private:
  Json m_arguments = Json::object();
};

/// Of the known words the one that `word` was meant to be: begins with it, or has few other letters. Empty: none.
[[nodiscard]] std::string_view nearestTool(std::string_view word);

}  // namespace pf::headless::mcp
