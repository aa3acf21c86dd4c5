// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/dap_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include <QCoreApplication>

#include "app/dap/dap_server.h"
#include "app/front_end/signals.h"
#include "app/front_end/standard_streams.h"

namespace pf::headless {
namespace {

constexpr int kLooks = 50;  ///< at the table of connections

/// "0100007F:1F90" as /proc/net/tcp writes it.
std::string procAddress(const sockaddr_in& address) {
  char text[32];
  std::snprintf(text, sizeof text, "%08X:%04X", address.sin_addr.s_addr, ntohs(address.sin_port));
  return text;
}

/// Whether the other side has said its last; it may not have been read yet.
bool isGone(int connection) {
  pollfd poll{connection, POLLRDHUP, 0};
  return ::poll(&poll, 1, 0) == 1 && (poll.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// One client after another.
class Listener : public QObject {
 public:
  Listener() { connect(&m_signals, &EndSignals::received, this, &Listener::end); }

  void serveStandard() {
    StandardStreams streams = takeStandardStreams();
    m_ending = true;  // with this client
    take(std::move(streams.in), std::move(streams.out), false);
  }

  Status serve(int port) {
    Result<UniqueFd> listening = listenOn(port);
    if (!listening) {
      return listening.error();
    }
    m_listening = std::move(*listening);
    m_notifier = std::make_unique<QSocketNotifier>(m_listening.get(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &Listener::accept);
    std::fprintf(stderr, "photofinish: serves DAP on 127.0.0.1:%d, one client at a time\n", port);
    return {};
  }

 private:
  void accept() {
    if (m_server != nullptr && (m_server->isFinishing() || isGone(m_client))) {
      m_notifier->setEnabled(false);  // the next client waits until this one is done with
      return;
    }
    UniqueFd client(::accept4(m_listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.valid()) {
      return;
    }
    if (m_server != nullptr || !peerIsOurUser(client.get())) {
      std::fprintf(
          stderr, "photofinish: a client was sent away: %s\n",
          m_server != nullptr ? "another one is being served" : "it belongs to another user");
      return;
    }
    UniqueFd out(::fcntl(client.get(), F_DUPFD_CLOEXEC, 3));
    m_client = client.get();
    take(std::move(client), std::move(out), true);
  }

  void take(UniqueFd in, UniqueFd out, bool strict) {
    m_channel = std::make_unique<ByteChannel>(std::move(in), std::move(out));
    m_server = std::make_unique<DapServer>(*m_channel, strict);
    connect(
        m_server.get(), &DapServer::finished, this,
        [this] {
          m_server.reset();
          m_channel.reset();
          if (m_ending) {
            QCoreApplication::quit();
          } else if (m_notifier != nullptr) {
            m_notifier->setEnabled(true);
          }
        },
        Qt::QueuedConnection);
  }

  void end() {
    m_ending = true;
    if (m_server != nullptr) {
      m_server->finish();
    } else {
      QCoreApplication::quit();
    }
  }

  EndSignals m_signals;
  UniqueFd m_listening;
  std::unique_ptr<QSocketNotifier> m_notifier;
  std::unique_ptr<ByteChannel> m_channel;
  std::unique_ptr<DapServer> m_server;
  int m_client = -1;  ///< the channel's, while there is a server
  bool m_ending = false;
};

/// Who has this end of a connection: it has a line of its own.
std::optional<unsigned> ownerOf(const std::string& end, const std::string& otherEnd) {
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, skipped;
    unsigned owner = 0;
    words >> number >> local >> remote >> skipped >> skipped >> skipped >> skipped >> owner;
    if (words && local == end && remote == otherEnd) {
      return owner;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<UniqueFd> listenOn(int& port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (!fd.valid() || ::bind(fd.get(), raw, size) != 0 || ::listen(fd.get(), 4) != 0 ||
      ::getsockname(fd.get(), raw, &size) != 0) {
    Error error = systemError("cannot listen on port " + std::to_string(port), errno);
    error.advice = "Give another port with --port.";
    return error;
  }
  port = ntohs(address.sin_port);
  return fd;
}

bool peerIsOurUser(int fd) {
  sockaddr_in ours{};
  sockaddr_in theirs{};
  socklen_t size = sizeof ours;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&ours), &size) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) {
    return false;
  }
  // The table is given out a page at a time; between two, lines may move past us.
  for (int look = 0; look < kLooks; ++look) {
    if (const auto owner = ownerOf(procAddress(theirs), procAddress(ours))) {
      return *owner == ::getuid();
    }
  }
  return false;
}

int serveDap(const DapOptions& options) {
  Listener listener;
  if (options.port < 0) {
    listener.serveStandard();
  } else if (Status status = listener.serve(options.port); !status) {
    std::fprintf(stderr, "photofinish: %s\n", status.error().text().c_str());
    return exitStatus(status.error().code);
  }
  return QCoreApplication::exec();
}

}  // namespace pf::headless
