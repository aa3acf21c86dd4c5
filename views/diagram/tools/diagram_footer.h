// SPDX-License-Identifier: GPL-3.0-or-later
// The line below the space-time diagram: what is selected, and how much is shown, in which way.
#pragma once

#include <QWidget>

#include "views/trace/trace_index.h"

class QLabel;

namespace pf::views {

class SpaceTimeCanvas;

class DiagramFooter : public QWidget {
  Q_OBJECT
 public:
  explicit DiagramFooter(QWidget* parent = nullptr);
  /// `axisComes`: the physical axis is being worked out.
  void refresh(SpaceTimeCanvas& canvas, bool axisComes);

 private:
  [[nodiscard]] QString selectionText(const TraceIndex& trace, EventRef event,
                                      int alternative) const;
  [[nodiscard]] QString axisText(const TraceIndex& trace, bool axisComes) const;
  [[nodiscard]] QString ranksText(SpaceTimeCanvas& canvas) const;
  [[nodiscard]] QString regimeText(SpaceTimeCanvas& canvas) const;

  QLabel* m_info;
  QLabel* m_regime;
};

}  // namespace pf::views
