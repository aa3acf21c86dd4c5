// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/stop_values.h"

#include <algorithm>
#include <charconv>
#include <memory>

namespace pf::mi {
namespace {

constexpr std::size_t kWordBytes = 8;

/// Little-endian bytes as hexadecimal digits.
Result<std::uint64_t> wordOf(const std::string& digits) {
  std::uint64_t word = 0;
  if (digits.size() != 2 * kWordBytes) {
    return Error{ErrorCode::Peer, "GDB gave '" + digits + "' for 8 bytes of memory", {}};
  }
  for (std::size_t i = digits.size(); i > 0; i -= 2) {
    unsigned byte = 0;
    const char* const first = digits.data() + i - 2;
    if (std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      return Error{ErrorCode::Peer, "GDB gave '" + digits + "' for 8 bytes of memory", {}};
    }
    word = word << 8U | byte;
  }
  return word;
}

void evaluateAll(GdbSession& session, FrameRef frame, const std::vector<std::string>& expressions,
                 const std::function<void(const Values&)>& done) {
  const auto values = std::make_shared<Values>();
  for (const std::string& expression : expressions) {
    session.inspect().evaluate(
        frame, expression,
        [values, done, count = expressions.size()](const Result<std::string>& value) {
          values->push_back(value);
          if (values->size() == count) {
            done(*values);
          }
        });
  }
}

/// Words of 8 bytes each.
Result<std::vector<std::uint64_t>> wordsOf(const std::string& digits) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < digits.size(); i += 2 * kWordBytes) {
    const Result<std::uint64_t> word = wordOf(digits.substr(i, 2 * kWordBytes));
    if (!word) {
      return word.error();
    }
    words.push_back(*word);
  }
  return words;
}

constexpr std::uint64_t kBuffersAtOnce = 8192;

void readBuffers(GdbSession& session, std::uint64_t address, std::uint64_t left,
                 const std::shared_ptr<std::vector<NotedBuffer>>& read,
                 const Callback<std::vector<NotedBuffer>>& done) {
  if (left == 0) {
    done(std::move(*read));
    return;
  }
  const std::uint64_t now = std::min(left, kBuffersAtOnce);
  session.inspect().readMemory(
      std::to_string(address), static_cast<std::uint32_t>(now * sizeof(NotedBuffer)),
      [&session, address, left, now, read, done](const Result<std::string>& digits) {
        const auto words =
            digits ? wordsOf(*digits) : Result<std::vector<std::uint64_t>>(digits.error());
        constexpr std::size_t kWords = sizeof(NotedBuffer) / kWordBytes;
        if (!words || words->size() < now * kWords) {
          done(words ? Error{ErrorCode::Peer, "GDB gave less memory than was asked for", {}}
                     : words.error());
          return;
        }
        for (std::size_t i = 0; i < now * kWords; i += kWords) {
          const std::uint64_t* word = words->data() + i;
          read->push_back({word[0], word[1], static_cast<std::uint32_t>(word[2]), 0, word[3]});
        }
        readBuffers(session, address + now * sizeof(NotedBuffer), left - now, read, done);
      });
}

}  // namespace

void notedBuffers(GdbSession& session, std::uint64_t from,
                  const Callback<std::vector<NotedBuffer>>& done) {
  session.inspect().readMemory(
      std::string("&") + kNotedBuffersSymbol, sizeof(NotedBuffers),
      [&session, from, done](const Result<std::string>& digits) {
        const auto words =
            digits ? wordsOf(*digits) : Result<std::vector<std::uint64_t>>(digits.error());
        if (!words || words->size() < 3) {
          done(words ? Error{ErrorCode::Peer, "GDB gave less memory than was asked for", {}}
                     : words.error());
          return;
        }
        const std::uint64_t count = words->at(0);
        const std::uint64_t first = std::min(from, count);
        readBuffers(session, words->at(1) + first * sizeof(NotedBuffer), count - first,
                    std::make_shared<std::vector<NotedBuffer>>(), done);
      });
}

void valuesAtStop(GdbSession& session, const std::vector<std::string>& expressions,
                  const std::function<void(const Values&)>& done) {
  if (expressions.empty()) {
    done({});
    return;
  }
  frameAtStop(session, [&session, expressions, done](const Result<Frame>& frame) {
    if (!frame) {
      done(Values(expressions.size(), frame.error()));
      return;
    }
    evaluateAll(session, refOf(session.stop().thread, *frame), expressions, done);
  });
}

void frameAtStop(GdbSession& session, const Callback<Frame>& done) {
  const StopEvent& stop = session.stop();
  if (!stop.stoppedAtEvent() && stop.frame.function != kPythonLineFunction) {
    done(stop.frame);
    return;
  }
  session.inspect().frames(stop.thread, 0, kFramesToUser,
                           [done](const Result<std::vector<Frame>>& frames) {
                             if (!frames) {
                               done(frames.error());
                               return;
                             }
                             const auto user = firstUserFrame(*frames);
                             done(user ? (*frames)[*user] : Frame());
                           });
}

void eventsBegun(GdbSession& session, const Callback<std::uint64_t>& done) {
  // The address of the address: readable in any of GDB's languages, without a type.
  session.inspect().readMemory(
      std::string("&") + kEventsBegunSymbol, kWordBytes,
      [&session, done](const Result<std::string>& pointer) {
        const Result<std::uint64_t> address =
            pointer ? wordOf(*pointer) : Result<std::uint64_t>(pointer.error());
        if (!address || *address == 0) {
          done(address ? Error{ErrorCode::NotFound, "the rank has begun no event yet", {}}
                       : address.error());
          return;
        }
        session.inspect().readMemory(
            std::to_string(*address), kWordBytes, [done](const Result<std::string>& digits) {
              done(digits ? wordOf(*digits) : Result<std::uint64_t>(digits.error()));
            });
      });
}

}  // namespace pf::mi
