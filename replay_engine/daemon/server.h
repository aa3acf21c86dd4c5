// SPDX-License-Identifier: GPL-3.0-or-later
// The transport of the daemon: peers, their authentication, their queues.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/daemon/session_logic.h"
#include "replay_engine/daemon/steady_time.h"
#include "replay_engine/protocol/framed_socket.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::daemon {

class Server {
 public:
  Server(protocol::SessionDirectory session, LogicOptions options, ScheduleSource& source);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] Status listen();
  /// Until the session is over or SIGTERM arrives on `signals` (a signalfd).
  void run(int signals);

 private:
  struct Peer {
    protocol::FramedSocket socket;
    bool known = false;  ///< has shown the key
    protocol::PeerRole role = protocol::PeerRole::Agent;
    TimePoint deadline;  ///< for the hello
    std::uint64_t cut = 0;
    std::uint32_t events = 0;  ///< as registered with epoll
  };

  void acceptAll();
  void admit(UniqueFd fd);
  void dropAStranger();
  void serve(PeerId id);
  void serveHello(PeerId id, Peer& peer, const protocol::Message& message);
  void dropLate(TimePoint now);
  void carryOut(Orders orders);
  void sendTo(PeerId id, const protocol::Message& message);
  void sendOutput(Peer& peer, protocol::Output output);
  void drop(PeerId id);
  void lose();
  void watch(PeerId id, Peer& peer);
  void flushAll(std::chrono::milliseconds most);
  [[nodiscard]] bool rightKey(const std::string& key) const;

  TimePoint clockNow();

  protocol::SessionDirectory m_session;
  SteadyTime m_time;
  SessionLogic m_logic;
  UniqueFd m_epoll;
  UniqueFd m_listener;
  std::map<PeerId, std::unique_ptr<Peer>> m_peers;
  std::vector<PeerId> m_lost;  ///< known peers that are closed, not yet told to the logic
  PeerId m_nextId = 16;        ///< the first ones are epoll's marks for other descriptors
  std::size_t m_strangers = 0;
};

}  // namespace pf::daemon
