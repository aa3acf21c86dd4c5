// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/text_views.h"

#include <algorithm>

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/panes/theme.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr int kShownLines = 50000;
constexpr std::size_t kConsoleChunks = 5000;
constexpr int kFlushMs = 400;

QPlainTextEdit* makeText() {
  auto* text = new QPlainTextEdit;
  text->setReadOnly(true);
  text->setUndoRedoEnabled(false);
  text->setMaximumBlockCount(kShownLines);
  text->setFont(fixedFont());
  text->setFrameShape(QFrame::NoFrame);
  text->setLineWrapMode(QPlainTextEdit::NoWrap);
  text->setCenterOnScroll(false);
  return text;
}

/// Appends literal text in a colour; follows the end only if the user is there.
void appendColored(QPlainTextEdit& edit, const QString& text, const QColor& color) {
  QScrollBar* bar = edit.verticalScrollBar();
  const bool follow = bar->value() >= bar->maximum() - 2;
  QTextCursor cursor(edit.document());
  cursor.movePosition(QTextCursor::End);
  QTextCharFormat format;
  format.setForeground(color);
  if (!edit.document()->isEmpty()) {
    cursor.insertBlock();
  }
  cursor.insertText(text, format);
  if (follow) {
    bar->setValue(bar->maximum());
  }
}

}  // namespace

OutputView::OutputView(QWidget* parent, std::size_t limitBytes)
    : QWidget(parent),
      m_buffer(limitBytes),
      m_text(makeText()),
      m_ranks(new QComboBox),
      m_errorsOnly(new QCheckBox(tr("stderr only"))),
      m_cut(new QLabel),
      m_clear(new QAction(icon(Icon::Clear), tr("Clear output"), this)),
      m_flushTimer(new QTimer(this)) {
  setObjectName(u"outputView"_s);
  m_cut->setTextFormat(Qt::PlainText);
  m_cut->setForegroundRole(QPalette::PlaceholderText);
  m_cut->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* clearButton = new QToolButton;
  clearButton->setDefaultAction(m_clear);
  clearButton->setAutoRaise(true);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 4, 6, 4);
  top->addWidget(m_ranks);
  top->addSpacing(6);
  top->addWidget(m_errorsOnly);
  top->addWidget(m_cut, 1);
  top->addWidget(clearButton);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(m_text, 1);
  m_flushTimer->setSingleShot(true);
  m_flushTimer->setInterval(kFlushMs);
  setRankCount(0);
  m_text->viewport()->installEventFilter(this);
  connect(m_flushTimer, &QTimer::timeout, this, &OutputView::flush);
  connect(m_clear, &QAction::triggered, this, &OutputView::clear);
  connect(m_ranks, &QComboBox::currentIndexChanged, this, &OutputView::refill);
  connect(m_errorsOnly, &QCheckBox::toggled, this, &OutputView::refill);
}

void OutputView::setRankCount(int ranks) {
  if (m_ranks->count() == ranks + 1) {
    return;
  }
  const int before = m_ranks->currentIndex();
  const QSignalBlocker block(m_ranks);
  m_ranks->clear();
  m_ranks->addItem(tr("All ranks"));
  for (int rank = 0; rank < ranks; ++rank) {
    m_ranks->addItem(tr("Rank %1").arg(rank));
  }
  m_ranks->setCurrentIndex(before > 0 && before <= ranks ? before : 0);
}

void OutputView::setFilterRank(int rank) {
  m_ranks->setCurrentIndex(rank < 0 || rank + 1 >= m_ranks->count() ? 0 : rank + 1);
}

int OutputView::filterRank() const {
  return m_ranks->currentIndex() - 1;
}

bool OutputView::shown(const OutputLine& line) const {
  return (filterRank() < 0 || line.rank == filterRank()) &&
         (!m_errorsOnly->isChecked() || line.stream == OutputStream::Err);
}

void OutputView::addLine(const OutputLine& line) {
  if (!shown(line)) {
    return;
  }
  const Theme theme = Theme::of(palette());
  const bool known = line.rank >= 0;  // else it is what a launcher has put together
  const QString prefix = filterRank() < 0 && known ? u"[%1] "_s.arg(line.rank) : QString();
  appendColored(*m_text, prefix + (line.continued ? u"… "_s : QString()) + line.text,
                line.stream == OutputStream::Err ? theme.fail : theme.text);
}

void OutputView::addLines(const std::vector<OutputLine>& lines) {
  m_text->setUpdatesEnabled(false);
  for (const OutputLine& line : lines) {
    addLine(line);
  }
  m_text->setUpdatesEnabled(true);
  updateCut();
}

void OutputView::append(Rank rank, OutputStream stream, const QByteArray& bytes) {
  if (rank + 1 >= m_ranks->count()) {
    setRankCount(rank + 1);
  }
  addLines(m_buffer.append(rank, stream, bytes));
  if (m_buffer.hasPartial()) {
    m_flushTimer->start();
  }
}

void OutputView::flush() {
  addLines(m_buffer.flush());
}

void OutputView::clear() {
  m_buffer.clear();
  m_text->clear();
  updateCut();
}

void OutputView::refill() {
  m_text->clear();
  const auto& lines = m_buffer.lines();
  std::vector<OutputLine> wanted;
  for (auto it = lines.rbegin(); it != lines.rend() && wanted.size() < kShownLines; ++it) {
    if (shown(*it)) {
      wanted.push_back(*it);
    }
  }
  std::reverse(wanted.begin(), wanted.end());
  addLines(wanted);
}

QString OutputView::cutText() const {
  return m_cut->text();
}

void OutputView::updateCut() {
  m_cut->setText(m_buffer.cutLines() == 0
                     ? QString()
                     : tr("%1 (%2) cut from the start")
                           .arg(counted(m_buffer.cutLines(), tr("line"), tr("lines")),
                                byteText(m_buffer.cutBytes())));
}

QString OutputView::text() const {
  return m_text->toPlainText();
}

bool OutputView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseButtonDblClick && filterRank() < 0) {
    const QTextBlock block =
        m_text->cursorForPosition(static_cast<QMouseEvent*>(event)->pos()).block();
    const QString line = block.text();
    bool ok = false;
    const int rank = line.mid(1, line.indexOf(QLatin1Char(']')) - 1).toInt(&ok);
    if (ok) {
      Q_EMIT rankClicked(rank);
    }
  }
  return QWidget::eventFilter(watched, event);
}

ConsoleView::ConsoleView(QWidget* parent)
    : QWidget(parent), m_text(makeText()), m_prompt(new QLabel), m_input(new QLineEdit) {
  setObjectName(u"consoleView"_s);
  m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  m_prompt->setTextFormat(Qt::PlainText);
  m_prompt->setFont(fixedFont());
  m_input->setFont(fixedFont());
  m_input->setClearButtonEnabled(true);
  m_input->installEventFilter(this);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 4, 6, 4);
  row->setSpacing(6);
  row->addWidget(m_prompt);
  row->addWidget(m_input, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_text, 1);
  layout->addLayout(row);
  setFocusProxy(m_input);
  connect(m_input, &QLineEdit::returnPressed, this, &ConsoleView::enter);
  setRank(-1);
}

void ConsoleView::setRank(int rank) {
  m_rank = rank;
  m_prompt->setText(rank < 0 ? tr("(no rank)") : tr("rank %1 (gdb)").arg(rank));
  m_text->clear();
  if (const auto it = m_logs.find(rank); it != m_logs.end()) {
    for (const Chunk& chunk : it->second) {
      show(chunk);
    }
  }
  setReady(rank >= 0, tr("Choose a rank of the focus set"));
}

void ConsoleView::show(const Chunk& chunk) {
  const Theme theme = Theme::of(palette());
  const QColor color = chunk.kind == ConsoleText::Error  ? theme.fail
                       : chunk.kind == ConsoleText::Log  ? theme.muted
                       : chunk.kind == ConsoleText::Echo ? theme.send
                                                         : theme.text;
  appendColored(*m_text, chunk.text, color);
}

void ConsoleView::appendOutput(int rank, const QString& text, ConsoleText kind) {
  QString shownText = visibleText(text);
  while (shownText.endsWith(QLatin1Char('\n'))) {
    shownText.chop(1);
  }
  auto& log = m_logs[rank];
  log.push_back({shownText, kind});
  if (log.size() > kConsoleChunks) {
    log.pop_front();
  }
  if (rank == m_rank) {
    show(log.back());
  }
}

void ConsoleView::setReady(bool ready, const QString& reason) {
  m_input->setEnabled(ready);
  m_input->setPlaceholderText(ready ? tr("GDB command") : oneLine(reason));
}

void ConsoleView::setHistory(const QStringList& lines) {
  m_history.setLines(lines);
}

QString ConsoleView::text() const {
  return m_text->toPlainText();
}

void ConsoleView::enter() {
  QString command = m_input->text();
  if (m_rank < 0) {
    return;
  }
  if (command.trimmed().isEmpty()) {  // as in GDB: an empty line repeats
    if (m_history.lines().isEmpty()) {
      return;
    }
    command = m_history.lines().last();
  }
  m_history.add(command);
  m_input->clear();
  appendOutput(m_rank, u"(gdb) "_s + command, ConsoleText::Echo);
  Q_EMIT commandEntered(m_rank, command);
}

bool ConsoleView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_input && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
      m_input->setText(key == Qt::Key_Up ? m_history.previous(m_input->text()) : m_history.next());
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace pf::views

#include "moc_text_views.cpp"
