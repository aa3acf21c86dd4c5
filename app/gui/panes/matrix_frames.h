// SPDX-License-Identifier: GPL-3.0-or-later
// Gives the pane Communication matrix the groups that it frames: those of the trace, and those that it asks to be found.
// Both are read on other threads.
#pragma once

#include <functional>

#include <QList>
#include <QObject>
#include <QString>

#include "plugins/comm_matrix/matrix_widget.h"

namespace pf::gui {

class MatrixFrames : public QObject {
  Q_OBJECT
 public:
  explicit MatrixFrames(plugins::MatrixWidget& widget);

  /// Behind the widget's setTrace(). `path` empty: what is shown has no trace.
  void setTrace(const QString& path);
  /// A newer version of the same run.
  void renew(const QString& path) { m_path = path; }
  void setRankCommands(plugins::MatrixRankCommands add);

 private:
  void find(int most);

  plugins::MatrixWidget& m_widget;
  QString m_path;
  views::Background<plugins::MatrixGroups> m_reading;
  views::Background<plugins::MatrixGroups> m_finding;
};

}  // namespace pf::gui
