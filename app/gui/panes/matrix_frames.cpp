// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/matrix_frames.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "app/reports/groups_report.h"
#include "app/session/framed_groups.h"
#include "replay_engine/base/caught.h"

namespace pf::gui {
namespace {

plugins::MatrixGroups shownGroups(const Result<session::FramedGroups>& groups) {
  return groups ? plugins::MatrixGroups{groups->groups, groups->text}
                : plugins::MatrixGroups{{}, QString::fromStdString(groups.error().text())};
}

}  // namespace

MatrixFrames::MatrixFrames(plugins::MatrixWidget& widget) : QObject(&widget), m_widget(widget) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  m_widget.setMost(static_cast<int>(std::min(app::usualMost(), kMost)));
  connect(&m_widget, &plugins::MatrixWidget::groupsWanted, this, &MatrixFrames::find);
}

void MatrixFrames::setTrace(const QString& path) {
  m_path = path;
  m_finding.forget();
  m_reading.forget();
  if (path.isEmpty()) {
    return;
  }
  m_reading.run(
      [path = path.toStdString()] {
        return shownGroups(caught([&path] { return session::recordedGroups(path); }));
      },
      [this](const plugins::MatrixGroups& groups) { m_widget.setRecordedGroups(groups); });
}

void MatrixFrames::setRankCommands(plugins::MatrixRankCommands add) {
  m_widget.setRankCommands(std::move(add));
}

void MatrixFrames::find(int most) {
  if (m_path.isEmpty()) {
    m_widget.setFoundGroups({{}, tr("Groups are found in recordings only.")});
    return;
  }
  m_finding.run(
      [path = m_path.toStdString(), most] {
        return shownGroups(caught([&path, most] {
          return session::groupsByTraffic(path, static_cast<std::size_t>(most));
        }));
      },
      [this](const plugins::MatrixGroups& groups) { m_widget.setFoundGroups(groups); });
}

}  // namespace pf::gui

#include "moc_matrix_frames.cpp"
