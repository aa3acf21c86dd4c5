// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/wire/json_rpc.h"

#include <algorithm>
#include <array>

namespace pf::headless::mcp {
namespace {

constexpr std::size_t kDeepest = 64;      ///< of arrays and objects in one another
constexpr std::size_t kMostInBatch = 64;  ///< messages
constexpr std::size_t kLongestId = 1024;  ///< bytes

constexpr std::array<std::string_view, 3> kVersions{"2025-06-18", "2025-03-26", "2024-11-05"};

/// Without reading it: a reader would go as deep.
bool isTooDeep(std::string_view text) {
  std::size_t depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      i += c == '\\' ? 1U : 0U;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        return true;
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Fault fault(Code code, std::string what, std::string next, Json id = nullptr) {
  return {code, {ErrorCode::Peer, std::move(what), std::move(next)}, std::move(id)};
}

bool isId(const Json& id) {
  return id.is_number_integer() ||
         (id.is_string() && id.get_ref<const std::string&>().size() <= kLongestId);
}

void readOne(Json& message, Received& received) {
  if (!message.is_object()) {
    received.faults.push_back(fault(Code::InvalidRequest, "a message is no JSON object",
                                    "Send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":…}."));
    return;
  }
  const auto id = message.find("id");
  Json known = id != message.end() && isId(*id) ? *id : Json(nullptr);
  if (id != message.end() && known.is_null()) {
    received.faults.push_back(fault(Code::InvalidRequest,
                                    "the id of a request is no string and no whole number",
                                    "Number the requests."));
    return;
  }
  const auto version = message.find("jsonrpc");
  if (version == message.end() || *version != "2.0") {
    received.faults.push_back(fault(Code::InvalidRequest, "\"jsonrpc\" is not \"2.0\"",
                                    "Each message has \"jsonrpc\":\"2.0\".", std::move(known)));
    return;
  }
  const auto method = message.find("method");
  if (method == message.end() && (message.contains("result") || message.contains("error"))) {
    return;  // an answer
  }
  if (method == message.end() || !method->is_string()) {
    received.faults.push_back(fault(Code::InvalidRequest, "a message has no method",
                                    "'tools/list' and 'tools/call' are methods.",
                                    std::move(known)));
    return;
  }
  Message read;
  read.id = std::move(known);
  read.method = method->get<std::string>();
  if (const auto parameters = message.find("params"); parameters != message.end()) {
    if (!parameters->is_object()) {
      received.faults.push_back(fault(Code::InvalidParameters, "\"params\" is no object",
                                      "Give the parameters by their names.", std::move(read.id)));
      return;
    }
    read.parameters = std::move(*parameters);
  }
  received.messages.push_back(std::move(read));
}

}  // namespace

Received readMessages(const std::string& line) {
  Received received;
  if (isTooDeep(line)) {
    received.faults.push_back(fault(Code::Parse,
                                    "a message has more than " + std::to_string(kDeepest) +
                                        " arrays and objects in one another",
                                    "No message of this protocol needs that."));
    return received;
  }
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    received.faults.push_back(
        fault(Code::Parse, "a line is no JSON", "Each message is one line of JSON, in UTF-8."));
    return received;
  }
  if (!json.is_array()) {
    readOne(json, received);
    return received;
  }
  if (json.empty() || json.size() > kMostInBatch) {
    received.faults.push_back(fault(Code::InvalidRequest,
                                    json.empty() ? "a batch is empty" : "a batch is too long",
                                    "Send up to " + std::to_string(kMostInBatch) + " messages."));
    return received;
  }
  received.batch = true;
  for (Json& each : json) {
    readOne(each, received);
  }
  return received;
}

Json success(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json failure(const Fault& fault) {
  Json error{{"code", static_cast<int>(fault.code)}, {"message", fault.error.message}};
  if (!fault.error.advice.empty()) {
    error["data"] = {{"next", fault.error.advice}};
  }
  return {{"jsonrpc", "2.0"}, {"id", fault.id}, {"error", std::move(error)}};
}

Json notification(const char* method, Json parameters) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}};
}

std::string toLine(const Json& message) {
  return message.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::span<const std::string_view> protocolVersions() {
  return kVersions;
}

std::string_view versionFor(std::string_view asked) {
  const auto known = std::find(kVersions.begin(), kVersions.end(), asked);
  return known == kVersions.end() ? kVersions.front() : *known;
}

}  // namespace pf::headless::mcp
