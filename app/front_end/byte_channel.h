// SPDX-License-Identifier: GPL-3.0-or-later
// The two ends of a connection to a client: file descriptors that are read when something is there
// and written when there is room, so that neither side can hold up the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <QObject>
#include <QSocketNotifier>

#include "replay_engine/base/unique_fd.h"

namespace pf::headless {

class ByteChannel : public QObject {
  Q_OBJECT
 public:
  /// `in` and `out` may be the same descriptor, duplicated.
  ByteChannel(UniqueFd in, UniqueFd out, QObject* parent = nullptr);

  void write(std::string_view bytes);
  /// Tries for `milliseconds` to write what is left.
  void drain(int milliseconds);

 Q_SIGNALS:
  void received(const QByteArray& bytes);
  void closed();  ///< end of input, or the client is gone or does not read; once

 private:
  void readable();
  void writable();
  void close();

  UniqueFd m_in;
  UniqueFd m_out;
  std::unique_ptr<QSocketNotifier> m_reader;
  std::unique_ptr<QSocketNotifier> m_writer;
  std::string m_queue;
  bool m_closed = false;  ///< said so
  bool m_deaf = false;    ///< nobody reads what we write
};

}  // namespace pf::headless
