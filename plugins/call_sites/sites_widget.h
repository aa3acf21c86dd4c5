// SPDX-License-Identifier: MIT
// The widget of the call sites: a table and a filter. Enter selects the first call made there,
// Enter again the next one.
#pragma once

#include "plugins/call_sites/call_sites.h"
#include "views/trace/chunks/background.h"

class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace pf::plugins {

class SitesWidget : public ViewWidget {
  Q_OBJECT
 public:
  explicit SitesWidget(QWidget* parent = nullptr);
  void setTrace(const views::TraceIndexPtr& trace) override;
  void renewTrace(const views::TraceIndexPtr& trace) override;
  void setSelectedEvent(const EventRef& event) override;
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QLineEdit* filter() const { return m_filter; }
  [[nodiscard]] SitesModel* model() const { return m_model; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void activate(const QModelIndex& index);
  void count();

  views::TraceIndexPtr m_trace;
  bool m_stale = false;  ///< the table is not of m_trace yet: nobody has looked
  EventRef m_selected;
  QLineEdit* m_filter;
  SitesModel* m_model;
  QSortFilterProxyModel* m_proxy;
  QTableView* m_table;
  views::Background<std::vector<SiteUse>> m_counting;
  views::Background<EventRef> m_finding;
};

}  // namespace pf::plugins
