// SPDX-License-Identifier: GPL-3.0-or-later
// One read-only source file: line numbers, breakpoint margin, arrows, syntax colours.
#pragma once

#include <QList>

#include "views/panes/qsci.h"
#include "views/panes/source_view.h"
#include "views/values/debug_values.h"

namespace pf::views {

class SourceEditor : public QsciScintilla {
  Q_OBJECT
 public:
  /// Marker numbers; an image in the margin, or a line background.
  enum Marker {
    BreakpointEnabled,
    BreakpointDisabled,
    BreakpointPending,
    BreakpointConditional,
    CallSiteMark,
    OtherEndArrow,
    StopArrow,
    OtherEndLine,
    StopLine
  };

  SourceEditor(const QString& path, const QByteArray& bytes, QWidget* parent = nullptr);

  [[nodiscard]] const QString& path() const { return m_path; }
  void setBreakpoints(const QList<Breakpoint>& breakpoints);
  void setMarkedLine(SourceMarkKind kind, int line);  ///< 1-based; 0 takes the mark away
  void setCallSites(const QList<int>& lines);
  void goToLine(int line);  ///< 1-based, shown in the middle
  [[nodiscard]] int currentLine() const;
  [[nodiscard]] bool hasMarker(int line, Marker marker) const;
  /// The C-like expression around a position: "a.b->c" with the cursor on c.
  [[nodiscard]] QString expressionAt(int position) const;

 Q_SIGNALS:
  void marginPressed(int line);
  void breakpointMenuRequested(int line, const QPoint& globalPosition);
  void hovered(const QString& expression, const QPoint& globalPosition);
  void hoverEnded();
  /// `expression`: what is selected, or under the pointer; may be empty. The menu is shown next.
  void menuWanted(QMenu* menu, int line, const QString& expression);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void applyTheme();
  void defineMarkers();
  void onDwell(int position, int x, int y);
  [[nodiscard]] QString selectedExpression() const;

  QString m_path;
  QsciLexer* m_lexer = nullptr;
  int m_wantedLine = 0;  ///< asked for before the widget was shown
};

}  // namespace pf::views
