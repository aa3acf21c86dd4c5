// SPDX-License-Identifier: GPL-3.0-or-later
// Search over the events of a trace: a query, how many events it finds, and a way from hit to hit.
// Data in: setTrace(), setCurrent(). Out: hitsChanged, hitSelected.
#pragma once

#include <stop_token>
#include <vector>

#include <QTimer>
#include <QWidget>

#include "views/trace/analyses/event_search.h"
#include "views/trace/chunks/background.h"

class QAction;
class QLabel;
class QMenu;
class QLineEdit;

namespace pf::views {

class SearchBar : public QWidget {
  Q_OBJECT
 public:
  explicit SearchBar(QWidget* parent = nullptr);
  ~SearchBar() override;
  Q_DISABLE_COPY_MOVE(SearchBar)
  void setTrace(TraceIndexPtr trace);
  /// A newer version of the same run: searches it for the same; until that is done, what was found stays.
  void renewTrace(const TraceIndexPtr& trace);
  /// The event that next and previous start from.
  void setCurrent(EventRef event);
  [[nodiscard]] QLineEdit* edit() const { return m_edit; }
  [[nodiscard]] QAction* findAction() const { return m_find; }
  [[nodiscard]] QAction* nextAction() const { return m_next; }
  [[nodiscard]] QAction* previousAction() const { return m_previous; }
  /// Checked: of what is not found only a shadow is wanted.
  [[nodiscard]] QAction* onlyAction() const { return m_only; }
  [[nodiscard]] const std::vector<EventRef>& hits() const { return m_found->hits; }
  [[nodiscard]] QString countText() const;
  /// Searches what is typed: now, or of many events beside the window, which says so meanwhile.
  void search();
  /// Nothing is searched beside the window.
  [[nodiscard]] bool isDone() const { return !m_away.isBusy(); }

 Q_SIGNALS:
  void hitsChanged(const pf::views::EventSearchPtr& found);
  void hitSelected(const pf::EventRef& event);
  void left();  ///< Escape: the query is gone, the focus is no longer wanted

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void go(int step);
  void fillProposals();
  void updateCount();
  void show(EventSearch found);
  void searchAway();
  void forgetAway();

  TraceIndexPtr m_trace;
  EventRef m_current;
  EventSearchPtr m_found;  ///< never null
  QTimer m_pause;          ///< until the typing rests
  Background<EventSearch> m_away;
  std::stop_source m_stop;  ///< of what runs there
  int m_goes = 0;           ///< where to, from hit to hit, once there are some
  QLineEdit* m_edit;
  QMenu* m_proposals;
  QLabel* m_count;
  QAction* m_find;
  QAction* m_next;
  QAction* m_previous;
  QAction* m_only;
};

}  // namespace pf::views
