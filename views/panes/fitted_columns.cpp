// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/fitted_columns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QAbstractItemView>
#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>

namespace pf::views {

FittedColumns::FittedColumns(QAbstractItemView& view, QHeaderView& header,
                             std::vector<Elastic> elastic)
    : QObject(&view), m_view(view), m_header(header), m_elastic(std::move(elastic)) {
  m_view.viewport()->installEventFilter(this);
  connect(&m_header, &QHeaderView::sectionResized, this, [this](int column) {
    const bool byHand =
        !m_quiet && QGuiApplication::mouseButtons() != Qt::NoButton && m_header.underMouse();
    m_areTheUsers = m_areTheUsers || (byHand && !m_header.isSectionHidden(column));
  });
}

void FittedColumns::fit(const QList<int>& rare) {
  constexpr int kWidest = 300;
  m_rare = rare;
  m_wanted.clear();
  m_quiet = true;
  for (int column = 0; column < m_header.count(); ++column) {
    m_header.setSectionHidden(column, false);  // a hidden one has no size to ask for
  }
  m_quiet = false;
  for (int column = 0; column < m_header.count(); ++column) {
    const int hint = std::max(m_view.sizeHintForColumn(column), m_header.sectionSizeHint(column));
    m_wanted.push_back(std::min(hint, kWidest));
  }
  spread();
}

bool FittedColumns::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) {
    spread();
  }
  return QObject::eventFilter(watched, event);
}

int FittedColumns::leastOf(int column) const {
  const int wanted = m_wanted[static_cast<std::size_t>(column)];
  const auto elastic = std::ranges::find(m_elastic, column, &Elastic::column);
  return elastic == m_elastic.end() ? wanted : std::min(elastic->least, wanted);
}

int FittedColumns::floorOf(int column) const {
  constexpr int kFloor = 50;
  const bool gives = std::ranges::find(m_elastic, column, &Elastic::column) != m_elastic.end();
  return gives ? std::min(kFloor, leastOf(column)) : leastOf(column);
}

void FittedColumns::spread() {
  if (m_wanted.empty() || m_areTheUsers || m_quiet) {
    return;
  }
  const int room = m_view.viewport()->width();
  int least = 0;
  int wanted = 0;
  int floor = 0;
  const auto count = [&](int column, int sign) {
    least += sign * leastOf(column);
    wanted += sign * m_wanted[static_cast<std::size_t>(column)];
    floor += sign * floorOf(column);
  };
  for (int column = 0; column < m_header.count(); ++column) {
    count(column, 1);
  }
  QList<int> hidden;
  for (const int column : std::as_const(m_rare)) {
    if (least > room) {
      hidden.append(column);
      count(column, -1);
    }
  }
  // What is missing, shared by how much each can give.
  const double give = std::max(1, wanted - floor);
  const double part = std::clamp((wanted - room) / give, 0.0, 1.0);
  m_quiet = true;
  for (int column = 0; column < m_header.count(); ++column) {
    const int whole = m_wanted[static_cast<std::size_t>(column)];
    m_header.setSectionHidden(column, hidden.contains(column));
    m_header.resizeSection(column,
                           whole - static_cast<int>(std::ceil((whole - floorOf(column)) * part)));
  }
  m_quiet = false;
}

}  // namespace pf::views

#include "moc_fitted_columns.cpp"
