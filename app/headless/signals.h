// SIGTERM, SIGINT and SIGHUP as a Qt signal, so that what runs is ended in order.
#pragma once

#include <memory>

#include <QObject>
#include <QSocketNotifier>

#include "base/unique_fd.h"

namespace pf::headless {

/// One at a time.
class EndSignals : public QObject {
  Q_OBJECT
 public:
  explicit EndSignals(QObject* parent = nullptr);
  ~EndSignals() override;

 Q_SIGNALS:
  void received(int signal);

 private:
  UniqueFd m_read;
  UniqueFd m_write;
  std::unique_ptr<QSocketNotifier> m_notifier;
};

}  // namespace pf::headless
