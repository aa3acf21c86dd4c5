// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/source_view.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/panes/icons.h"
#include "views/panes/source_editor.h"
#include "views/panes/value_popup.h"
#include "views/values/text.h"

namespace pf::views {

namespace {
constexpr int kMaxTabs = 16;
constexpr const char* kPathProperty = "sourcePath";
}  // namespace

SourceView::SourceView(std::unique_ptr<SourceLoader> loader, QWidget* parent)
    : QWidget(parent),
      m_loader(std::move(loader)),
      m_tabs(new QTabWidget),
      m_stack(new QStackedWidget),
      m_notice(new QLabel),
      m_tip(new ValuePopup(this)) {
  setObjectName(u"sourceView"_s);
  m_tabs->setDocumentMode(true);
  m_tabs->setTabsClosable(true);
  m_tabs->setMovable(true);
  m_tabs->setElideMode(Qt::ElideMiddle);
  auto* empty = new QLabel(
      tr("No source file is open.\nSelect a race, an event or a stack frame to see its place."));
  empty->setAlignment(Qt::AlignCenter);
  empty->setTextFormat(Qt::PlainText);
  empty->setForegroundRole(QPalette::PlaceholderText);
  m_stack->addWidget(empty);
  m_stack->addWidget(m_tabs);
  makeActions();
  makeFindBar();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  m_notice->setObjectName(u"sourceNotice"_s);
  m_notice->setTextFormat(Qt::PlainText);
  m_notice->setWordWrap(true);
  m_notice->setMargin(4);
  m_notice->setBackgroundRole(QPalette::ToolTipBase);
  m_notice->setForegroundRole(QPalette::ToolTipText);
  m_notice->setAutoFillBackground(true);
  m_notice->hide();
  layout->addWidget(m_notice);
  layout->addWidget(m_stack, 1);
  layout->addWidget(m_findBar);
  connect(m_tabs, &QTabWidget::tabCloseRequested, this, [this](int tab) {
    delete m_tabs->widget(tab);
    m_stack->setCurrentIndex(m_tabs->count() > 0 ? 1 : 0);
  });
  connect(m_tabs, &QTabWidget::currentChanged, this,
          [this] { Q_EMIT currentFileChanged(currentFile()); });
}

SourceView::~SourceView() {
  m_tabs->disconnect(this);
}

void SourceView::makeActions() {
  const auto make = [this](const QString& text, const QKeySequence& keys, auto slot) {
    auto* action = new QAction(text, this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    action->setToolTip(u"%1 (%2)"_s.arg(text, keys.toString(QKeySequence::NativeText)));
    addAction(action);
    connect(action, &QAction::triggered, this, slot);
    return action;
  };
  m_find = make(tr("Find"), QKeySequence::Find, [this] {
    m_findBar->show();
    m_findEdit->setFocus();
    m_findEdit->selectAll();
  });
  m_findNext = make(tr("Find next"), QKeySequence(Qt::Key_F3), [this] { findText(true); });
  m_findPrevious =
      make(tr("Find previous"), QKeySequence(Qt::SHIFT | Qt::Key_F3), [this] { findText(false); });
  m_goToLine =
      make(tr("Go to line…"), QKeySequence(Qt::CTRL | Qt::Key_G), [this] { askForLine(); });
  m_toggle = make(tr("Toggle breakpoint"), QKeySequence(Qt::Key_F9), [this] {
    if (const auto* editor = currentEditor(); editor != nullptr) {
      Q_EMIT breakpointToggled(editor->path(), editor->currentLine());
    }
  });
  m_runToLine = make(tr("Run to cursor"), QKeySequence(Qt::CTRL | Qt::Key_F10), [this] {
    if (const auto* editor = currentEditor(); editor != nullptr) {
      Q_EMIT runToLineRequested(editor->path(), editor->currentLine());
    }
  });
  m_find->setIcon(icon(Icon::Find));
  m_toggle->setIcon(icon(Icon::Breakpoint));
}

void SourceView::makeFindBar() {
  m_findBar = new QWidget;
  m_findEdit = new QLineEdit;
  m_findEdit->setPlaceholderText(tr("Find in this file"));
  m_findEdit->setClearButtonEnabled(true);
  m_findResult = new QLabel;
  m_findResult->setTextFormat(Qt::PlainText);
  auto* close = new QToolButton;
  close->setIcon(icon(Icon::Clear));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close (Esc)"));
  auto* layout = new QHBoxLayout(m_findBar);
  layout->setContentsMargins(6, 4, 6, 4);
  layout->addWidget(m_findEdit, 1);
  layout->addWidget(m_findResult);
  layout->addWidget(close);
  m_findBar->hide();
  auto* escape = new QAction(m_findBar);
  escape->setShortcut(QKeySequence(Qt::Key_Escape));
  escape->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  m_findBar->addAction(escape);
  const auto hide = [this] {
    m_findBar->hide();
    if (currentEditor() != nullptr) {
      currentEditor()->setFocus();
    }
  };
  connect(escape, &QAction::triggered, this, hide);
  connect(close, &QToolButton::clicked, this, hide);
  connect(m_findEdit, &QLineEdit::returnPressed, this, [this] { findText(true); });
}

void SourceView::findText(bool forward) {
  SourceEditor* editor = currentEditor();
  const QString wanted = m_findEdit->text();
  if (editor == nullptr || wanted.isEmpty()) {
    return;
  }
  int line = 0;
  int column = 0;
  if (!forward && editor->hasSelectedText()) {  // from the start of the present hit
    int lineTo = 0;
    int columnTo = 0;
    editor->getSelection(&line, &column, &lineTo, &columnTo);
  } else {
    editor->getCursorPosition(&line, &column);
  }
  const bool found = editor->findFirst(wanted, false, false, false, true, forward, line, column);
  m_findResult->setText(found ? QString() : tr("not found"));
}

void SourceView::askForLine() {
  SourceEditor* editor = currentEditor();
  if (editor == nullptr) {
    return;
  }
  bool ok = false;
  const int line = QInputDialog::getInt(this, tr("Go to line"), tr("Line:"), editor->currentLine(),
                                        1, std::max(1, editor->lines()), 1, &ok);
  if (ok) {
    editor->goToLine(line);
    editor->setFocus();
  }
}

int SourceView::tabOf(const QString& path) const {
  for (int tab = 0; tab < m_tabs->count(); ++tab) {
    if (m_tabs->widget(tab)->property(kPathProperty).toString() == path) {
      return tab;
    }
  }
  return -1;
}

SourceEditor* SourceView::editor(const QString& path) const {
  const int tab = tabOf(path);
  return tab < 0 ? nullptr : qobject_cast<SourceEditor*>(m_tabs->widget(tab));
}

SourceEditor* SourceView::currentEditor() const {
  return qobject_cast<SourceEditor*>(m_tabs->currentWidget());
}

QString SourceView::currentFile() const {
  return m_tabs->currentWidget() == nullptr
             ? QString()
             : m_tabs->currentWidget()->property(kPathProperty).toString();
}

QString SourceView::currentLocalFile() const {
  return m_mapping.value(currentFile(), currentFile());
}

void SourceView::setNotice(const QString& text) {
  m_notice->setText(text);
  m_notice->setVisible(!text.isEmpty());
}

int SourceView::currentLine() const {
  return currentEditor() == nullptr ? 0 : currentEditor()->currentLine();
}

QWidget* SourceView::makeMissingPage(const QString& path, const Error& error) {
  auto* page = new QWidget;
  auto* text = new QLabel(visibleText(fromUtf8(error.text())));
  text->setTextFormat(Qt::PlainText);
  text->setWordWrap(true);
  text->setAlignment(Qt::AlignCenter);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* choose = new QPushButton(icon(Icon::Open), tr("Choose the file…"));
  choose->setObjectName(u"locateSource"_s);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(24, 24, 24, 24);
  layout->addStretch(1);
  layout->addWidget(text);
  layout->addSpacing(12);
  layout->addWidget(choose, 0, Qt::AlignHCenter);
  layout->addStretch(2);
  connect(choose, &QPushButton::clicked, this,
          [this, path] { Q_EMIT locateSourceRequested(path); });
  return page;
}

QWidget* SourceView::makePage(const QString& path) {
  const Result<QByteArray> bytes = m_loader->load(m_mapping.value(path, path));
  QWidget* page = nullptr;
  if (bytes) {
    auto* editor = new SourceEditor(path, *bytes);
    connectEditor(editor);
    page = editor;
  } else {
    page = makeMissingPage(path, bytes.error());
  }
  page->setProperty(kPathProperty, path);
  return page;
}

void SourceView::connectEditor(SourceEditor* editor) {
  const QString path = editor->path();
  editor->setBreakpoints(m_breakpoints);
  editor->setCallSites(m_callSites.value(path));
  for (auto it = m_places.begin(); it != m_places.end(); ++it) {
    if (it->path == path) {
      editor->setMarkedLine(it.key(), it->line);
    }
  }
  connect(editor, &SourceEditor::marginPressed, this,
          [this, path](int line) { Q_EMIT breakpointToggled(path, line); });
  connect(editor, &SourceEditor::breakpointMenuRequested, this,
          [this, path](int line, const QPoint& where) {
            Q_EMIT breakpointMenuRequested(path, line, where);
          });
  connect(editor, &SourceEditor::menuWanted, this,
          [this, path](QMenu* menu, int line, const QString& expression) {
            menu->addSeparator();
            if (line > 0) {
              menu->addAction(tr("Toggle breakpoint in line %1").arg(line), this,
                              [this, path, line] { Q_EMIT breakpointToggled(path, line); });
              menu->addAction(tr("Run to line %1").arg(line), this,
                              [this, path, line] { Q_EMIT runToLineRequested(path, line); });
            }
            menu->addSeparator();
            Q_EMIT menuWanted(menu, expression);
          });
  connect(editor, &SourceEditor::hovered, this, &SourceView::hoverRequested);
  connect(editor, &SourceEditor::hoverEnded, m_tip, &ValuePopup::leaveSoon);
}

QWidget* SourceView::openTab(const QString& path) {
  int tab = tabOf(path);
  if (tab < 0) {
    trimTabs();
    tab = m_tabs->addTab(makePage(path), oneLine(baseName(path)));
    m_tabs->setTabToolTip(tab, plainToolTip(path));
    m_stack->setCurrentIndex(1);
  }
  return m_tabs->widget(tab);
}

void SourceView::trimTabs() {
  while (m_tabs->count() >= kMaxTabs) {
    const int oldest = m_tabs->currentIndex() == 0 ? 1 : 0;
    delete m_tabs->widget(oldest);
  }
}

void SourceView::showLocation(const QString& path, int line) {
  if (path.isEmpty()) {
    return;
  }
  QWidget* page = openTab(path);
  m_tabs->setCurrentWidget(page);
  if (auto* editor = qobject_cast<SourceEditor*>(page); editor != nullptr && line > 0) {
    editor->goToLine(line);
  }
}

void SourceView::setPlace(SourceMarkKind kind, const Place& place) {
  const Place old = m_places.value(kind);
  if (SourceEditor* before = editor(old.path); before != nullptr && old.path != place.path) {
    before->setMarkedLine(kind, 0);
  }
  m_places[kind] = place;
  if (SourceEditor* now = editor(place.path); now != nullptr) {
    now->setMarkedLine(kind, place.line);
  }
}

void SourceView::setStopLocation(const QString& path, int line) {
  setPlace(SourceMarkKind::Stop, {path, line});
  showLocation(path, line);
}

void SourceView::setOtherEnd(const QString& path, int line, bool show) {
  setPlace(SourceMarkKind::OtherEnd, {path, line});
  if (show) {
    showLocation(path, line);
  } else if (!path.isEmpty()) {
    if (auto* page = qobject_cast<SourceEditor*>(openTab(path));
        page != nullptr && page != m_tabs->currentWidget()) {
      page->goToLine(line);
    }
  }
}

void SourceView::setBreakpoints(const QList<Breakpoint>& breakpoints) {
  m_breakpoints = breakpoints;
  for (int tab = 0; tab < m_tabs->count(); ++tab) {
    if (auto* page = qobject_cast<SourceEditor*>(m_tabs->widget(tab)); page != nullptr) {
      page->setBreakpoints(breakpoints);
    }
  }
}

void SourceView::setCallSites(const QHash<QString, QList<int>>& sites) {
  m_callSites = sites;
  for (int tab = 0; tab < m_tabs->count(); ++tab) {
    if (auto* page = qobject_cast<SourceEditor*>(m_tabs->widget(tab)); page != nullptr) {
      page->setCallSites(sites.value(page->path()));
    }
  }
}

void SourceView::setPathMapping(const QString& path, const QString& localPath) {
  m_mapping[path] = localPath;
  const int tab = tabOf(path);
  if (tab < 0) {
    return;
  }
  const bool current = m_tabs->currentIndex() == tab;
  QWidget* old = m_tabs->widget(tab);
  m_tabs->insertTab(tab, makePage(path), oneLine(baseName(path)));
  m_tabs->setTabToolTip(tab, plainToolTip(localPath));
  delete old;
  if (current) {
    m_tabs->setCurrentIndex(tab);
    for (const Place& place : std::as_const(m_places)) {
      if (place.path == path) {
        showLocation(path, place.line);
      }
    }
  }
}

void SourceView::showTip(const QString& text, const QPoint& globalPosition,
                         const QList<QAction*>& questions) {
  m_tip->showAt(globalPosition, text, questions);
}

void SourceView::closeAll() {
  while (m_tabs->count() > 0) {
    delete m_tabs->widget(0);
  }
  m_stack->setCurrentIndex(0);
}

}  // namespace pf::views

#include "moc_source_view.cpp"
