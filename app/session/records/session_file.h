// SPDX-License-Identifier: GPL-3.0-or-later
// A saved debugging session (NAME.pfs, JSON): what is debugged, what was set, and how the window looked.
#pragma once

#include <optional>
#include <string>

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

#include "replay_engine/base/result.h"
#include "views/values/debug_values.h"
#include "views/values/rank_groups.h"

namespace pf::session {

struct SessionFile {
  QString trace;        ///< absolute; may not be there any more
  QStringList command;  ///< launcher and program: how to record it again
  QString directory;    ///< for the command
  QString input;        ///< a file for its standard input, as seen from there; empty: none
  QList<values::Breakpoint> breakpoints;
  QStringList watches;
  QList<values::RankGroup> groups;
  QList<int> focus;
  int currentRank = 0;
  std::optional<QList<int>>
      part;  ///< ranks that are debugged without the others; empty: all are. Nothing: it does not say
  QString expression;   ///< of Values across ranks
  QString ranksShown;   ///< of the diagram, as views::arrangementText()
  QByteArray geometry;  ///< of the window
  QString workspace;    ///< of the window, by its name; empty: it does not say
  QByteArray layout;    ///< of that workspace
};

/// The trace is named relative to the file where it lies below its directory, so that both can be moved together.
[[nodiscard]] Status writeSessionFile(const QString& path, const SessionFile& session);
/// Fails with a sentence for files that are none, or of a later version, and if any part of it is not
/// what it has to be. Nothing of it is run, opened or looked for.
[[nodiscard]] Result<SessionFile> readSessionFile(const QString& path);

/// The words as one line, from which QProcess::splitCommand makes the same words (it has no way to write an empty one).
[[nodiscard]] QString commandText(const QStringList& words);

/// What recording again would run, as words that the user knows or does not (app/traces/own_traces.h).
[[nodiscard]] std::string recordWords(const SessionFile& session);

/// A new one for a trace: BASE.pfs beside it.
[[nodiscard]] QString sessionFileFor(const QString& trace);

}  // namespace pf::session
