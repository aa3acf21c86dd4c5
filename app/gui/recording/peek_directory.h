// SPDX-License-Identifier: GPL-3.0-or-later
// A temporary directory for traces of what a recording has so far. It goes with this object, and
// also when the process is killed: a shell that waits for that removes it then.
#pragma once

#include <QProcess>
#include <QString>
#include <QTemporaryDir>

namespace pf::gui {

class PeekDirectory {
 public:
  PeekDirectory();
  ~PeekDirectory();
  PeekDirectory(const PeekDirectory&) = delete;
  PeekDirectory& operator=(const PeekDirectory&) = delete;

  /// A new directory below it, with the file's name: there is no file yet. Empty, and problem()
  /// says why, if it cannot be made.
  [[nodiscard]] QString newFile(const QString& name);
  /// Removes a file that newFile() has named, and what is beside it.
  static void remove(const QString& file);
  [[nodiscard]] bool holds(const QString& file) const;
  [[nodiscard]] QString problem() const;

 private:
  QTemporaryDir m_directory;
  QProcess m_guard;
  int m_number = 0;
};

}  // namespace pf::gui
