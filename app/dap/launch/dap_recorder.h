// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish record', which a launch of a program begins with.
#pragma once

#include <memory>

#include <QObject>
#include <QProcess>

#include "app/dap/wire/dap_client.h"

namespace pf::headless {

class Recorder : public QObject {
  Q_OBJECT
 public:
  explicit Recorder(DapClient& client) : m_client(client) {}

  /// `program`: what the trace is named after where the arguments name none.
  void record(const LaunchArguments& arguments, const std::string& program);
  void terminate();
  /// The same; one that does not end is killed.
  void end();
  [[nodiscard]] bool isRunning() const { return m_process != nullptr; }

  [[nodiscard]] const QString& trace() const { return m_trace; }
  /// Whether there is a trace that was not there before.
  [[nodiscard]] bool hasRecorded() const;
  /// Why there is none.
  [[nodiscard]] Error whyNot() const;

 Q_SIGNALS:
  void recorded(int status);

 private:
  void follow();
  void start(const LaunchArguments& arguments, const QString& directory);
  void finish(int status);

  DapClient& m_client;
  std::unique_ptr<QProcess> m_process;
  QByteArray m_said;
  QString m_trace;
  quint64 m_formerFile = 0;  ///< inode of what had the trace's name before; 0: nothing
};

}  // namespace pf::headless
