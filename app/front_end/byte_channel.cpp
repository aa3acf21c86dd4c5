// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/front_end/byte_channel.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace pf::headless {
namespace {

/// A client that leaves this much unread does not read.
constexpr std::size_t kMostQueued = std::size_t{64} << 20U;

}  // namespace

ByteChannel::ByteChannel(UniqueFd in, UniqueFd out, QObject* parent)
    : QObject(parent), m_in(std::move(in)), m_out(std::move(out)) {
  m_reader = std::make_unique<QSocketNotifier>(m_in.get(), QSocketNotifier::Read);
  m_writer = std::make_unique<QSocketNotifier>(m_out.get(), QSocketNotifier::Write);
  m_writer->setEnabled(false);
  connect(m_reader.get(), &QSocketNotifier::activated, this, &ByteChannel::readable);
  connect(m_writer.get(), &QSocketNotifier::activated, this, &ByteChannel::writable);
}

void ByteChannel::readable() {
  std::array<char, std::size_t{1} << 16U> buffer{};
  const ssize_t got = ::read(m_in.get(), buffer.data(), buffer.size());
  if (got > 0) {
    Q_EMIT received(QByteArray(buffer.data(), static_cast<qsizetype>(got)));
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    close();
  }
}

void ByteChannel::write(std::string_view bytes) {
  if (!m_deaf) {
    m_queue += bytes;
    writable();
  }
}

void ByteChannel::writable() {
  // A pipe or socket that poll() says is writable takes a page without blocking, whatever its
  // flags.
  constexpr std::size_t kPiece = 4096;
  std::size_t done = 0;
  pollfd room{m_out.get(), POLLOUT, 0};
  while (done < m_queue.size() && ::poll(&room, 1, 0) > 0) {
    const ssize_t put =
        ::write(m_out.get(), m_queue.data() + done, std::min(kPiece, m_queue.size() - done));
    if (put < 0 && errno != EINTR && errno != EAGAIN) {
      m_queue.clear();
      m_deaf = true;
      m_writer->setEnabled(false);
      close();
      return;
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
  m_queue.erase(0, done);
  m_writer->setEnabled(!m_queue.empty());
  if (m_queue.size() > kMostQueued) {
    m_deaf = true;
    close();
  }
}

void ByteChannel::drain(int milliseconds) {
  pollfd room{m_out.get(), POLLOUT, 0};
  while (!m_queue.empty() && ::poll(&room, 1, milliseconds) > 0) {
    writable();
  }
}

void ByteChannel::close() {
  if (!m_closed) {
    m_closed = true;
    m_reader->setEnabled(false);
    Q_EMIT closed();
  }
}

}  // namespace pf::headless

#include "moc_byte_channel.cpp"
