// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/tools/search_bar.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

#include "views/panes/icons.h"
#include "views/panes/theme.h"
#include "views/values/text.h"

namespace pf::views {

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent),
      m_found(std::make_shared<const EventSearch>()),
      m_edit(new QLineEdit),
      m_proposals(new QMenu(this)),
      m_count(new QLabel),
      m_find(new QAction(icon(Icon::Find), tr("Find events"), this)),
      m_next(new QAction(tr("Next event found"), this)),
      m_previous(new QAction(tr("Previous event found"), this)),
      m_only(new QAction(tr("Only what is found"), this)) {
  m_edit->setClearButtonEnabled(true);
  m_edit->setAccessibleName(tr("Find events"));
  m_edit->setToolTip(plainToolTip(
      tr("Words that must all hold of an event (\"Find\" has some to choose from):\n"
         "kind:racing (send, receive, wildcard, probe, post, completion, collective, local)\n"
         "call:recv  file:master.c  line:88  function:collect  rank:2  event:17\n"
         "tag:7  from:1  to:3  comm:row  bytes:>1024\n"
         "Any other word: in the call, the function or the file.\n"
         "Enter: next, Shift+Enter: previous, Escape: no search.")));
  m_edit->setMaximumWidth(420);
  m_edit->installEventFilter(this);
  m_count->setTextFormat(Qt::PlainText);
  m_count->setForegroundRole(QPalette::PlaceholderText);
  m_find->setShortcut(QKeySequence(Qt::Key_Slash));
  m_next->setShortcut(QKeySequence(Qt::Key_N));
  m_previous->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_N));
  m_only->setShortcut(QKeySequence(Qt::Key_H));
  m_only->setCheckable(true);
  m_only->setToolTip(tr("Only what is found; the rest of the diagram stays as a shadow (H)"));
  for (QAction* action : {m_find, m_next, m_previous, m_only}) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  }
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 0, 4, 0);
  auto* proposals = new QToolButton;
  proposals->setObjectName(u"searchProposals"_s);
  proposals->setText(tr("Find"));
  proposals->setToolTip(tr("Searches to choose from"));
  proposals->setPopupMode(QToolButton::InstantPopup);
  proposals->setMenu(m_proposals);
  connect(m_proposals, &QMenu::aboutToShow, this, &SearchBar::fillProposals);
  layout->addWidget(proposals);
  layout->addWidget(m_edit, 1);
  for (QAction* action : {m_previous, m_next}) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setArrowType(action == m_next ? Qt::DownArrow : Qt::UpArrow);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    layout->addWidget(button);
  }
  layout->addWidget(m_count);
  m_pause.setSingleShot(true);
  m_pause.setInterval(150);
  connect(&m_pause, &QTimer::timeout, this, &SearchBar::search);
  connect(m_edit, &QLineEdit::textChanged, this, [this] { m_pause.start(); });
  connect(m_find, &QAction::triggered, this, [this] {
    m_edit->setFocus();
    m_edit->selectAll();
  });
  connect(m_next, &QAction::triggered, this, [this] { go(1); });
  connect(m_previous, &QAction::triggered, this, [this] { go(-1); });
  setTrace(nullptr);
}

SearchBar::~SearchBar() {
  forgetAway();
}

void SearchBar::setTrace(TraceIndexPtr trace) {
  m_trace = std::move(trace);
  m_current = {};
  const bool reading = m_trace && !m_trace->hasEvents();
  m_edit->setEnabled(m_trace && !reading);
  m_edit->setPlaceholderText(reading ? tr("Reading events …")
                                     : tr("Find events: call:recv tag:7 file:a.c kind:racing …"));
  search();
}

/// What there is to look for, for who does not type.
void SearchBar::fillProposals() {
  constexpr std::size_t kMost = 40;
  m_proposals->clear();
  const auto add = [this](QMenu& menu, const QString& text, const QString& query) {
    QString plain = text;
    menu.addAction(plain.replace(u'&', u"&&"_s), this, [this, query] {
      m_edit->setText(query);
      search();
      go(1);
    });
  };
  add(*m_proposals, tr("Racing receives"), u"kind:racing"_s);
  add(*m_proposals, tr("Receives from any source"), u"kind:wildcard"_s);
  add(*m_proposals, tr("Sends"), u"kind:send"_s);
  add(*m_proposals, tr("Probes"), u"kind:probe"_s);
  add(*m_proposals, tr("Collectives"), u"kind:collective"_s);
  m_proposals->addSeparator();
  const auto submenu = [this](const QString& title) { return m_proposals->addMenu(title); };
  if (m_trace) {
    const ExecutionView& execution = m_trace->execution();
    QMenu* menu = submenu(tr("Call site"));
    for (const CallSite& site :
         std::span(execution.sites).first(std::min(kMost, execution.sites.size()))) {
      if (!site.file.empty()) {
        const QString file = fromUtf8(site.file).section(u'/', -1);
        add(*menu, u"%1:%2  %3"_s.arg(file).arg(site.line).arg(oneLine(fromUtf8(site.function))),
            u"file:%1 line:%2"_s.arg(file).arg(site.line));
      }
    }
    menu = submenu(tr("Call"));
    for (const std::string& name :
         std::span(execution.callNames).first(std::min(kMost, execution.callNames.size()))) {
      add(*menu, fromUtf8(name), u"call:%1"_s.arg(fromUtf8(name)));
    }
    menu = submenu(tr("Rank"));
    for (std::size_t rank = 0; rank < std::min(kMost, m_trace->rankCount()); ++rank) {
      add(*menu, tr("Rank %1").arg(rank), u"rank:%1"_s.arg(rank));
    }
    menu = submenu(tr("Tag"));
    constexpr std::size_t kLooked = 100000;
    std::set<Tag> tags;
    for (std::size_t i = 0; i < std::min(kLooked, execution.messages.size()) && tags.size() < kMost;
         ++i) {
      tags.insert(execution.messages[i].tag);
    }
    for (const Tag tag : tags) {
      add(*menu, tr("Tag %1").arg(tag), u"tag:%1"_s.arg(tag));
    }
  }
  m_proposals->addSeparator();
  m_proposals->addAction(m_only);
  m_proposals->addAction(tr("No search"), this, [this] {
    m_edit->clear();
    search();
  });
}

void SearchBar::setCurrent(EventRef event) {
  m_current = event;
  updateCount();
}

void SearchBar::renewTrace(const TraceIndexPtr& trace) {
  m_trace = trace;
  if (m_pause.isActive() || m_edit->text().trimmed().isEmpty()) {
    return;
  }
  if (trace->eventCount() > kFewEvents) {
    searchAway();
  } else {
    show(searchEvents(*trace, m_edit->text()));
  }
}

void SearchBar::search() {
  m_pause.stop();
  m_goes = 0;
  if (m_trace && m_trace->eventCount() > kFewEvents && !m_edit->text().trimmed().isEmpty()) {
    searchAway();
    show({});
  } else {
    forgetAway();
    show(m_trace ? searchEvents(*m_trace, m_edit->text()) : EventSearch{});
  }
}

void SearchBar::searchAway() {
  forgetAway();
  m_stop = {};
  m_away.run([trace = m_trace, query = m_edit->text(),
              stop = m_stop.get_token()] { return searchEvents(*trace, query, stop); },
             [this](EventSearch found) {
               show(std::move(found));
               if (const int step = std::exchange(m_goes, 0); step != 0) {
                 go(step);
               }
             });
}

void SearchBar::forgetAway() {
  m_stop.request_stop();
  m_away.forget();
}

void SearchBar::show(EventSearch found) {
  m_found = std::make_shared<const EventSearch>(std::move(found));
  m_next->setEnabled(!hits().empty());
  m_previous->setEnabled(!hits().empty());
  m_only->setEnabled(!hits().empty() || m_only->isChecked());
  updateCount();
  Q_EMIT hitsChanged(m_found);
}

void SearchBar::updateCount() {
  const auto [first, last] =
      std::equal_range(m_found->times.begin(), m_found->times.end(),
                       m_trace && m_trace->contains(m_current) ? m_trace->time(m_current) : 0);
  const auto begin = hits().begin();
  const auto until = begin + (last - m_found->times.begin());
  const auto at = std::find(begin + (first - m_found->times.begin()), until, m_current);
  m_count->setText(m_edit->text().trimmed().isEmpty() ? QString()
                   : !m_found->problem.isEmpty()      ? m_found->problem
                   : hits().empty() && !isDone()      ? tr("searching …")
                   : hits().empty()                   ? tr("no event")
                   : at != until ? tr("%1 of %2").arg(at - begin + 1).arg(hits().size())
                                 : counted(hits().size(), tr("event"), tr("events")));
  QPalette colours = palette();
  colours.setColor(QPalette::PlaceholderText,
                   Theme::of(colours).tone(m_found->problem.isEmpty() ? Tone::Muted : Tone::Bad));
  m_count->setPalette(colours);
}

QString SearchBar::countText() const {
  return m_count->text();
}

void SearchBar::go(int step) {
  if (m_pause.isActive()) {
    search();
  }
  if (hits().empty() && !isDone()) {
    m_goes = step;
    return;
  }
  if (const int hit = m_trace ? nextHit(*m_trace, hits(), m_current, step) : -1; hit >= 0) {
    Q_EMIT hitSelected(hits()[at(hit)]);
  }
}

bool SearchBar::eventFilter(QObject* object, QEvent* event) {
  if (object == m_edit && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      go(key->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
      return true;
    }
    if (key->key() == Qt::Key_Escape) {
      m_edit->clear();
      search();
      Q_EMIT left();
      return true;
    }
  }
  // Letters are shortcuts of the diagram, but not while somebody types.
  if (object == m_edit && event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (!key->text().isEmpty() && key->text().at(0).isPrint() &&
        !key->modifiers().testFlag(Qt::ControlModifier)) {
      event->accept();
      return true;
    }
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter ||
        key->key() == Qt::Key_Escape) {
      event->accept();
      return true;
    }
  }
  return QWidget::eventFilter(object, event);
}

}  // namespace pf::views

#include "moc_search_bar.cpp"
