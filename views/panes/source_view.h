// SPDX-License-Identifier: GPL-3.0-or-later
// Source files in tabs, with breakpoints, the line where the current rank stands, and the other end
// of a message.
//
// Data in:  showLocation(), setStopLocation(), setOtherEnd(), setBreakpoints(), setCallSites(),
//           setPathMapping() (where a missing file really is), showTip(), setNotice().
// Out:      breakpointToggled, breakpointMenuRequested, runToLineRequested, hoverRequested,
//           locateSourceRequested, currentFileChanged.
// Reads files through the SourceLoader that it is given, nothing else.
#pragma once

#include <memory>

#include <QHash>
#include <QList>
#include <QWidget>

#include "views/models/source_loader.h"
#include "views/values/debug_values.h"

class QAction;
class QLabel;
class QLineEdit;
class QMenu;
class QStackedWidget;
class QTabWidget;

namespace pf::views {

class SourceEditor;
class ValuePopup;

enum class SourceMarkKind { Stop, OtherEnd };

class SourceView : public QWidget {
  Q_OBJECT
 public:
  explicit SourceView(std::unique_ptr<SourceLoader> loader = std::make_unique<FileSourceLoader>(),
                      QWidget* parent = nullptr);
  ~SourceView() override;
  Q_DISABLE_COPY_MOVE(SourceView)

  /// Opens `path` (as the debug information names it) and shows `line`, 1-based.
  void showLocation(const QString& path, int line);
  /// The arrow of the current rank; shows the place. An empty path takes the arrow away.
  void setStopLocation(const QString& path, int line);
  /// The other end of the selected message; opens its file beside, without leaving the stop's tab
  /// if `show` is false.
  void setOtherEnd(const QString& path, int line, bool show = false);
  void setBreakpoints(const QList<Breakpoint>& breakpoints);
  /// Lines with MPI calls that the trace knows, by file.
  void setCallSites(const QHash<QString, QList<int>>& sites);
  /// `path` of the debug information is `localPath` here; tabs of `path` load again.
  void setPathMapping(const QString& path, const QString& localPath);
  /// Under the mouse, until it is elsewhere. Takes the questions, which have a button each.
  void showTip(const QString& text, const QPoint& globalPosition,
               const QList<QAction*>& questions = {});
  /// A line above the files, about the one that is shown; an empty one takes it away.
  void setNotice(const QString& text);
  void closeAll();

  [[nodiscard]] SourceEditor* currentEditor() const;
  [[nodiscard]] SourceEditor* editor(const QString& path) const;
  [[nodiscard]] QString currentFile() const;
  /// Where that file is here.
  [[nodiscard]] QString currentLocalFile() const;
  [[nodiscard]] int currentLine() const;
  [[nodiscard]] QTabWidget* tabs() const { return m_tabs; }

  [[nodiscard]] QAction* findAction() const { return m_find; }
  [[nodiscard]] QAction* findNextAction() const { return m_findNext; }
  [[nodiscard]] QAction* goToLineAction() const { return m_goToLine; }
  [[nodiscard]] QAction* toggleBreakpointAction() const { return m_toggle; }
  [[nodiscard]] QAction* runToLineAction() const { return m_runToLine; }

 Q_SIGNALS:
  void breakpointToggled(const QString& file, int line);
  void breakpointMenuRequested(const QString& file, int line, const QPoint& globalPosition);
  void runToLineRequested(const QString& file, int line);
  void hoverRequested(const QString& expression, const QPoint& globalPosition);
  /// As SourceEditor::menuWanted; items about the line are in it.
  void menuWanted(QMenu* menu, const QString& expression);
  void locateSourceRequested(const QString& path);
  void currentFileChanged(const QString& path);

 private:
  struct Place {
    QString path;
    int line = 0;
  };
  QWidget* openTab(const QString& path);
  QWidget* makePage(const QString& path);
  [[nodiscard]] QWidget* makeMissingPage(const QString& path, const Error& error);
  [[nodiscard]] int tabOf(const QString& path) const;
  void connectEditor(SourceEditor* editor);
  void setPlace(SourceMarkKind kind, const Place& place);
  void makeFindBar();
  void makeActions();
  void findText(bool forward);
  void askForLine();
  void trimTabs();

  std::unique_ptr<SourceLoader> m_loader;
  QTabWidget* m_tabs;
  QStackedWidget* m_stack;
  QLabel* m_notice;
  ValuePopup* m_tip;
  QWidget* m_findBar = nullptr;
  QLineEdit* m_findEdit = nullptr;
  QLabel* m_findResult = nullptr;
  QAction* m_find = nullptr;
  QAction* m_findNext = nullptr;
  QAction* m_findPrevious = nullptr;
  QAction* m_goToLine = nullptr;
  QAction* m_toggle = nullptr;
  QAction* m_runToLine = nullptr;
  QList<Breakpoint> m_breakpoints;
  QHash<QString, QList<int>> m_callSites;
  QHash<QString, QString> m_mapping;
  QHash<SourceMarkKind, Place> m_places;
};

}  // namespace pf::views
