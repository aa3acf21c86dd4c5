// SPDX-License-Identifier: GPL-3.0-or-later
// Registers, memory, instructions and threads of the current rank, which has to be stopped, as rows of text.
#pragma once

#include <QObject>

#include "app/session/inspection/inspector.h"

namespace pf::session {

/// What can be looked at in the current rank, as rows of text.
enum class Look {
  Registers,     ///< name, value
  Memory,        ///< address, bytes, text
  Instructions,  ///< address, place in its function, instruction
  Threads,       ///< GDB's number, name, state, where it is
};

class MachineInspector : public QObject {
  Q_OBJECT
 public:
  MachineInspector(const SessionState& state, const Inspector& inspector)
      : m_state(state), m_inspector(inspector) {}

  // rowsArrived() follows
  void askRegisters();
  void askMemory(const QString& address);
  /// The function around `address`; empty: where the selected frame is.
  void askInstructions(const QString& address);
  void askThreads();

 Q_SIGNALS:
  /// `current`: row to mark, -1 none. Without rows, `problem` says why.
  void rowsArrived(pf::session::Look look, const QList<QStringList>& rows, int current,
                   const QString& problem);

 private:
  void tellProblem(Look look, const QString& text);
  /// The current rank's GDB; null, and it is told why, if nothing can be asked.
  [[nodiscard]] mi::GdbSession* gdbFor(Look look);
  void readMemory(const Result<std::string>& address);
  void showInstructions(const std::vector<mi::Instruction>& instructions, const QString& here);
  void showThreads(const std::vector<mi::ThreadInfo>& threads);

  const SessionState& m_state;
  const Inspector& m_inspector;
};

}  // namespace pf::session
