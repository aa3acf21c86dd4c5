// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/failure_banner.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QToolButton>

#include "app/session/state/in_background.h"
#include "replay_engine/races/race_weight.h"
#include "views/models/race_list_model.h"
#include "views/panes/icons.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

QToolButton* makeButton(const QString& name, const QString& text, const QString& tip) {
  auto* const button = new QToolButton;
  button->setObjectName(name);
  button->setText(text);
  button->setToolTip(tip);
  button->setToolButtonStyle(Qt::ToolButtonTextOnly);
  return button;
}

/// The window's own background with some red in it, in light and in dark.
QColor tinted(const QColor& own) {
  constexpr int kRedOfEight = 1;
  const QColor red(0xe0, 0x1b, 0x24);
  const auto mixed = [](int a, int b) { return (a * (8 - kRedOfEight) + b * kRedOfEight) / 8; };
  return {mixed(own.red(), red.red()), mixed(own.green(), red.green()),
          mixed(own.blue(), red.blue())};
}

int firstOf(const views::TraceIndex& trace) {
  const std::vector<std::uint8_t> severity = views::rateRaces(trace);
  const auto first = std::ranges::find(severity, static_cast<std::uint8_t>(RaceWeight::First));
  return first == severity.end() ? -1 : static_cast<int>(first - severity.begin());
}

}  // namespace

FailureBanner::FailureBanner(QWidget* parent)
    : QFrame(parent),
      m_rows(new QBoxLayout(QBoxLayout::LeftToRight, this)),
      m_buttons(new QWidget),
      m_text(new QLabel),
      m_there(makeButton(QStringLiteral("goThere"), tr("Go there"),
                         tr("Replay to the last receive of the rank that failed (F4)"))),
      m_raised(makeButton(QStringLiteral("raisedAt"), {},
                          tr("The line of Python that raised it. The arrow: who called that"))),
      m_race(makeButton(QStringLiteral("firstRace"), {},
                        tr("Select the race that the failure most likely depends on"))),
      m_waits(makeButton(QStringLiteral("whoWaits"), tr("Who waits"),
                         tr("Message queues at the end of the record"))),
      m_blame(makeButton(QStringLiteral("blame"), tr("What is to blame?"),
                         tr("Runs the program in other orders until it is known which delivery "
                            "decides between failing and not"))),
      m_end(makeButton(QStringLiteral("endRecording"), tr("End it"),
                       tr("End the program; what it has done is a trace then"))),
      m_event(makeButton(QStringLiteral("divergedAt"), tr("Show the event"),
                         tr("Select the recorded event in whose place something else was done"))) {
  setObjectName(QStringLiteral("failureBanner"));
  setFrameShape(QFrame::StyledPanel);
  m_text->setObjectName(QStringLiteral("failureText"));
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_text->setTextFormat(Qt::PlainText);  // of a trace, and of what its program has printed
  m_text->setWordWrap(true);
  m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  auto* const sign = new QLabel;
  sign->setPixmap(views::icon(views::Icon::RunToFailure).pixmap(16, 16));
  auto* const close = makeButton(QStringLiteral("dismiss"), tr("Dismiss"),
                                 tr("Hide this until another trace is opened"));
  auto* const words = new QHBoxLayout;
  words->addWidget(sign);
  words->addWidget(m_text, 1);
  auto* const buttons = new QHBoxLayout(m_buttons);
  buttons->setContentsMargins(0, 0, 0, 0);
  for (QToolButton* const button :
       {m_there, m_raised, m_race, m_waits, m_blame, m_end, m_event, close}) {
    buttons->addWidget(button);
  }
  buttons->addStretch();
  m_rows->setContentsMargins(8, 4, 8, 4);
  m_rows->addLayout(words, 1);
  m_rows->addWidget(m_buttons);
  connect(m_there, &QToolButton::clicked, this, &FailureBanner::failureWanted);
  connect(m_race, &QToolButton::clicked, this, [this] { Q_EMIT raceWanted(m_first); });
  connect(m_waits, &QToolButton::clicked, this, &FailureBanner::waitsWanted);
  connect(m_blame, &QToolButton::clicked, this, &FailureBanner::blameWanted);
  connect(m_end, &QToolButton::clicked, this, &FailureBanner::endWanted);
  connect(m_event, &QToolButton::clicked, this, [this] { Q_EMIT eventWanted(m_at); });
  connect(close, &QToolButton::clicked, this, &FailureBanner::clear);
  clear();
}

/// Beside the words while there is room for some of them, else below.
void FailureBanner::arrange() {
  constexpr int kWords = 420;  // pixels
  const bool beside = width() - m_buttons->sizeHint().width() >= kWords;
  m_rows->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void FailureBanner::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  arrange();
}

void FailureBanner::paintEvent(QPaintEvent* event) {
  QPainter(this).fillRect(rect(), tinted(palette().color(QPalette::Window)));
  QFrame::paintEvent(event);
}

void FailureBanner::clear() {
  m_search.disconnect(this);
  m_first = -1;
  for (QToolButton* const button : {m_there, m_raised, m_race, m_waits, m_blame, m_end, m_event}) {
    button->hide();
  }
  hide();
}

void FailureBanner::showStuck(const QString& why) {
  clear();
  m_text->setText(
      tr("The program that is recorded makes no progress: %1.").arg(values::oneLine(why)));
  m_end->show();
  show();
}

void FailureBanner::showDivergence(const EventRef& at, const QString& text) {
  clear();
  m_at = at;
  m_text->setText(values::oneLine(text));
  m_event->show();
  show();
  arrange();
}

void FailureBanner::showRun(const std::optional<app::WhatFailed>& failed,
                            const app::LastPrinted& printed, const views::TraceIndexPtr& index) {
  clear();
  if (!failed) {
    return;
  }
  QString sentence = values::oneLine(QString::fromStdString(failed->sentence));
  sentence.replace(0, 1, sentence.left(1).toUpper());
  m_text->setText(printed.line.empty()
                      ? sentence + QLatin1Char('.')
                      : tr("%1. Last line printed: %2")
                            .arg(sentence, values::oneLine(QString::fromStdString(printed.line))));
  const views::TraceData& trace = index->data();
  m_there->setVisible(trace.failure.event.valid());
  m_waits->setVisible(std::ranges::any_of(trace.ends, [](const views::RankEnd& end) {
    return end.kind == views::RankEndKind::Killed || end.kind == views::RankEndKind::Cut;
  }));
  show();
  addTraceback(printed.traceback);
  addRaces(index);
  arrange();
}

/// Where it was raised, and a menu of who called that, innermost first.
void FailureBanner::addTraceback(const std::vector<app::TracedFrame>& traceback) {
  constexpr std::size_t kMost = 30;
  const app::TracedFrame* const raised = app::raisedIn(traceback);
  if (raised == nullptr) {
    return;
  }
  const auto nameOf = [](const app::TracedFrame& frame) {
    return values::oneLine(QString::fromStdString(app::frameText(frame)))
        .replace(QLatin1Char('&'), QLatin1String("&&"));
  };
  const auto open = [this](const app::TracedFrame& frame) {
    Q_EMIT placeWanted(QString::fromStdString(frame.file), frame.line);
  };
  delete m_raised->menu();
  auto* const menu = new QMenu(m_raised);
  for (std::size_t i = traceback.size(); i-- > 0 && traceback.size() - i <= kMost;) {
    menu->addAction(nameOf(traceback[i]), this, [open, frame = traceback[i]] { open(frame); });
  }
  auto* const action = new QAction(nameOf(*raised), menu);
  connect(action, &QAction::triggered, this, [open, frame = *raised] { open(frame); });
  m_raised->setDefaultAction(action);
  m_raised->setToolTip(tr("The line of Python that raised it. The arrow: who called that"));
  m_raised->setMenu(menu);
  m_raised->setPopupMode(QToolButton::MenuButtonPopup);
  m_raised->show();
}

void FailureBanner::addRaces(const views::TraceIndexPtr& index) {
  const auto races = static_cast<int>(index->data().races.size());
  if (races == 0) {
    return;
  }
  m_blame->show();
  connect(&m_search, &QFutureWatcherBase::finished, this, [this, index, races] {
    m_first = m_search.result();
    if (m_first < 0) {
      return;
    }
    const EventRef event = index->races().eventOf(static_cast<std::size_t>(m_first));
    const QString place = views::siteText(*index, event);
    m_race->setText(races == 1 ? tr("1 race: %1").arg(place)
                               : tr("%1 races, first: %2").arg(races).arg(place));
    m_race->show();
    arrange();
    Q_EMIT raceFound(m_first);
  });
  m_search.setFuture(session::inBackground([index] { return firstOf(*index); }));
}

}  // namespace pf::gui

#include "moc_failure_banner.cpp"
