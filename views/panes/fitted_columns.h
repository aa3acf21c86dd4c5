// SPDX-License-Identifier: GPL-3.0-or-later
// Columns that fit into their view: where it is narrow, columns of text are narrower and elide, and rarer columns are hidden until
// there is room for them.
#pragma once

#include <vector>

#include <QList>
#include <QObject>

class QAbstractItemView;
class QHeaderView;

namespace pf::views {

class FittedColumns : public QObject {
  Q_OBJECT
 public:
  struct Elastic {
    int column;
    int least;  ///< pixels; rarer columns are hidden before it is less
  };
  FittedColumns(QAbstractItemView& view, QHeaderView& header, std::vector<Elastic> elastic);

  /// What is shown is another; `rare` are hidden in this order. Widths that the user has given stay.
  void fit(const QList<int>& rare);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] int leastOf(int column) const;
  /// It is not narrower in any case.
  [[nodiscard]] int floorOf(int column) const;
  void spread();

  QAbstractItemView& m_view;
  QHeaderView& m_header;
  std::vector<Elastic> m_elastic;
  QList<int> m_rare;
  std::vector<int> m_wanted;  ///< by column; empty: nothing was shown yet
  bool m_quiet = false;
  bool m_areTheUsers = false;
};

}  // namespace pf::views
