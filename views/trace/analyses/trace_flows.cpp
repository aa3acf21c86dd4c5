// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/analyses/trace_flows.h"

namespace pf::views {

bool joinsAgain(const TraceIndex& trace, EventRef event, const LinkedItems& parts,
                std::vector<bool>& joined) {
  if (parts.size() != 1 || !trace.links().completedAt(event).empty() ||
      !trace.links().synchronousDoneAt(event).empty()) {
    return false;
  }
  const CollectivePart part = trace.execution().ranks[index(event.rank)].collectives[parts[0]];
  const std::uint32_t group = trace.collectives().at({event.rank, part.event});
  if (group == kNone || part.flow != CollectiveFlow::AllToAll || !part.takes) {
    return false;
  }
  const bool again = joined[group];
  joined[group] = true;
  return again;
}

std::vector<EventRef> causesOf(const TraceIndex& trace, EventRef ref) {
  std::vector<EventRef> out;
  const RankView& history = trace.execution().ranks[index(ref.rank)];
  const auto& messages = trace.execution().messages;
  for (const std::uint32_t r : trace.links().completedAt(ref)) {
    const std::uint32_t m = history.receives[r].message;
    if (m < messages.size()) {
      out.push_back(messages[m].send);
    }
  }
  for (const std::uint32_t m : trace.links().synchronousDoneAt(ref)) {
    Message unobserved = messages[m];
    if (unobserved.post != kNone) {
      unobserved.completion = 0;  // what the sender knows is that the receive was posted
      out.push_back(trace.messages().arrival(unobserved));
    }
  }
  for (const std::uint32_t p : trace.links().collectivesDoneAt(ref)) {
    const std::vector<EventRef> parts = trace.collectives().feeding(ref.rank, p);
    out.insert(out.end(), parts.begin(), parts.end());
  }
  return out;
}

std::vector<EventRef> effectsOf(const TraceIndex& trace, EventRef ref) {
  std::vector<EventRef> out;
  const RankView& history = trace.execution().ranks[index(ref.rank)];
  const auto& messages = trace.execution().messages;
  for (const std::uint32_t m : trace.links().sentAt(ref)) {
    if (const Message message = messages[m]; message.completion != 0) {
      out.push_back({message.dest, message.completion});
    }
  }
  for (const std::uint32_t r : trace.links().postedAt(ref)) {
    const std::uint32_t m = history.receives[r].message;
    const Message message = m < messages.size() ? messages[m] : Message();
    if (!trace.contains(message.send)) {
      continue;
    }
    const auto& sends = trace.execution().ranks[index(message.send.rank)].sends;
    if (message.sendIndex < sends.size()) {
      out.push_back({message.send.rank, sends[message.sendIndex].syncCompletion});
    }
  }
  const std::uint32_t group = trace.collectives().at(ref);
  const auto own = group == kNone ? std::nullopt : partAt(history, ref.serial);
  if (own) {
    trace.collectives().forEachFedBy(ref, *own, group,
                                     [&out](EventRef effect) { out.push_back(effect); });
  }
  return out;
}

}  // namespace pf::views
