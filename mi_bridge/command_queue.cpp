// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/command_queue.h"

#include <algorithm>
#include <utility>

namespace pf::mi {
namespace {

constexpr std::size_t kRememberedRunning = 16;
constexpr Duration kLeap = std::chrono::seconds(60);

bool overtakes(const Command& command) {
  return has(command.flags, CommandFlag::Immediate) || has(command.flags, CommandFlag::Interrupts);
}

Error superseded(const std::string& text) {
  return {ErrorCode::Usage, "dropped, because the program was started again: " + text, {}};
}

Error givenUp(const Command& command) {
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(command.patience * 3);
  return {ErrorCode::Peer,
          "GDB has not answered within " + std::to_string(waited.count()) + " s: " + command.text,
          "wait longer, or restart the debugger of this rank"};
}

}  // namespace

std::uint64_t CommandQueue::push(Command command) {
  if (m_closed) {
    if (command.completion) {
      command.completion(*m_closed);
    }
    return 0;
  }
  const std::uint64_t token = ++m_lastToken;
  Entry entry{token, std::move(command), {m_now, {}, {}}, false, false};
  const bool starts = has(entry.command.flags, CommandFlag::MaybeStartsRunning);
  if (overtakes(entry.command)) {
    submit(std::move(entry));
  } else {
    m_waiting.push_back(std::move(entry));
  }
  if (starts) {
    supersede();
  }
  pump();
  return token;
}

/// Completes every refresh that is older than the command just queued.
void CommandQueue::supersede() {
  std::deque<Entry> dropped;
  std::deque<Entry> kept;
  for (Entry& entry : m_waiting) {
    auto& target = has(entry.command.flags, CommandFlag::Discardable) ? dropped : kept;
    target.push_back(std::move(entry));
  }
  m_waiting = std::move(kept);
  for (Entry& entry : m_inFlight) {
    if (has(entry.command.flags, CommandFlag::Discardable) && !entry.finished) {
      Entry stale = entry;
      entry.finished = true;
      entry.command.completion = nullptr;
      dropped.push_back(std::move(stale));
    }
  }
  for (Entry& entry : dropped) {
    complete(entry, superseded(entry.command.text));
  }
}

/// Whether a command that may start the program is with GDB and not yet answered.
bool CommandQueue::held() const {
  return std::any_of(m_inFlight.begin(), m_inFlight.end(), [](const Entry& entry) {
    return has(entry.command.flags, CommandFlag::MaybeStartsRunning) && !entry.finished;
  });
}

void CommandQueue::pump() {
  while (!m_waiting.empty() && inFlight() < kWindow && !held()) {
    Entry entry = std::move(m_waiting.front());
    m_waiting.pop_front();
    submit(std::move(entry));
  }
}

void CommandQueue::submit(Entry entry) {
  entry.times.submitted = m_now;
  const std::string line = std::to_string(entry.token) + entry.command.text + "\n";
  m_inFlight.push_back(std::move(entry));
  m_send(line);
}

std::size_t CommandQueue::inFlight() const {
  return static_cast<std::size_t>(std::count_if(
      m_inFlight.begin(), m_inFlight.end(), [](const Entry& entry) { return !entry.finished; }));
}

void CommandQueue::remember(const Entry& entry) {
  m_answeredRunning.emplace_back(entry.token, entry.command.text);
  if (m_answeredRunning.size() > kRememberedRunning) {
    m_answeredRunning.pop_front();
  }
}

bool CommandQueue::reply(const ResultRecord& record) {
  if (!record.token) {
    return false;
  }
  m_lastReply = m_now;
  const auto found =
      std::find_if(m_inFlight.begin(), m_inFlight.end(),
                   [&record](const Entry& entry) { return entry.token == *record.token; });
  if (found == m_inFlight.end()) {
    for (const auto& [token, text] : m_answeredRunning) {
      if (token == *record.token) {
        const std::string command = text;
        if (m_secondReply) {
          m_secondReply(command, record);
        }
        return true;
      }
    }
    return false;
  }
  Entry entry = std::move(*found);
  m_inFlight.erase(found);
  if (record.resultClass == ResultClass::Running) {
    remember(entry);
  }
  if (record.resultClass == ResultClass::Error) {
    complete(entry, Error{ErrorCode::Peer, record.errorMessage(), {}});
  } else {
    complete(entry, record);
  }
  pump();
  return true;
}

bool CommandQueue::awaits(std::uint64_t token) const {
  return std::any_of(m_inFlight.begin(), m_inFlight.end(),
                     [token](const Entry& entry) { return entry.token == token; });
}

bool CommandQueue::damagedReply(std::uint64_t token, const Error& error) {
  const auto found = std::find_if(m_inFlight.begin(), m_inFlight.end(),
                                  [token](const Entry& entry) { return entry.token == token; });
  if (found == m_inFlight.end()) {
    return false;
  }
  m_lastReply = m_now;
  Entry entry = std::move(*found);
  m_inFlight.erase(found);
  complete(entry,
           Error{error.code,
                 "GDB's answer to " + entry.command.text + " cannot be read: " + error.message,
                 error.advice});
  pump();
  return true;
}

void CommandQueue::complete(Entry& entry, Result<ResultRecord> result) {
  if (entry.finished) {
    return;
  }
  entry.finished = true;
  entry.times.completed = m_now;
  if (m_trace) {
    m_trace({entry.token, entry.command.text, entry.times, result.ok()});
  }
  if (const Completion completion = std::exchange(entry.command.completion, nullptr)) {
    completion(std::move(result));
  }
}

/// The first time is the first tick; a leap (a suspended machine) is nobody's delay.
void CommandQueue::setNow(TimePoint now) {
  const bool first = m_now == TimePoint{};
  if (first) {
    for (auto* entries : {&m_waiting, &m_inFlight}) {
      for (Entry& entry : *entries) {
        entry.times.queued = now;
        entry.times.submitted = now;
      }
    }
  } else if (now - m_now > kLeap) {
    m_lastReply = now;
  }
  m_now = now;
}

void CommandQueue::tick(TimePoint now) {
  setNow(now);
  // GDB works on one command at a time: the oldest is the one it is busy with.
  const auto oldest = std::find_if(m_inFlight.begin(), m_inFlight.end(),
                                   [](const Entry& entry) { return !entry.finished; });
  if (oldest == m_inFlight.end()) {
    return;
  }
  const Duration waited = now - std::max(oldest->times.submitted, m_lastReply);
  if (waited >= oldest->command.patience * 3) {
    Entry lost = *oldest;
    oldest->finished = true;
    oldest->command.completion = nullptr;
    m_lastReply = now;
    if (m_slow) {
      m_slow(lost.command.text, true);
    }
    complete(lost, givenUp(lost.command));
    pump();
  } else if (waited >= oldest->command.patience && !oldest->reportedSlow) {
    oldest->reportedSlow = true;
    if (m_slow) {
      const std::string text = oldest->command.text;
      m_slow(text, false);
    }
  }
}

void CommandQueue::close(const Error& error) {
  m_closed = error;
  std::deque<Entry> all = std::exchange(m_inFlight, {});
  for (Entry& entry : m_waiting) {
    all.push_back(std::move(entry));
  }
  m_waiting.clear();
  m_answeredRunning.clear();
  for (Entry& entry : all) {
    complete(entry, error);
  }
}

}  // namespace pf::mi
