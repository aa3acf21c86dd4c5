// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/contents_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "views/models/rows_model.h"
#include "views/panes/item_views.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

QPlainTextEdit* makeContentsText(const QString& name, const QString& placeholder, bool wraps) {
  auto* text = new QPlainTextEdit;
  text->setObjectName(name);
  text->setReadOnly(true);
  text->setUndoRedoEnabled(false);
  text->setFont(fixedFont());
  text->setFrameShape(QFrame::NoFrame);
  text->setLineWrapMode(wraps ? QPlainTextEdit::WidgetWidth : QPlainTextEdit::NoWrap);
  text->setPlaceholderText(placeholder);
  text->setAccessibleName(placeholder);
  return text;
}

QLabel* makeContentsLabel() {
  auto* label = new QLabel;
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

QString orNone(const QString& text) {
  return text.isEmpty() ? u"–"_s : oneLine(text);
}

}  // namespace

ContentsView::ContentsView(QWidget* parent)
    : QWidget(parent),
      m_title(makeContentsLabel()),
      m_note(makeContentsLabel()),
      m_rows(new RowsModel(
          {tr("What"), tr("From"), tr("Tag"), tr("Bytes"), tr("Datatype"), tr("Received by")}, -1,
          this)),
      m_table(new QTableView),
      m_values(makeContentsText(u"contentsValues"_s, tr("No values by a datatype"), true)),
      m_bytes(makeContentsText(u"contentsBytes"_s, tr("No bytes"), false)),
      m_parts(new QSplitter(Qt::Horizontal)) {
  setObjectName(u"contentsView"_s);
  m_title->setObjectName(u"contentsTitle"_s);
  m_note->setObjectName(u"contentsNote"_s);
  m_note->setForegroundRole(QPalette::PlaceholderText);
  m_table->setModel(m_rows);
  setUpTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  layOut();
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) { choose(current.row()); });
  clear();
}

void ContentsView::layOut() {
  m_parts->setObjectName(u"contentsParts"_s);
  m_parts->addWidget(m_table);
  m_parts->addWidget(m_values);
  m_parts->addWidget(m_bytes);
  m_parts->setChildrenCollapsible(false);
  m_parts->setSizes({430, 280, 560});
  auto* top = new QVBoxLayout;
  top->setContentsMargins(6, 4, 6, 4);
  top->addWidget(m_title);
  top->addWidget(m_note);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(m_parts, 1);
}

void ContentsView::showContents(const QString& title, const QList<MessageContents>& contents,
                                const QStringList& notes) {
  m_contents = contents;
  m_title->setText(title);
  setNotes(notes);
  QList<QStringList> rows;
  for (const MessageContents& each : contents) {
    rows.append({oneLine(each.what), orNone(each.from), orNone(each.tag),
                 QString::number(each.bytes), orNone(each.datatype), orNone(each.receiver)});
  }
  m_rows->setRows(rows);
  m_parts->setVisible(!rows.isEmpty());
  if (!rows.isEmpty()) {
    m_table->resizeColumnsToContents();
    m_table->setCurrentIndex(m_rows->index(0, 0));
  }
  choose(rows.isEmpty() ? -1 : 0);
}

void ContentsView::showBusy(const QString& title) {
  showContents(title, {}, {tr("Reading …")});
}

void ContentsView::clear() {
  showContents({}, {}, {tr("Select an event in the diagram to see what was in its messages.")});
}

void ContentsView::setNotes(const QStringList& notes) {
  m_note->setText(notes.join(u'\n'));
  m_note->setVisible(!notes.isEmpty());
}

void ContentsView::choose(int row) {
  const bool any = row >= 0 && row < m_contents.size();
  m_values->setPlainText(any ? visibleText(m_contents[row].values) : QString());
  m_bytes->setPlainText(any ? visibleText(m_contents[row].hex) : QString());
  m_values->setVisible(any && !m_contents[row].values.isEmpty());
}

QString ContentsView::title() const {
  return m_title->text();
}

QString ContentsView::note() const {
  return m_note->text();
}

QString ContentsView::valuesText() const {
  return m_values->toPlainText();
}

QString ContentsView::bytesText() const {
  return m_bytes->toPlainText();
}

}  // namespace pf::views

#include "moc_contents_view.cpp"
