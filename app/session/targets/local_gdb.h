// SPDX-License-Identifier: GPL-3.0-or-later
// A GDB that is a child of this process: for ranks that no agent of ours has started.
#pragma once

#include <string_view>

#include <QObject>
#include <QProcess>

namespace pf::session {

class LocalGdb : public QObject {
  Q_OBJECT
 public:
  explicit LocalGdb(QObject* parent = nullptr);
  /// Asks GDB to end, which lets go of its process; nobody waits for it here (EndOfLocalGdbs).
  ~LocalGdb() override;
  Q_DISABLE_COPY_MOVE(LocalGdb)

  void start();
  void interrupt();
  void terminate();
  void send(std::string_view bytes);  ///< to GDB

 Q_SIGNALS:
  void said(const QByteArray& bytes);
  void ended(const QString& reason);

 private:
  QProcess* m_process;
};

/// For main(), from before the first LocalGdb to after the last: waits for GDBs that were asked to end, some seconds
/// at most. One whose parent dies meanwhile gets a signal, and may leave its process half let go of.
class EndOfLocalGdbs {
 public:
  EndOfLocalGdbs() = default;
  ~EndOfLocalGdbs();
  EndOfLocalGdbs(const EndOfLocalGdbs&) = delete;
  EndOfLocalGdbs& operator=(const EndOfLocalGdbs&) = delete;
};

}  // namespace pf::session
