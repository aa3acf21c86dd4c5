// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/source_editor.h"

#include <algorithm>
#include <functional>

#include <QContextMenuEvent>
#include <QCursor>
#include <QEvent>
#include <QImage>
#include <QMenu>
#include <QPainter>

#include "views/panes/item_views.h"
#include "views/panes/space_time_glyphs.h"
#include "views/panes/theme.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr int kNumberMargin = 1;
constexpr int kMarkerMargin = 0;
constexpr int kDwellMs = 500;

QsciLexer* lexerFor(const QString& path, QObject* parent) {
  const QString suffix = path.mid(path.lastIndexOf(QLatin1Char('.')) + 1).toLower();
  if (suffix == u"py"_s) {
    return new QsciLexerPython(parent);
  }
  if (QStringList{u"f90"_s, u"f95"_s, u"f03"_s, u"f08"_s, u"f"_s, u"for"_s, u"f77"_s}.contains(
          suffix)) {
    return new QsciLexerFortran(parent);
  }
  if (QStringList{u"c"_s, u"h"_s, u"cc"_s, u"cpp"_s, u"cxx"_s, u"hh"_s, u"hpp"_s, u"hxx"_s, u"cu"_s,
                  u"inl"_s}
          .contains(suffix)) {
    return new QsciLexerCPP(parent);
  }
  return nullptr;
}

/// What a style means, by the lexer's own words, so that one function serves every language.
QColor styleColor(const QString& description, const Theme& theme) {
  const auto has = [&](QLatin1String word) {
    return description.contains(word, Qt::CaseInsensitive);
  };
  if (has(QLatin1String("comment"))) {
    return theme.dark ? QColor(128, 150, 128) : QColor(84, 122, 84);
  }
  if (has(QLatin1String("string")) || has(QLatin1String("character"))) {
    return theme.dark ? QColor(221, 168, 121) : QColor(152, 72, 20);
  }
  if (has(QLatin1String("number"))) {
    return theme.dark ? QColor(180, 160, 220) : QColor(108, 66, 160);
  }
  if (has(QLatin1String("pre-processor")) || has(QLatin1String("decorator"))) {
    return theme.dark ? QColor(200, 150, 190) : QColor(130, 60, 115);
  }
  if (has(QLatin1String("keyword")) || has(QLatin1String("intrinsic"))) {
    return theme.dark ? QColor(118, 176, 232) : QColor(0, 82, 156);
  }
  return theme.text;
}

QImage marginImage(const Theme& theme, qreal ratio, const std::function<void(QPainter&)>& draw) {
  QImage image(QSize(16, 16) * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.base, 1));
  draw(painter);
  return image;
}

bool isWordByte(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) >= 0x80);
}

}  // namespace

SourceEditor::SourceEditor(const QString& path, const QByteArray& bytes, QWidget* parent)
    : QsciScintilla(parent), m_path(path) {
  setUtf8(true);
  setText(QString::fromUtf8(bytes));
  setReadOnly(true);
  setFrameShape(QFrame::NoFrame);
  setTabWidth(4);
  setMarginType(kMarkerMargin, QsciScintilla::SymbolMargin);
  setMarginWidth(kMarkerMargin, 22);
  setMarginSensitivity(kMarkerMargin, true);
  setMarginMarkerMask(kMarkerMargin, (1 << OtherEndLine) - 1);
  setMarginType(kNumberMargin, QsciScintilla::NumberMargin);
  setMarginSensitivity(kNumberMargin, true);
  setMarginMarkerMask(kNumberMargin, 0);
  setMarginWidth(kNumberMargin, u"%1"_s.arg(std::max(lines(), 999) * 10));
  setMarginWidth(2, 6);
  setMarginType(2, QsciScintilla::SymbolMarginDefaultBackgroundColor);
  setMarginMarkerMask(2, 0);
  setCaretLineVisible(true);
  setFolding(QsciScintilla::NoFoldStyle);
  SendScintilla(SCI_SETMOUSEDWELLTIME, kDwellMs);
  SendScintilla(SCI_SETSCROLLWIDTHTRACKING, 1);
  SendScintilla(SCI_SETSCROLLWIDTH, 1);
  m_lexer = lexerFor(path, this);
  applyTheme();
  connect(this, &QsciScintilla::marginClicked, this,
          [this](int /*margin*/, int line) { Q_EMIT marginPressed(line + 1); });
  connect(this, &QsciScintilla::marginRightClicked, this, [this](int /*margin*/, int line) {
    Q_EMIT breakpointMenuRequested(line + 1, QCursor::pos());
  });
  connect(this, &QsciScintillaBase::SCN_DWELLSTART, this, &SourceEditor::onDwell);
  connect(this, &QsciScintillaBase::SCN_DWELLEND, this,
          [this](int, int, int) { Q_EMIT hoverEnded(); });
}

void SourceEditor::applyTheme() {
  const Theme theme = Theme::of(palette());
  const QFont font = fixedFont();
  if (m_lexer != nullptr) {
    m_lexer->setDefaultFont(font);
    m_lexer->setFont(font);
    m_lexer->setDefaultColor(theme.text);
    m_lexer->setDefaultPaper(theme.base);
    m_lexer->setPaper(theme.base);
    for (int style = 0; style < 128; ++style) {
      const QString description = m_lexer->description(style);
      if (!description.isEmpty()) {
        m_lexer->setColor(styleColor(description, theme), style);
        QFont styled = font;
        styled.setItalic(description.contains(u"comment"_s, Qt::CaseInsensitive));
        m_lexer->setFont(styled, style);
      }
    }
    setLexer(m_lexer);
  } else {
    setFont(font);
    setColor(theme.text);
    setPaper(theme.base);
  }
  setMarginsFont(font);
  setMarginsBackgroundColor(mixed(theme.base, theme.panel, 0.6));
  setMarginsForegroundColor(theme.muted);
  setCaretForegroundColor(theme.text);
  setCaretLineBackgroundColor(mixed(theme.base, theme.text, 0.05));
  setSelectionBackgroundColor(mixed(theme.base, theme.selection, 0.35));
  setSelectionForegroundColor(theme.text);
  setMatchedBraceBackgroundColor(theme.grid);
  defineMarkers();
}

void SourceEditor::defineMarkers() {
  const Theme theme = Theme::of(palette());
  const qreal ratio = devicePixelRatioF();
  const QRectF dot(3, 3, 10, 10);
  SendScintilla(SCI_RGBAIMAGESETSCALE, static_cast<unsigned long>(qRound(ratio * 100)));
  const auto image = [&](Marker marker, const std::function<void(QPainter&)>& draw) {
    markerDefine(marginImage(theme, ratio, draw), marker);
  };
  image(BreakpointEnabled, [&](QPainter& p) {
    p.setBrush(theme.breakpoint);
    p.drawEllipse(dot);
  });
  image(BreakpointDisabled, [&](QPainter& p) {
    p.setPen(QPen(theme.muted, 1.6));
    p.drawEllipse(dot.adjusted(0.5, 0.5, -0.5, -0.5));
  });
  image(BreakpointPending, [&](QPainter& p) {
    p.setPen(QPen(theme.breakpoint, 1.8, Qt::DotLine));
    p.drawEllipse(dot.adjusted(0.5, 0.5, -0.5, -0.5));
  });
  image(BreakpointConditional, [&](QPainter& p) {
    p.setBrush(theme.breakpoint);
    p.drawEllipse(dot);
    p.setPen(QPen(theme.base, 1.6));
    p.drawLine(QPointF(5.8, 6.8), QPointF(10.2, 6.8));
    p.drawLine(QPointF(5.8, 9.4), QPointF(10.2, 9.4));
  });
  image(CallSiteMark, [&](QPainter& p) {
    p.setPen(Qt::NoPen);
    p.setBrush(theme.send);
    p.drawRoundedRect(QRectF(0.5, 2, 2.6, 12), 1, 1);
  });
  const auto arrow = [](QPainter& p, const QColor& color) {
    p.setBrush(color);
    p.drawPolygon(QPolygonF(
        QList<QPointF>{{2, 5.6}, {8, 5.6}, {8, 2}, {15, 8}, {8, 14}, {8, 10.4}, {2, 10.4}}));
  };
  image(StopArrow,
        [&](QPainter& p) { arrow(p, theme.dark ? theme.cut : QColor(0xE6, 0x9F, 0x00)); });
  image(OtherEndArrow, [&](QPainter& p) { arrow(p, theme.race); });
  markerDefine(QsciScintilla::Background, StopLine);
  setMarkerBackgroundColor(mixed(theme.base, theme.dark ? theme.cut : QColor(0xF0, 0xC0, 0x30),
                                 theme.dark ? 0.18 : 0.28),
                           StopLine);
  markerDefine(QsciScintilla::Background, OtherEndLine);
  setMarkerBackgroundColor(mixed(theme.base, theme.race, theme.dark ? 0.2 : 0.14), OtherEndLine);
}

void SourceEditor::changeEvent(QEvent* event) {
  QsciScintilla::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && !m_path.isEmpty()) {
    applyTheme();
  }
}

void SourceEditor::setBreakpoints(const QList<Breakpoint>& breakpoints) {
  for (const int marker :
       {BreakpointEnabled, BreakpointDisabled, BreakpointPending, BreakpointConditional}) {
    markerDeleteAll(marker);
  }
  for (const Breakpoint& breakpoint : breakpoints) {
    if (!values::namesSource(breakpoint.file, m_path) || breakpoint.line <= 0) {
      continue;
    }
    const Marker marker =
        !breakpoint.enabled                        ? BreakpointDisabled
        : breakpoint.state != BreakpointState::Set ? BreakpointPending
        : !breakpoint.condition.isEmpty() || breakpoint.ignoreCount > 0 || !breakpoint.log.isEmpty()
            ? BreakpointConditional
            : BreakpointEnabled;
    markerAdd(breakpoint.line - 1, marker);
  }
}

void SourceEditor::setMarkedLine(SourceMarkKind kind, int line) {
  const bool stop = kind == SourceMarkKind::Stop;
  for (const int marker : {stop ? StopArrow : OtherEndArrow, stop ? StopLine : OtherEndLine}) {
    markerDeleteAll(marker);
    if (line > 0) {
      markerAdd(line - 1, marker);
    }
  }
}

void SourceEditor::setCallSites(const QList<int>& siteLines) {
  markerDeleteAll(CallSiteMark);
  for (const int line : siteLines) {
    markerAdd(line - 1, CallSiteMark);
  }
}

void SourceEditor::goToLine(int line) {
  const int target = std::clamp(line, 1, std::max(1, lines())) - 1;
  setCursorPosition(target, 0);
  m_wantedLine = isVisible() ? 0 : line;
  const auto visible = static_cast<int>(SendScintilla(SCI_LINESONSCREEN));
  setFirstVisibleLine(std::max(0, target - visible / 2));
}

// Only now the number of lines on the screen is known.
void SourceEditor::showEvent(QShowEvent* event) {
  QsciScintilla::showEvent(event);
  if (m_wantedLine > 0) {
    QMetaObject::invokeMethod(
        this, [this, line = m_wantedLine] { goToLine(line); }, Qt::QueuedConnection);
  }
}

int SourceEditor::currentLine() const {
  int line = 0;
  int column = 0;
  getCursorPosition(&line, &column);
  return line + 1;
}

bool SourceEditor::hasMarker(int line, Marker marker) const {
  return (markersAtLine(line - 1) & (1U << marker)) != 0;
}

QString SourceEditor::expressionAt(int position) const {
  const QByteArray all = text().toUtf8();
  if (position < 0 || position >= all.size() || !isWordByte(all[position])) {
    return {};
  }
  qsizetype end = position;
  while (end < all.size() && isWordByte(all[end])) {
    ++end;
  }
  qsizetype begin = position;
  for (;;) {
    while (begin > 0 && isWordByte(all[begin - 1])) {
      --begin;
    }
    if (begin > 1 && all[begin - 1] == '.' && isWordByte(all[begin - 2])) {
      begin -= 1;
    } else if (begin > 2 && all[begin - 1] == '>' && all[begin - 2] == '-' &&
               isWordByte(all[begin - 3])) {
      begin -= 2;
    } else {
      break;
    }
  }
  const QByteArray word = all.mid(begin, end - begin);
  return word.isEmpty() || (word[0] >= '0' && word[0] <= '9') ? QString() : QString::fromUtf8(word);
}

QString SourceEditor::selectedExpression() const {
  const QString selected = hasSelectedText() ? selectedText().trimmed() : QString();
  return selected.contains(QLatin1Char('\n')) ? QString() : selected;
}

void SourceEditor::contextMenuEvent(QContextMenuEvent* event) {
  const bool byMouse = event->reason() == QContextMenuEvent::Mouse;
  const QPoint at = viewport()->mapFromGlobal(event->globalPos());
  const long position = byMouse ? SendScintilla(SCI_POSITIONFROMPOINTCLOSE,
                                                static_cast<unsigned long>(at.x()), long{at.y()})
                                : SendScintilla(SCI_GETCURRENTPOS);
  const int line = position >= 0
                       ? static_cast<int>(SendScintilla(SCI_LINEFROMPOSITION,
                                                        static_cast<unsigned long>(position))) +
                             1
                       : (byMouse ? lineAt(at) + 1 : currentLine());
  const QString selected = selectedExpression();
  QMenu* menu = createStandardContextMenu();
  menu->setAttribute(Qt::WA_DeleteOnClose);
  Q_EMIT menuWanted(menu, line,
                    selected.isEmpty() ? expressionAt(static_cast<int>(position)) : selected);
  menu->popup(event->globalPos());
}

void SourceEditor::onDwell(int position, int x, int y) {
  const QString expression = expressionAt(position);
  if (!expression.isEmpty()) {
    Q_EMIT hovered(expression, viewport()->mapToGlobal(QPoint(x, y)));
  }
}

}  // namespace pf::views

#include "moc_source_editor.cpp"
