// SPDX-License-Identifier: GPL-3.0-or-later
// Messages of JSON-RPC 2.0 as the Model Context Protocol has them (modelcontextprotocol.io, revisions 2024-11-05, 2025-03-26 and
// 2025-06-18, "Base Protocol"), as values. Pure; every reader takes any bytes.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::headless::mcp {

using Json = nlohmann::json;

/// Of an error (JSON-RPC 2.0, 5.1).
enum class Code {
  Parse = -32700,
  InvalidRequest = -32600,
  NoMethod = -32601,
  InvalidParameters = -32602,
};

/// A message that is not understood.
struct Fault {
  Code code = Code::InvalidRequest;
  Error error;
  Json id = nullptr;  ///< as far as it could be read
};

/// What a client sends. Without an id it is a notification, which has no answer.
struct Message {
  Json id = nullptr;  ///< a string or a whole number
  std::string method;
  Json parameters = Json::object();
  [[nodiscard]] bool isNotification() const { return id.is_null(); }
};

struct Received {
  std::vector<Message> messages;
  std::vector<Fault> faults;
  bool batch = false;  ///< an array: all answers go in one (revision 2025-03-26)
};

/// One line. Answers of the client to us, which asks nothing, are dropped.
[[nodiscard]] Received readMessages(const std::string& line);

[[nodiscard]] Json success(const Json& id, Json result);
/// `error.data.next`: what to do.
[[nodiscard]] Json failure(const Fault& fault);
[[nodiscard]] Json notification(const char* method, Json parameters);
/// One line, with its end. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string toLine(const Json& message);

/// Latest first.
[[nodiscard]] std::span<const std::string_view> protocolVersions();
/// What is spoken with a client that asks for `asked`: that, where it is known; else the latest.
[[nodiscard]] std::string_view versionFor(std::string_view asked);

}  // namespace pf::headless::mcp
