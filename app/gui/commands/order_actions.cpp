// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/order_actions.h"

#include <QAction>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "app/gui/commands/command.h"
#include "app/gui/panes/shown_trace.h"
#include "app/gui/panes/status_line.h"
#include "views/panes/race_list_view.h"
#include "views/panes/session_views.h"

namespace pf::gui {

OrderActions::OrderActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                           StatusLine& status)
    : QObject(&window),
      m_shown(shown),
      m_status(status),
      m_blame(makeCommand(
          window, tr("What is to &blame?"),
          tr("Runs the program again, in other orders, until it is known which delivery decides "
             "between failing and not"),
          {}, {}, [this] { blame(); })) {
  connect(views.races, &views::RaceListView::takeInsteadRequested, this, &OrderActions::flip);
  connect(&m_order, &session::OtherOrder::flipped, this, &OrderActions::endFlip);
  connect(&m_order, &session::OtherOrder::blamed, this, &OrderActions::endBlame);
}

bool OrderActions::canBegin() {
  if (m_order.isRunning()) {
    m_status.say(tr("Another order is being run: wait for it, or end it."), true);
    return false;
  }
  if (m_shown.path().isEmpty()) {
    m_status.say(tr("Open a recorded run first."), true);
    return false;
  }
  return true;
}

void OrderActions::begin(const QString& progress) {
  m_status.progress().start(progress, true);
  connect(&m_status.progress(), &views::ProgressStrip::cancelRequested, &m_order,
          &session::OtherOrder::interrupt, Qt::UniqueConnection);
}

void OrderActions::flip(const EventRef& receive, const EventRef& send) {
  if (canBegin()) {
    begin(tr("Running it with the other message …"));
    m_order.flip(m_shown.path(), session::eventWords(receive.rank, receive.serial) +
                                     QLatin1Char('=') +
                                     session::eventWords(send.rank, send.serial));
  }
}

void OrderActions::endFlip(const QString& trace, const QStringList& said) {
  m_status.progress().finish();
  m_status.say(said.join(QLatin1Char(' ')), trace.isEmpty());
  Q_EMIT flipped(trace);
}

void OrderActions::blame() {
  if (canBegin()) {
    begin(tr("Looking for the delivery that is to blame …"));
    m_order.blame(m_shown.path());
  }
}

void OrderActions::endBlame(const QByteArray& document, const QStringList& said) {
  m_status.progress().finish();
  const QJsonObject found = QJsonDocument::fromJson(document).object();
  const QJsonObject receive = found.value(QStringLiteral("deliveries"))
                                  .toArray()
                                  .first()
                                  .toObject()
                                  .value(QStringLiteral("receive"))
                                  .toObject();
  const QString sentence = found.value(QStringLiteral("sentence")).toString();
  const EventRef event{receive.value(QStringLiteral("rank")).toInt(-1),
                       static_cast<Serial>(receive.value(QStringLiteral("event")).toInteger())};
  m_status.say(sentence.isEmpty() ? said.join(QLatin1Char(' ')) : sentence, sentence.isEmpty());
  Q_EMIT blamed(sentence, event, found.value(QStringLiteral("good")).toString());
}

}  // namespace pf::gui

#include "moc_order_actions.cpp"
