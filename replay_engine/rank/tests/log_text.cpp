// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/log_text.h"

#include "mpi_calls.h"

#include <iterator>

namespace pf::test {
namespace {

constexpr const char* kEventKinds[] = {"Send",       "Receive", "SendReceive", "Post",
                                       "Completion", "Probe",   "Collective",  "CollectivePost",
                                       "Local",      "Start"};
constexpr const char* kChoices[] = {"Test",    "Testall",  "Testany",   "Testsome",
                                    "Waitany", "Waitsome", "Iprobe",    "Improbe",
                                    "Probe",   "Mprobe",   "GetStatus", "Lock"};
static_assert(std::size(kChoices) == kChoiceKinds);

void add(std::string& text, const std::string& word) {
  text += text.empty() ? word : " " + word;
}

/// `wordOf(event)` of each event between MPI_Init's and MPI_Finalize's.
template <typename WordOf>
std::string between(const RankLog& log, WordOf wordOf) {
  std::string text;
  const std::vector<Event>& events = log.history.events;
  for (std::size_t i = 1; i + 1 < events.size(); ++i) {
    add(text, wordOf(events[i]));
  }
  return text;
}

}  // namespace

std::string eventsIn(const RankLog& log) {
  return between(
      log, [](const Event& event) { return kEventKinds[static_cast<std::size_t>(event.kind)]; });
}

std::string callsIn(const RankLog& log) {
  return between(log, [](const Event& event) { return kCallNames[event.call]; });
}

std::string receivesIn(const RankLog& log) {
  std::string text;
  std::size_t post = 0;
  for (const PostedReceive& receive : log.history.receives) {
    std::string word = std::to_string(post++) + ":";
    switch (receive.state) {
      case ReceiveState::Pending:
        word += "pending";
        break;
      case ReceiveState::Cancelled:
        word += "cancelled";
        break;
      case ReceiveState::Complete:
        word += std::to_string(receive.source) + "/" + std::to_string(receive.tag);
        break;
    }
    add(text, word);
  }
  return text;
}

std::string sendsIn(const RankLog& log) {
  std::string text;
  for (const SentMessage& message : log.history.sends) {
    add(text, std::to_string(message.dest) + "/" + std::to_string(message.tag) +
                  (message.synchronous ? "!" : ""));
  }
  return text;
}

std::string choicesIn(const RankLog& log) {
  std::string text;
  for (std::size_t kind = 0; kind < kChoiceKinds; ++kind) {
    for (const RecordedChoice& choice : log.choices[kind]) {
      std::string word =
          std::string(kChoices[kind]) + " " + std::to_string(choice.failedPolls) + "-";
      for (std::size_t i = 0; i < choice.payload.size(); ++i) {
        word += (i == 0 ? "" : ",") + std::to_string(choice.payload[i]);
      }
      add(text, word);
    }
    if (log.finalFailedPolls[kind] != 0) {
      add(text,
          std::string(kChoices[kind]) + " " + std::to_string(log.finalFailedPolls[kind]) + "-end");
    }
  }
  return text;
}

std::string wildcardsIn(const RankLog& log) {
  std::string text;
  for (std::uint32_t number = 0; number < log.wildSources.size(); ++number) {
    add(text, std::to_string(number) + ":" + std::to_string(log.wildSources[number]));
  }
  return text;
}

}  // namespace pf::test
