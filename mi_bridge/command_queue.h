// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on their way to one GDB: order, tokens, deadlines.
//
// Problem: GDB answers in order, but late, twice, or never; a refresh asked for before a step is
// worthless after it; the program's own output may look like a reply.
// - At most kWindow commands are with GDB; the rest wait here, where they can still be dropped.
// - A reply belongs to the command whose token it carries. One without our token is ignored.
// - When a command that may start the program is queued, refreshes that wait or are with GDB
// complete
//   as superseded, and later commands wait until GDB has answered it.
// - Every command completes exactly once.
// Single-threaded; completions may queue commands, but must not destroy the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mi_bridge/command.h"

namespace pf::mi {

struct CommandTrace {
  std::uint64_t token = 0;
  std::string text;
  CommandTimes times;
  bool succeeded = false;
};

class CommandQueue {
 public:
  static constexpr std::size_t kWindow = 8;
  /// Above what a program is likely to print.
  static constexpr std::uint64_t kFirstToken = 1000000;

  using Send = std::function<void(std::string_view line)>;
  using Slow = std::function<void(const std::string& command, bool givenUp)>;
  using SecondReply = std::function<void(const std::string& command, const ResultRecord&)>;
  using Trace = std::function<void(const CommandTrace&)>;

  explicit CommandQueue(Send send) : m_send(std::move(send)) {}

  /// `slow` hears once when a command is past its patience and once when it is given up.
  void setSlow(Slow slow) { m_slow = std::move(slow); }
  /// GDB may answer `^running` and then `^error` with the same token.
  void setSecondReply(SecondReply handler) { m_secondReply = std::move(handler); }
  void setTrace(Trace trace) { m_trace = std::move(trace); }

  /// Returns the command's token, or 0 if the queue is closed (the completion has been called).
  std::uint64_t push(Command command);
  /// A result record from GDB. False: it is not ours.
  bool reply(const ResultRecord& record);
  /// GDB answered `token`, but the line could not be read.
  bool damagedReply(std::uint64_t token, const Error& error);
  /// To be called a few times a second: deadlines are checked only here.
  void tick(TimePoint now);
  [[nodiscard]] bool awaits(std::uint64_t token) const;
  /// GDB is gone: everything completes with `error`, also what is pushed later.
  void close(const Error& error);

  [[nodiscard]] std::size_t waiting() const { return m_waiting.size(); }
  /// Commands that are with GDB and have neither an answer nor been dropped.
  [[nodiscard]] std::size_t inFlight() const;
  [[nodiscard]] TimePoint now() const { return m_now; }

 private:
  struct Entry {
    std::uint64_t token = 0;
    Command command;
    CommandTimes times;
    bool finished = false;  ///< completed before its reply came
    bool reportedSlow = false;
  };

  void setNow(TimePoint now);
  void supersede();
  void submit(Entry entry);
  void pump();
  void complete(Entry& entry, Result<ResultRecord> result);
  [[nodiscard]] bool held() const;
  void remember(const Entry& entry);

  Send m_send;
  Slow m_slow;
  SecondReply m_secondReply;
  Trace m_trace;
  std::deque<Entry> m_waiting;
  std::deque<Entry> m_inFlight;
  std::deque<std::pair<std::uint64_t, std::string>> m_answeredRunning;
  std::optional<Error> m_closed;
  TimePoint m_now;
  TimePoint m_lastReply;
  std::uint64_t m_lastToken = kFirstToken;
};

}  // namespace pf::mi
