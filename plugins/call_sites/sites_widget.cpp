// SPDX-License-Identifier: MIT
#include "plugins/call_sites/sites_widget.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/item_views.h"
#include "views/values/roles.h"

namespace pf::plugins {

using Qt::Literals::StringLiterals::operator""_s;

const PhotofinishPlugin* callSitesPlugin() {
  return bundledPane<kCallSites, SitesWidget>();
}

SitesWidget::SitesWidget(QWidget* parent)
    : ViewWidget(parent),
      m_filter(new QLineEdit),
      m_model(new SitesModel(this)),
      m_proxy(new QSortFilterProxyModel(this)),
      m_table(new QTableView) {
  setObjectName(u"callSites"_s);
  m_filter->setPlaceholderText(tr("Filter: file, function or call"));
  m_filter->setClearButtonEnabled(true);
  m_proxy->setSourceModel(m_model);
  m_proxy->setSortRole(values::SortRole);
  m_proxy->setFilterKeyColumn(-1);
  m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_table->setModel(m_proxy);
  views::setUpTable(*m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(SitesModel::CallsColumn, Qt::DescendingOrder);
  m_table->setColumnWidth(SitesModel::PlaceColumn, 170);
  m_table->setColumnWidth(SitesModel::FunctionColumn, 150);
  m_table->setColumnWidth(SitesModel::CallColumn, 140);
  for (int column = SitesModel::CallsColumn; column < SitesModel::ColumnCount; ++column) {
    m_table->setColumnWidth(column, 90);
  }
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 4, 6, 0);
  top->addWidget(m_filter);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addLayout(top);
  layout->addWidget(m_table, 1);
  connect(m_filter, &QLineEdit::textChanged, m_proxy, &QSortFilterProxyModel::setFilterFixedString);
  connect(m_table, &QTableView::activated, this, &SitesWidget::activate);
}

void SitesWidget::setTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_selected = {};
  m_finding.forget();
  m_stale = !isVisible();
  count();
}

void SitesWidget::renewTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_finding.forget();
  m_counting.forget();
  m_stale = !isVisible();
  if (m_stale) {
    return;
  }
  const auto show = [this, trace](std::vector<SiteUse> uses) {
    const QModelIndex current = m_proxy->mapToSource(m_table->currentIndex());
    const EventRef first = current.isValid()
                               ? m_model->uses()[static_cast<std::size_t>(current.row())].first
                               : EventRef{};
    m_model->setTrace(trace, std::move(uses));
    for (std::size_t row = 0; first.valid() && row < m_model->uses().size(); ++row) {
      if (m_model->uses()[row].first == first) {
        m_table->setCurrentIndex(m_proxy->mapFromSource(m_model->index(static_cast<int>(row), 0)));
      }
    }
  };
  if (trace->eventCount() > views::kFewEvents) {  // until they are counted, the former ones stay
    m_counting.run([trace] { return siteUses(*trace); }, show);
  } else {
    show(siteUses(*trace));
  }
}

/// Big traces are counted on another thread, none while nobody looks.
void SitesWidget::count() {
  m_counting.forget();
  const bool now = m_trace && !m_stale && m_trace->eventCount() <= views::kFewEvents;
  m_model->setTrace(now ? m_trace : nullptr, now ? siteUses(*m_trace) : std::vector<SiteUse>());
  const bool later = m_trace && !m_stale && !now;
  m_filter->setPlaceholderText(later ? tr("Counting calls …")
                                     : tr("Filter: file, function or call"));
  if (later) {
    m_counting.run([trace = m_trace] { return siteUses(*trace); },
                   [this, trace = m_trace](std::vector<SiteUse> uses) {
                     m_model->setTrace(trace, std::move(uses));
                     m_filter->setPlaceholderText(tr("Filter: file, function or call"));
                   });
  }
}

void SitesWidget::showEvent(QShowEvent* event) {
  ViewWidget::showEvent(event);
  if (std::exchange(m_stale, false)) {
    count();
  }
}

void SitesWidget::setSelectedEvent(const EventRef& event) {
  m_selected = event;
}

void SitesWidget::activate(const QModelIndex& index) {
  const SiteUse& use = m_model->uses()[static_cast<std::size_t>(m_proxy->mapToSource(index).row())];
  EventRef from;
  if (m_trace->contains(m_selected)) {
    const Event& selected = m_trace->event(m_selected);
    from = selected.site == use.site && selected.call == use.call ? m_selected : EventRef{};
  }
  const auto found = [this](EventRef next) {
    m_selected = next;
    Q_EMIT eventSelected(next);
  };
  if (m_trace->pages() == nullptr) {
    found(nextUse(*m_trace, use, from));
  } else {  // it may be far away
    m_finding.run([trace = m_trace, use, from] { return nextUse(*trace, use, from); }, found);
  }
}

}  // namespace pf::plugins

#include "moc_sites_widget.cpp"
