// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes, cut anywhere, go through the frame decoder and the message reader; what is read is
// written and read again, and must be the same. The bodies are also tried without the checksum that
// a fuzzer cannot guess.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "replay_engine/protocol/messages.h"

namespace {

void check(const pf::protocol::Frame& frame) {
  using namespace pf::protocol;
  const pf::Result<Message> message = decodeMessage(frame);
  if (!message) {
    return;
  }
  const pf::Result<std::string> bytes = encodeMessage(*message, 1);
  if (!bytes) {
    return;  // every field that was missing is written: may grow over the limit
  }
  FrameDecoder decoder;
  decoder.feed(*bytes);
  pf::Result<std::optional<Frame>> again = decoder.next();
  if (!again || !again->has_value() || !(decodeMessage(**again).value() == *message)) {
    std::abort();
  }
}

void drain(pf::protocol::FrameDecoder& stream) {
  for (;;) {
    const pf::Result<std::optional<pf::protocol::Frame>> frame = stream.next();
    if (!frame || !frame->has_value()) {
      return;
    }
    check(**frame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pf::protocol;
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(data[i]);
  }
  const std::size_t cut = size == 0 ? 0 : data[0] % size;
  FrameDecoder stream;
  stream.feed(std::string_view(bytes).substr(0, cut));
  drain(stream);
  stream.feed(std::string_view(bytes).substr(cut));
  drain(stream);
  if (size > kFrameHeaderSize) {  // the same bytes as type and body of a frame that is whole
    check(Frame{data[3], 1, bytes.substr(kFrameHeaderSize)});
  }
  return 0;
}
