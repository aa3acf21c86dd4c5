// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/order_actions.h"

#include <signal.h>

#include <QAction>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "app/branching/flip.h"
#include "app/gui/commands/command.h"
#include "app/gui/panes/shown_trace.h"
#include "app/gui/panes/status_line.h"
#include "app/job/job.h"
#include "db/store/former_file.h"
#include "views/panes/race_list_view.h"
#include "views/panes/session_views.h"

namespace pf::gui {
namespace {

QString eventWords(const EventRef& event) {
  return QStringLiteral("%1:%2").arg(event.rank).arg(event.serial);
}

/// A name that nothing has.
QString freeFlipName(const QString& trace) {
  const std::string name = app::flipName(trace.toStdString());
  return QString::fromStdString(
      QFileInfo::exists(QString::fromStdString(name)) ? db::freeNumberedName(name) : name);
}

}  // namespace

OrderActions::OrderActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                           StatusLine& status)
    : QObject(&window),
      m_window(window),
      m_shown(shown),
      m_status(status),
      m_blame(makeCommand(
          window, tr("What is to &blame?"),
          tr("Runs the program again, in other orders, until it is known which delivery decides "
             "between failing and not"),
          {}, {}, [this] { blame(); })) {
  connect(views.races, &views::RaceListView::takeInsteadRequested, this, &OrderActions::flip);
}

OrderActions::~OrderActions() {
  if (m_process != nullptr) {
    m_process->disconnect(this);
    m_process->terminate();
    m_process->waitForFinished(5000);
  }
}

bool OrderActions::start(const QStringList& words, const QString& progress) {
  if (m_process != nullptr) {
    m_status.say(tr("Another order is being run: wait for it, or end it."), true);
    return false;
  }
  if (m_shown.path().isEmpty()) {
    m_status.say(tr("Open a recorded run first."), true);
    return false;
  }
  m_process = new QProcess(this);
  m_process->setStandardInputFile(QProcess::nullDevice());
  m_status.progress().start(progress, true);
  connect(&m_status.progress(), &views::ProgressStrip::cancelRequested, m_process,
          [this] { ::kill(static_cast<pid_t>(m_process->processId()), SIGINT); });
  m_process->start(QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
                   words);
  return true;
}

/// What it said last on standard error, without our name in front.
QString OrderActions::lastWords() {
  constexpr qsizetype kLines = 2;
  QStringList lines = QString::fromUtf8(m_process->readAllStandardError())
                          .split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  for (QString& line : lines) {
    line.remove(QStringLiteral("photofinish: "));
    line = line.trimmed();
  }
  return lines.mid(std::max<qsizetype>(0, lines.size() - kLines)).join(QLatin1Char(' '));
}

void OrderActions::flip(const EventRef& receive, const EventRef& send) {
  const QString trace = freeFlipName(m_shown.path());
  if (!start({QStringLiteral("flip"), m_shown.path(), QStringLiteral("-o"), trace,
              eventWords(receive) + QLatin1Char('=') + eventWords(send)},
             tr("Running it with the other message …"))) {
    return;
  }
  connect(m_process, &QProcess::finished, this, [this, trace] { endedFlip(trace); });
}

void OrderActions::endedFlip(const QString& trace) {
  m_status.progress().finish();
  const bool made = QFileInfo::exists(trace);
  m_status.say(lastWords(), !made);
  m_process->deleteLater();
  m_process = nullptr;
  Q_EMIT flipped(made ? trace : QString());
}

void OrderActions::blame() {
  if (start({QStringLiteral("blame"), QStringLiteral("--json"), m_shown.path()},
            tr("Looking for the delivery that is to blame …"))) {
    connect(m_process, &QProcess::finished, this, &OrderActions::endedBlame);
  }
}

void OrderActions::endedBlame() {
  m_status.progress().finish();
  const QJsonObject found = QJsonDocument::fromJson(m_process->readAllStandardOutput()).object();
  const QJsonObject receive = found.value(QStringLiteral("deliveries"))
                                  .toArray()
                                  .first()
                                  .toObject()
                                  .value(QStringLiteral("receive"))
                                  .toObject();
  const QString sentence = found.value(QStringLiteral("sentence")).toString();
  const EventRef event{receive.value(QStringLiteral("rank")).toInt(-1),
                       static_cast<Serial>(receive.value(QStringLiteral("event")).toInteger())};
  m_status.say(sentence.isEmpty() ? lastWords() : sentence, sentence.isEmpty());
  m_process->deleteLater();
  m_process = nullptr;
  Q_EMIT blamed(sentence, event, found.value(QStringLiteral("good")).toString());
}

}  // namespace pf::gui
