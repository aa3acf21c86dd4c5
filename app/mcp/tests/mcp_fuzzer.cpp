// SPDX-License-Identifier: GPL-3.0-or-later
// Arbitrary bytes from a client: nothing may crash, whatever is read of them, and what we write of it is a line of JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "app/mcp/wire/json_rpc.h"
#include "app/mcp/wire/line_reader.h"
#include "app/mcp/wire/tool_catalog.h"
#include "mi_bridge/looking_words.h"

namespace {

using namespace pf::headless;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// A message of ours can be read again.
void checkWritten(const mcp::Json& message) {
  LineReader reader;
  reader.feed(mcp::toLine(message));
  const auto line = reader.next();
  require(line && line->ok() && !reader.next());
  require(!mcp::Json::parse(**line, nullptr, false).is_discarded());
}

void checkGiven(const mcp::Json& arguments) {
  for (const mcp::Tool& tool : mcp::tools()) {
    const auto given = mcp::Given::read(tool, arguments);
    for (const mcp::Argument& argument : tool.arguments) {
      if (!given || !given->has(argument.name)) {
        continue;
      }
      switch (argument.takes) {
        case mcp::Takes::Number:
          require(given->number(argument.name).has_value());
          break;
        case mcp::Takes::Texts:
          require(!given->texts(argument.name).empty());
          break;
        case mcp::Takes::Text:
        case mcp::Takes::Choice:
          require(!given->text(argument.name).empty());
          (void)pf::mi::onlyLooks(given->text(argument.name));
          break;
      }
    }
  }
}

void checkLine(const std::string& line) {
  const mcp::Received received = mcp::readMessages(line);
  for (const mcp::Fault& fault : received.faults) {
    checkWritten(mcp::failure(fault));
  }
  for (const mcp::Message& message : received.messages) {
    checkWritten(mcp::success(message.id, {{"echo", message.method}}));
    (void)mcp::nearestTool(message.method);
    checkGiven(message.parameters);
    if (const auto arguments = message.parameters.find("arguments");
        arguments != message.parameters.end()) {
      checkGiven(*arguments);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)pf::mi::onlyLooks(bytes);
  checkLine(bytes);
  LineReader whole;
  whole.feed(bytes);
  std::size_t lines = 0;
  while (const auto next = whole.next()) {
    ++lines;
    if (next->ok()) {
      checkLine(**next);
    }
  }
  LineReader cut;
  for (const char byte : bytes) {
    cut.feed({&byte, 1});
    while (const auto next = cut.next()) {
      require(lines-- > 0);  // the same lines, however they come
    }
  }
  require(lines == 0);
  return 0;
}
