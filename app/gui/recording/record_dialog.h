// SPDX-License-Identifier: GPL-3.0-or-later
// What is to be recorded, asked of the user.
#pragma once

#include <optional>

#include <QString>
#include <QStringList>

class QWidget;

namespace pf::gui {

struct RecordRequest {
  QString command;  ///< as typed in a shell
  QString directory;
  QString input;  ///< a file for the launcher's standard input, as seen from there; none if empty
  bool follow = false;  ///< it is shown while it runs
  int runs = 1;         ///< more: again and again, until one fails
  QString check =
      {};  ///< of several: a command of the shell that says of what a run printed whether it is wrong
  int jitter =
      0;  ///< seed of delays; 0: none, and of several runs native timing and delays in turn
  QStringList options = {};  ///< more of `record`'s
  bool compares = true;      ///< of several: the one that failed, once it is found, with a good one
};

/// Nothing: the user does not want to. What was asked for last is proposed.
[[nodiscard]] std::optional<RecordRequest> askRecordRequest(QWidget& window);
/// To be proposed next; not whether it is followed.
void proposeRecordRequest(const RecordRequest& request);
/// Whether the next one is proposed to be followed.
void proposeFollowing(bool follow);

}  // namespace pf::gui
