// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/front_end/signals.h"

#include <fcntl.h>

#include <array>
#include <csignal>

namespace pf::headless {
namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
volatile std::sig_atomic_t g_pipe = -1;

extern "C" void onSignal(int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t put = ::write(g_pipe, &byte, 1);
}

}  // namespace

EndSignals::EndSignals(QObject* parent) : QObject(parent) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return;
  }
  m_read.reset(ends[0]);
  m_write.reset(ends[1]);
  g_pipe = ends[1];
  m_notifier = std::make_unique<QSocketNotifier>(ends[0], QSocketNotifier::Read);
  connect(m_notifier.get(), &QSocketNotifier::activated, this, [this] {
    unsigned char byte = 0;
    if (::read(m_read.get(), &byte, 1) == 1) {
      if (byte == SIGUSR1) {
        Q_EMIT asked();
      } else {
        Q_EMIT received(byte);
      }
    }
  });
  for (const int signal : kSignals) {
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

EndSignals::~EndSignals() {
  for (const int signal : kSignals) {  // one that asks for something ends nothing, however late
    std::signal(signal, signal == SIGUSR1 ? SIG_IGN : SIG_DFL);
  }
  g_pipe = -1;
}

}  // namespace pf::headless

#include "moc_signals.cpp"
