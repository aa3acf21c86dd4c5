// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/messages.h"

#include "replay_engine/protocol/body.h"

namespace pf::protocol {
namespace {

template <typename M>
bool decodeAs(const Frame& frame, std::optional<Result<Message>>& out) {
  if (frame.type != static_cast<std::uint8_t>(M::kType)) {
    return false;
  }
  M message{};
  BodyReader reader(frame.body);
  M::visit(message, reader);
  if (Status status = reader.finish(); !status) {
    out.emplace(status.error());
  } else {
    out.emplace(Message(std::move(message)));
  }
  return true;
}

template <typename... Ms>
Result<Message> decodeAny(const Frame& frame, const std::variant<Ms...>* /*kinds*/) {
  std::optional<Result<Message>> out;
  if ((decodeAs<Ms>(frame, out) || ...)) {
    return std::move(*out);
  }
  return Error{ErrorCode::Peer, "a message of unknown type " + std::to_string(frame.type), {}};
}

}  // namespace

Result<std::string> encodeMessage(const Message& message, std::uint64_t sequence) {
  return std::visit(
      [sequence](const auto& m) -> Result<std::string> {
        using M = std::decay_t<decltype(m)>;
        BodyWriter writer;
        M::visit(m, writer);
        const std::string body = writer.take();
        if (body.size() > kMaxBody) {
          return Error{
              ErrorCode::Internal,
              "a message of " + std::to_string(body.size()) + " bytes is too large to send",
              {}};
        }
        return encodeFrame(static_cast<std::uint8_t>(M::kType), sequence, body);
      },
      message);
}

Result<Message> decodeMessage(const Frame& frame) {
  return decodeAny(frame, static_cast<const Message*>(nullptr));
}

}  // namespace pf::protocol
