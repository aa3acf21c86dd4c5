// SPDX-License-Identifier: GPL-3.0-or-later
// What front ends without a window need of a session: the ranks' GDBs themselves, stops that are
// none for the user, and transcripts.
#include <algorithm>

#include <QDir>
#include <QFileInfo>

#include "app/session/debug_session.h"

namespace pf::session {

int DebugSession::breakpointAt(int rank) {
  mi::GdbSession* gdb = debugger(rank);
  return gdb != nullptr && gdb->stop().reason == mi::StopReason::Breakpoint
             ? breakpointOf(rank, gdb->stop())
             : 0;
}

void DebugSession::keepTranscript(int rank, mi::GdbSession& gdb) {
  if (m_transcripts.isEmpty()) {
    return;
  }
  // Core files and running jobs have a title, no path.
  const QString of = m_state.path.isEmpty()
                         ? QString(m_state.trace->title).replace(QLatin1Char(' '), QLatin1Char('-'))
                         : QFileInfo(m_state.path).completeBaseName();
  const QString name = QDir(m_transcripts)
                           .filePath(QStringLiteral("%1-cycle-%2-rank-%3")
                                         .arg(of)
                                         .arg(m_cycles.isEmpty() ? 0 : m_cycles.last().number)
                                         .arg(rank));
  QString path = name + QStringLiteral(".transcript");
  const auto taken = [&path] { return QFileInfo::exists(path) || QFileInfo(path).isSymLink(); };
  for (int i = 2; taken(); ++i) {
    path = QStringLiteral("%1-%2.transcript").arg(name).arg(i);
  }
  auto file = mi::TranscriptFile::create(path.toStdString(), "rank " + std::to_string(rank));
  if (!file) {
    Q_EMIT message(QString::fromStdString(file.error().text()), true);
    return;
  }
  gdb.setTranscript(
      [file = *file](mi::TranscriptSide side, std::string_view line) { file->write(side, line); });
}

void DebugSession::goOn(int rank) {
  if (mi::GdbSession* gdb = debugger(rank);
      gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    gdb->run({}, [](const Status&) {});
  }
}

}  // namespace pf::session
