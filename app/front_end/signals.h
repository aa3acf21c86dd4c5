// SPDX-License-Identifier: GPL-3.0-or-later
// Signals of the process as Qt signals, so that what runs is ended in order, and may be asked for
// something.
#pragma once

#include <memory>

#include <QObject>
#include <QSocketNotifier>

#include "replay_engine/base/unique_fd.h"

namespace pf::headless {

/// One at a time.
class EndSignals : public QObject {
  Q_OBJECT
 public:
  explicit EndSignals(QObject* parent = nullptr);
  ~EndSignals() override;
  Q_DISABLE_COPY_MOVE(EndSignals)

 Q_SIGNALS:
  void received(int signal);  ///< SIGTERM, SIGINT or SIGHUP
  void asked();               ///< by SIGUSR1

 private:
  UniqueFd m_read;
  UniqueFd m_write;
  std::unique_ptr<QSocketNotifier> m_notifier;
};

}  // namespace pf::headless
