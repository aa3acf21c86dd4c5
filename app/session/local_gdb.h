// A GDB that is a child of this process: for ranks that no agent of ours has started.
#pragma once

#include <functional>
#include <memory>

#include <QObject>
#include <QProcess>

#include "mi_bridge/transport.h"

namespace pf::session {

class LocalGdb : public QObject {
  Q_OBJECT
 public:
  explicit LocalGdb(QObject* parent = nullptr);
  /// Asks GDB to end, which lets go of its process.
  ~LocalGdb() override;

  void start();
  void interrupt();
  void terminate();
  [[nodiscard]] std::unique_ptr<mi::Transport> transport();

 Q_SIGNALS:
  void said(const QByteArray& bytes);
  void ended(const QString& reason);

 private:
  QProcess* m_process;
};

}  // namespace pf::session
