// SPDX-License-Identifier: GPL-3.0-or-later
// A control daemon that is a script, for job_test: says to its front end what PF_DAEMON_SAYS has, words between commas,
//   agents N         so many are connected             exited RANK STATUS SIGNAL
//   hello RANK SIZE  has called MPI_Init               races RANK N            has found so many
//   stalled PROVEN   all wait: 0 perhaps, 1 for ever   gone                    ends
//   absent           does not even start               refuses                 lets nobody in
// and writes its own words, and what it hears, into the file PF_DAEMON_HEARD.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "replay_engine/protocol/framed_socket.h"
#include "replay_engine/protocol/session_directory.h"

using namespace pf;

namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void note(const std::string& line) {
  std::ofstream(variable("PF_DAEMON_HEARD"), std::ios::app) << line << '\n';
}

/// Waits for the front end and its hello.
protocol::FramedSocket admit(const std::string& path, int ready) {
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 1) != 0 || ::write(ready, "r", 1) != 1) {
    std::exit(1);
  }
  ::close(ready);
  protocol::FramedSocket socket(UniqueFd(::accept(listener.get(), nullptr, nullptr)));
  for (auto hello = socket.receive(); hello && !hello->has_value(); hello = socket.receive()) {
    pollfd waiting{socket.fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
  return socket;
}

void say(protocol::FramedSocket& socket, const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  if (word == "agents") {
    protocol::SessionState state;
    words >> state.agents;
    (void)socket.send(state);
  } else if (word == "exited") {
    protocol::RankExited exited;
    words >> exited.rank >> exited.exitStatus >> exited.signal;
    (void)socket.send(exited);
  } else if (word == "hello") {
    protocol::RankHello hello;
    words >> hello.rank >> hello.size;
    hello.host = "elsewhere";
    (void)socket.send(hello);
  } else if (word == "races") {
    protocol::RankState state;
    words >> state.rank >> state.races;
    (void)socket.send(state);
  } else if (word == "stalled") {
    protocol::Verdict verdict;
    verdict.kind = protocol::VerdictKind::Stalled;
    verdict.text = "rank 0 waits for rank 1";
    words >> verdict.proven;
    (void)socket.send(verdict);
  } else if (word == "gone") {
    std::exit(0);
  }
}

void hear(protocol::FramedSocket& socket, const protocol::Message& message) {
  if (const auto* ping = std::get_if<protocol::Ping>(&message)) {
    (void)socket.send(protocol::Pong{ping->number});
  } else if (std::holds_alternative<protocol::Kill>(message)) {
    note("kill");
  } else if (std::holds_alternative<protocol::Shutdown>(message)) {
    note("shutdown");
    std::exit(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string session;
  int ready = -1;
  std::string all;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    session = word == "--session" ? argv[i + 1] : session;
    ready = word == "--ready-fd" ? std::atoi(argv[i + 1]) : ready;
    all += word + " ";
  }
  note(all);
  const std::string says = variable("PF_DAEMON_SAYS");
  if (says == "absent") {
    return 1;
  }
  const auto directory = protocol::SessionDirectory::open(session);
  if (!directory) {
    return 1;
  }
  protocol::FramedSocket socket = admit(directory->socketPath(), ready);
  if (says == "refuses") {
    (void)socket.send(protocol::Refused{"wrong key"});
    return 0;
  }
  (void)socket.send(protocol::Welcome{directory->config().mode});
  std::istringstream lines(says);
  for (std::string line; std::getline(lines, line, ',');) {
    say(socket, line);
  }
  for (;;) {
    pollfd waiting{socket.fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
    for (;;) {
      const auto message = socket.receive();
      if (!message) {
        return 0;
      }
      if (!message->has_value()) {
        break;
      }
      hear(socket, **message);
    }
  }
}
