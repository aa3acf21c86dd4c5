#include "search_bar.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>

#include "views/icons.h"
#include "views/text.h"
#include "views/theme.h"

namespace pf::views {

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent),
      m_edit(new QLineEdit),
      m_count(new QLabel),
      m_find(new QAction(icon(Icon::Find), tr("Find events"), this)),
      m_next(new QAction(tr("Next event found"), this)),
      m_previous(new QAction(tr("Previous event found"), this)) {
  m_edit->setClearButtonEnabled(true);
  m_edit->setAccessibleName(tr("Find events"));
  m_edit->setToolTip(plainToolTip(
      tr("Words that must all hold of an event:\n"
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
  for (QAction* action : {m_find, m_next, m_previous}) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  }
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 0, 4, 0);
  layout->addWidget(m_edit, 1);
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

void SearchBar::setTrace(TraceIndexPtr trace) {
  m_trace = std::move(trace);
  m_current = {};
  const bool reading = m_trace && !m_trace->hasEvents();
  m_edit->setEnabled(m_trace && !reading);
  m_edit->setPlaceholderText(reading ? tr("Reading events …")
                                     : tr("Find events: call:recv tag:7 file:a.c kind:racing …"));
  search();
}

void SearchBar::setCurrent(EventRef event) {
  m_current = event;
  updateCount();
}

void SearchBar::search() {
  m_pause.stop();
  EventSearch found = m_trace ? searchEvents(*m_trace, m_edit->text()) : EventSearch{};
  m_hits = std::move(found.hits);
  m_problem = found.problem;
  m_next->setEnabled(!m_hits.empty());
  m_previous->setEnabled(!m_hits.empty());
  updateCount();
  Q_EMIT hitsChanged(m_hits);
}

void SearchBar::updateCount() {
  const auto at = std::find(m_hits.begin(), m_hits.end(), m_current);
  m_count->setText(m_edit->text().trimmed().isEmpty() ? QString()
                   : !m_problem.isEmpty()             ? m_problem
                   : m_hits.empty()                   ? tr("no event")
                   : at != m_hits.end()
                       ? tr("%1 of %2").arg(at - m_hits.begin() + 1).arg(m_hits.size())
                       : counted(m_hits.size(), tr("event"), tr("events")));
  QPalette colours = palette();
  colours.setColor(QPalette::PlaceholderText,
                   Theme::of(colours).tone(m_problem.isEmpty() ? Tone::Muted : Tone::Bad));
  m_count->setPalette(colours);
}

QString SearchBar::countText() const {
  return m_count->text();
}

void SearchBar::go(int step) {
  if (m_pause.isActive()) {
    search();
  }
  if (const int hit = m_trace ? nextHit(*m_trace, m_hits, m_current, step) : -1; hit >= 0) {
    Q_EMIT hitSelected(m_hits[at(hit)]);
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
