// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/status_line.h"

#include <QLabel>
#include <QMainWindow>
#include <QStatusBar>

#include "app/session/debug_session.h"
#include "views/panes/session_views.h"
#include "views/values/text.h"

namespace pf::gui {

StatusLine::StatusLine(QMainWindow& window)
    : QObject(&window),
      m_window(window),
      m_text(new QLabel),
      m_mode(new QLabel),
      m_progress(new views::ProgressStrip),
      m_recording(new views::ProgressStrip) {
  m_text->setTextFormat(Qt::PlainText);
  m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_mode->setTextFormat(Qt::PlainText);
  // As high as anything beside it: a bar that grows shows it below a tip that has hidden it.
  m_text->setMinimumHeight(m_progress->sizeHint().height());
  QStatusBar* bar = window.statusBar();
  bar->addWidget(m_text, 2);
  // They leave half of the bar to what is said.
  bar->addPermanentWidget(m_recording, 1);
  bar->addPermanentWidget(m_progress, 1);
  bar->addPermanentWidget(m_mode);
}

void StatusLine::say(const QString& text, bool problem) {
  QString line = text;
  line.replace(QLatin1Char('\n'), QLatin1Char(' '));
  if (problem) {
    m_window.statusBar()->clearMessage();  // a tip of what the mouse is over
  }
  m_text->setText(line.simplified());
  m_text->setToolTip(text.toHtmlEscaped());
  QPalette colours = m_window.palette();
  if (problem) {
    colours.setColor(QPalette::WindowText, QColor(0xD5, 0x5E, 0x00));
  }
  m_text->setPalette(colours);
}

QString StatusLine::text() const {
  return m_text->text();
}

void StatusLine::showMode(session::DebugSession& session) {
  using session::Source;
  m_mode->setToolTip({});
  if (!session.isOpen()) {
    m_mode->clear();
  } else if (session.source() == Source::Cores) {
    m_mode->setText(tr(" core files "));
  } else if (session.source() == Source::Job) {
    m_mode->setText(session.isReplaying() ? tr(" attached, no replay ") : tr(" let go "));
  } else if (session.isReplaying()) {
    const QString text = session.inspector().isAltered() ? tr(" replay%2, cycle %1, altered ")
                                                         : tr(" replay%2, cycle %1 ");
    const std::vector<Rank>& part = session.part();
    const QString ranks = values::rankSetText(QList<int>(part.begin(), part.end()));
    const std::size_t snapshots = session.snapshots().serials.size();
    m_mode->setToolTip(values::plainToolTip(session.snapshotsText()));
    m_mode->setText(
        text.arg(session.cycles().none() ? 0 : session.cycles().last().number)
            .arg(part.empty()
                     ? QString()
                     : (part.size() == 1 ? tr(" of rank %1") : tr(" of ranks %1")).arg(ranks)) +
        (snapshots == 0
             ? QString()
             : tr("· %1 ").arg(values::counted(snapshots, tr("snapshot"), tr("snapshots")))));
  } else {
    m_mode->setText(tr(" recording "));
  }
}

}  // namespace pf::gui

#include "moc_status_line.cpp"
