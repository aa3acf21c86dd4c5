// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/daemon/server.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

namespace pf::daemon {

using namespace protocol;  // NOLINT(google-build-using-namespace): the transport of every message

namespace {

constexpr std::uint64_t kListenerMark = 1;
constexpr std::uint64_t kSignalMark = 2;
constexpr std::uint32_t kIn = EPOLLIN;
constexpr std::uint32_t kInAndOut = EPOLLIN | EPOLLOUT;
constexpr std::size_t kMaxStrangers = 128;
constexpr int kAcceptAtOnce = 32;
constexpr int kMessagesAtOnce = 64;
constexpr std::chrono::milliseconds kHelloWithin(2000);
constexpr std::chrono::milliseconds kLastWords(500);
constexpr std::size_t kMaxAgentQueue = std::size_t{8} << 20U;
constexpr std::size_t kMaxClientQueue = std::size_t{64} << 20U;
constexpr std::size_t kMaxOutputQueue = std::size_t{8} << 20U;

}  // namespace

Server::Server(SessionDirectory session, LogicOptions options, ScheduleSource& source)
    : m_session(std::move(session)),
      m_time(SteadyTime::Clock::now()),
      m_logic(std::move(options), source, clockNow()),
      m_epoll(::epoll_create1(EPOLL_CLOEXEC)) {}

TimePoint Server::clockNow() {
  return m_time.at(SteadyTime::Clock::now());
}

Server::~Server() {
  if (m_listener.valid()) {
    ::unlink(m_session.socketPath().c_str());
  }
}

Status Server::listen() {
  const std::string path = m_session.socketPath();
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size() + 1, sizeof address.sun_path));
  const mode_t mask = ::umask(S_IRWXG | S_IRWXO | S_IXUSR);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket interface
  const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(mask);
  if (bound != 0) {
    Error failed = systemError("the control daemon cannot bind " + path, error);
    failed.advice = error == EADDRINUSE ? "the session already has a daemon" : "";
    return failed;
  }
  m_listener = std::move(fd);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kListenerMark;
  if (::listen(m_listener.get(), SOMAXCONN) != 0 ||
      ::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, m_listener.get(), &event) != 0) {
    return systemError("the control daemon cannot listen on " + path, errno);
  }
  return {};
}

void Server::run(int signals) {
  epoll_event signalEvent{};
  signalEvent.events = EPOLLIN;
  signalEvent.data.u64 = kSignalMark;
  ::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, signals, &signalEvent);
  TimePoint nextTick = clockNow();
  std::array<epoll_event, 64> events{};
  bool stop = false;
  while (!stop && !m_logic.finished(clockNow())) {
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(nextTick - clockNow());
    const int n = ::epoll_wait(m_epoll.get(), events.data(), static_cast<int>(events.size()),
                               static_cast<int>(std::max<std::int64_t>(wait.count(), 0)));
    bool incoming = false;
    for (int i = 0; i < n; ++i) {
      const std::uint64_t mark = events[static_cast<std::size_t>(i)].data.u64;
      incoming = incoming || mark == kListenerMark;
      stop = stop || mark == kSignalMark;
      if (mark != kListenerMark && mark != kSignalMark) {
        serve(mark);
      }
    }
    if (incoming) {
      acceptAll();  // after the others, whose key may be waiting
    }
    if (const TimePoint now = clockNow(); now >= nextTick) {
      nextTick = now + SteadyTime::kTick;
      dropLate(now);
      carryOut(m_logic.tick(now));
    }
    lose();
  }
  flushAll(kLastWords);
}

// -- who comes

void Server::acceptAll() {
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    UniqueFd fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) {
      if (errno == EMFILE || errno == ENFILE) {
        dropAStranger();
      }
      return;
    }
    admit(std::move(fd));
  }
}

void Server::admit(UniqueFd fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
      credentials.uid != ::geteuid()) {
    return;
  }
  if (m_strangers >= kMaxStrangers) {
    dropAStranger();
  }
  const PeerId id = m_nextId++;
  auto peer = std::make_unique<Peer>();
  peer->socket = FramedSocket(std::move(fd));
  peer->socket.limitToHello(true);
  peer->deadline = clockNow() + kHelloWithin;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  if (::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, peer->socket.fd(), &event) != 0) {
    return;
  }
  peer->events = EPOLLIN;
  m_peers.emplace(id, std::move(peer));
  ++m_strangers;
  serve(id);  // the hello of an honest peer is mostly there
}

/// The oldest one: an honest peer says hello at once, so it is not a stranger for long.
void Server::dropAStranger() {
  for (const auto& [id, peer] : m_peers) {
    if (!peer->known) {
      drop(id);
      return;
    }
  }
}

void Server::dropLate(TimePoint now) {
  std::vector<PeerId> late;
  for (const auto& [id, peer] : m_peers) {
    if (!peer->known && now >= peer->deadline) {
      late.push_back(id);
    }
  }
  for (const PeerId id : late) {
    drop(id);
  }
}

bool Server::rightKey(const std::string& key) const {
  const std::string& right = m_session.key();
  unsigned difference = key.size() == right.size() ? 0U : 1U;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const char byte = i < key.size() ? key[i] : '\0';
    difference |= static_cast<unsigned>(static_cast<unsigned char>(byte ^ right[i]));
  }
  return difference == 0;
}

void Server::serveHello(PeerId id, Peer& peer, const Message& message) {
  const auto* hello = std::get_if<Hello>(&message);
  if (hello == nullptr || !rightKey(hello->key)) {
    drop(id);
    return;
  }
  peer.known = true;
  peer.role = hello->role;
  --m_strangers;
  peer.socket.limitToHello(false);
  carryOut(m_logic.peerJoined(id, hello->role, clockNow()));
}

// -- what they say

void Server::serve(PeerId id) {
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    const auto it = m_peers.find(id);
    if (it == m_peers.end()) {
      return;
    }
    Peer& peer = *it->second;
    Result<std::optional<Message>> message = peer.socket.receive();
    if (!message) {
      if (peer.known || message.error().code == ErrorCode::Version) {
        static_cast<void>(peer.socket.send(Refused{message.error().text()}));
      }
      drop(id);
      return;
    }
    if (!message->has_value()) {
      watch(id, peer);
      return;
    }
    if (!peer.known) {
      serveHello(id, peer, **message);
    } else {
      carryOut(m_logic.received(id, **message, clockNow()));
    }
  }
  // More may be waiting in the decoder, where epoll does not see it: come back by EPOLLOUT.
  if (const auto it = m_peers.find(id); it != m_peers.end()) {
    epoll_event event{};
    event.events = kInAndOut;
    event.data.u64 = id;
    it->second->events = event.events;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_MOD, it->second->socket.fd(), &event);
  }
}

void Server::watch(PeerId id, Peer& peer) {
  static_cast<void>(
      peer.socket.flush());  // a peer that is gone may have left messages: reading tells
  const std::uint32_t wanted = peer.socket.queued() > 0 ? kInAndOut : kIn;
  if (wanted != peer.events) {
    epoll_event event{};
    event.events = wanted;
    event.data.u64 = id;
    peer.events = wanted;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_MOD, peer.socket.fd(), &event);
  }
}

// -- what they are told

void Server::carryOut(Orders orders) {
  for (Order& order : orders) {
    if (!order.message) {
      drop(order.peer);
      continue;
    }
    if (order.peer != 0) {
      sendTo(order.peer, *order.message);
      continue;
    }
    std::vector<PeerId> clients;
    for (const auto& [id, peer] : m_peers) {
      if (peer->known && peer->role == PeerRole::Client) {
        clients.push_back(id);
      }
    }
    for (const PeerId id : clients) {
      sendTo(id, *order.message);
    }
  }
}

void Server::sendTo(PeerId id, const Message& message) {
  const auto it = m_peers.find(id);
  if (it == m_peers.end()) {
    return;
  }
  Peer& peer = *it->second;
  if (const auto* output = std::get_if<Output>(&message)) {
    sendOutput(peer, *output);
  } else {
    static_cast<void>(peer.socket.send(message));  // if it is gone, reading tells
  }
  const std::size_t most = peer.role == PeerRole::Client ? kMaxClientQueue : kMaxAgentQueue;
  if (peer.socket.queued() > most) {
    drop(id);
  } else {
    watch(id, peer);
  }
}

void Server::sendOutput(Peer& peer, Output output) {
  if (peer.socket.queued() > kMaxOutputQueue) {
    peer.cut += output.bytes.size() + output.cut;
    return;
  }
  output.cut += std::exchange(peer.cut, 0);
  static_cast<void>(peer.socket.send(output));
}

// -- who goes

/// Closes; the logic is told later, because it may be what called us.
void Server::drop(PeerId id) {
  const auto it = m_peers.find(id);
  if (it == m_peers.end()) {
    return;
  }
  if (it->second->known) {
    m_lost.push_back(id);
  } else {
    --m_strangers;
  }
  m_peers.erase(it);
}

void Server::lose() {
  while (!m_lost.empty()) {
    const PeerId id = m_lost.back();
    m_lost.pop_back();
    carryOut(m_logic.peerLost(id, clockNow()));
  }
}

void Server::flushAll(std::chrono::milliseconds most) {
  const TimePoint deadline = clockNow() + most;
  bool left = true;
  while (left && clockNow() < deadline) {
    left = false;
    for (const auto& [id, peer] : m_peers) {
      left = (peer->socket.flush().ok() && peer->socket.queued() > 0) || left;
    }
    if (left) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

}  // namespace pf::daemon
