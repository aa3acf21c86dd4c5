// SPDX-License-Identifier: MIT
#include "plugins/host/facts.h"

namespace pf::plugins {
namespace {

photofinish::EventKind shownKind(EventKind kind) {
  using Shown = photofinish::EventKind;
  switch (kind) {
    case EventKind::Send:
      return Shown::Send;
    case EventKind::Receive:
      return Shown::Receive;
    case EventKind::SendReceive:
      return Shown::SendReceive;
    case EventKind::Post:
      return Shown::Post;
    case EventKind::Completion:
      return Shown::Completion;
    case EventKind::Probe:
      return Shown::Probe;
    case EventKind::Collective:
      return Shown::Collective;
    case EventKind::CollectivePost:
      return Shown::CollectivePost;
    case EventKind::Local:
      return Shown::Local;
    case EventKind::Start:
      return Shown::Start;
  }
  return Shown::Unknown;
}

}  // namespace

photofinish::Event shownEvent(const EventRef& at, const Event& event,
                              const std::vector<std::string>& callNames) {
  photofinish::Event shown;
  shown.at = shownRef(at);
  if (event.call < callNames.size()) {
    shown.call = callNames[event.call];
  }
  shown.kind = shownKind(event.kind);
  shown.peer = event.peer;
  shown.tag = event.tag;
  shown.thread = event.lane;
  shown.site = shownIndex(event.site);
  shown.communicator = shownIndex(event.comm);
  shown.bytes = event.bytes;
  return shown;
}

photofinish::Message shownMessage(const Message& message) {
  photofinish::Message shown;
  shown.sent = shownRef(message.send);
  shown.received = shownRef({message.dest, message.completion});
  shown.destination = message.dest;
  shown.tag = message.tag;
  shown.communicator = shownIndex(message.comm);
  return shown;
}

photofinish::Receive shownReceive(Rank rank, const PostedReceive& receive) {
  photofinish::Receive shown;
  shown.posted = shownRef({rank, receive.post});
  shown.completed = shownRef({rank, receive.completion});
  shown.source = receive.source;
  shown.tag = receive.tag;
  shown.message = shownIndex(receive.message);
  shown.cancelled = receive.state == ReceiveState::Cancelled;
  return shown;
}

photofinish::Receive shownProbe(Rank rank, const ProbeHit& probe) {
  photofinish::Receive shown;
  shown.posted = shownRef({rank, probe.event});
  shown.completed = shown.posted;
  shown.source = probe.source;
  shown.tag = probe.tag;
  shown.message = shownIndex(probe.message);
  shown.probe = true;
  return shown;
}

photofinish::Site shownSite(const std::vector<CallSite>& sites, std::uint64_t number) {
  photofinish::Site shown;
  if (number < sites.size()) {
    const CallSite& site = sites[number];
    shown.file = site.file;
    shown.function = site.function;
    shown.line = site.line > 0 ? static_cast<std::uint32_t>(site.line) : 0;
  }
  return shown;
}

photofinish::Communicator shownCommunicator(const std::vector<Communicator>& communicators,
                                            std::uint64_t number) {
  photofinish::Communicator shown;
  if (number < communicators.size()) {
    shown.name = communicators[number].name;
    shown.ranks = communicators[number].group.size();
  }
  return shown;
}

}  // namespace pf::plugins
