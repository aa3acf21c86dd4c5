// SPDX-License-Identifier: GPL-3.0-or-later
// Other orders of the run that is shown: a race the other way round, and which delivery is to blame. By the command line's
// `flip` and `blame`, one at a time.
#pragma once

#include <QObject>

#include "app/gui/panes/window_views.h"
#include "app/session/other_order.h"
#include "replay_engine/execution/execution.h"

class QAction;

namespace pf::gui {

class ShownTrace;
class StatusLine;

class OrderActions : public QObject {
  Q_OBJECT
 public:
  OrderActions(QWidget& window, const WindowViews& views, ShownTrace& shown, StatusLine& status);

  /// "What is to blame?"
  [[nodiscard]] QAction* blameAction() const { return m_blame; }
  /// The receive (its post) takes what `send` sends: flipped() follows.
  void flip(const EventRef& receive, const EventRef& send);
  /// blamed() follows.
  void blame();

 Q_SIGNALS:
  /// The trace of the new run; empty: there is none, and why was said.
  void flipped(const QString& trace);
  /// The sentence, the first receive that it names, and a run that ends well; an empty sentence: none was found, and why was said.
  void blamed(const QString& sentence, const pf::EventRef& receive, const QString& good);

 private:
  /// False: another one is being run, or no run is shown, which was said.
  bool canBegin();
  void begin(const QString& progress);
  void endFlip(const QString& trace, const QStringList& said);
  void endBlame(const QByteArray& document, const QStringList& said);

  ShownTrace& m_shown;
  StatusLine& m_status;
  QAction* m_blame;
  session::OtherOrder m_order;
};

}  // namespace pf::gui
