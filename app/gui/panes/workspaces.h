// SPDX-License-Identifier: GPL-3.0-or-later
// Three arrangements of the panes, for three questions: which race was it, what does a rank do here, who waits for whom.
// Each is kept as the user leaves it. One is chosen by how a run failed, until the user chooses one.
#pragma once

#include <array>
#include <optional>

#include <QByteArray>
#include <QList>
#include <QObject>

class QAction;
class QMainWindow;
class QSplitter;
class QToolBar;

namespace pf::gui {

class WindowDocks;

enum class Workspace { Races, Debug, Hang };
inline constexpr std::array kWorkspaces{Workspace::Races, Workspace::Debug, Workspace::Hang};

/// As settings and session files name it: "races".
[[nodiscard]] QString nameOf(Workspace workspace);
/// Nothing: it is the name of none.
[[nodiscard]] std::optional<Workspace> workspaceOf(const QString& name);

class Workspaces : public QObject {
  Q_OBJECT
 public:
  /// `centre`: diagram and source.
  Workspaces(QMainWindow& window, QSplitter& centre, WindowDocks& docks);

  /// To each of them.
  [[nodiscard]] QList<QAction*> actions() const;
  [[nodiscard]] QAction* resetAction() const { return m_reset; }
  /// The time-travel bar, which is there where something is open.
  void setBar(QToolBar* bar) { m_bar = bar; }

  /// Nothing: nothing is open yet, and no pane is there.
  [[nodiscard]] std::optional<Workspace> current() const { return m_current; }
  /// The user has chosen the present one for what is open.
  [[nodiscard]] bool isChosen() const { return m_chosen; }

  /// Before anything is open.
  void showNone();
  /// Something else has been opened, and this one goes with how it ended.
  void opened(Workspace fitting);
  /// This one would be better now: it is there, unless the user has chosen one.
  void suggest(Workspace fitting);
  /// The user wants it.
  void choose(Workspace wanted);
  /// The present one as it came.
  void reset();
  /// All, for the next time. Written to the settings.
  void keep();

  /// The present one, for a file; nothing of it is of use to other versions of the layout.
  [[nodiscard]] QByteArray layout() const;
  /// False: it is none of this version, or damaged, and nothing has been done.
  bool restore(Workspace workspace, const QByteArray& layout);

 private:
  void makeActions();
  void show(Workspace workspace);
  void leave();
  void arrange(Workspace workspace);
  void arrangeCentre(Workspace workspace);
  bool apply(const QByteArray& layout);
  [[nodiscard]] QByteArray& kept(Workspace workspace) {
    return m_kept[static_cast<std::size_t>(workspace)];
  }

  QMainWindow& m_window;
  QSplitter& m_centre;
  WindowDocks& m_docks;
  QToolBar* m_bar = nullptr;
  std::array<QAction*, kWorkspaces.size()> m_actions{};
  QAction* m_reset = nullptr;
  std::array<QByteArray, kWorkspaces.size()> m_kept;  ///< empty: as it came
  std::optional<Workspace> m_current;
  bool m_chosen = false;
};

}  // namespace pf::gui
