// SPDX-License-Identifier: GPL-3.0-or-later
// Arbitrary bytes from a client: nothing may crash, whatever is read of them; and what we write of
// it is a frame with JSON in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "app/dap/wire/dap_framing.h"
#include "app/dap/wire/dap_messages.h"

namespace {

using namespace pf::headless;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// A message of ours can be read again.
void checkWritten(const Json& message) {
  FrameReader reader;
  reader.feed(frame(toText(message)));
  const auto content = reader.next();
  require(content && content->ok() && !reader.pending());
  require(!Json::parse(**content, nullptr, false).is_discarded());
}

void checkContent(const std::string& content) {
  std::int64_t seq = 0;
  const auto request = parseRequest(content, seq);
  checkWritten(request ? response(*request, {{"echo", request->command}})
                       : errorResponse(seq, "", request.error()));
  if (!request) {
    return;
  }
  const auto launch = parseLaunchArguments(request->arguments);
  require(!launch.ok() || launch->trace.empty() != launch->command.empty());
  const auto attach = parseAttachArguments(request->arguments);
  require(!attach.ok() || (attach->pid > 0) == attach->cores.empty());
  for (const char* field : {"threadId", "line", "levels"}) {
    (void)number(request->arguments, field, 0);
  }
  (void)ignoreCountOf(word(request->arguments, "hitCondition"));
  (void)parseEventRef(word(request->arguments, "name"));
  for (const LogPiece& piece : logPieces(word(request->arguments, "logMessage"))) {
    require(!piece.text.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  checkContent(bytes);
  FrameReader whole;
  whole.feed(bytes);
  std::size_t frames = 0;
  while (const auto next = whole.next()) {
    ++frames;
    if (next->ok()) {
      checkContent(**next);
    }
  }
  FrameReader cut;
  for (const char byte : bytes) {
    cut.feed({&byte, 1});
    while (const auto next = cut.next()) {
      require(frames-- > 0);  // the same frames, however they come
    }
  }
  require(frames == 0);
  return 0;
}
