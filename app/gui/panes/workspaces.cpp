// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/workspaces.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <QAction>
#include <QActionGroup>
#include <QCryptographicHash>
#include <QDataStream>
#include <QDockWidget>
#include <QIODevice>
#include <QMainWindow>
#include <QSettings>
#include <QSplitter>
#include <QToolBar>

#include "app/gui/panes/window_docks.h"
#include "views/panes/action_tips.h"

namespace pf::gui {
namespace {

/// Goes up when a pane goes or gets another name, or a plan changes: what was kept before is not used.
constexpr int kLayoutVersion = 1;
constexpr auto kDigest = QCryptographicHash::Sha1;

QString keyOf(Workspace workspace) {
  return QStringLiteral("workspace/") + nameOf(workspace);
}

/// Panes that share a place: those with tabs, the first of them in front, and those that are closed at first.
struct Tabs {
  QStringList open;
  QStringList closed;
  double share = 1;  ///< of the area's height, or width, at first
};

/// In parts of the window, but for the strip.
struct Plan {
  std::vector<Tabs> right;
  Tabs bottom;
  double rightWidth = 0;
  double bottomHeight = 0;
  bool bottomIsWhole = true;  ///< it goes below what is at the right
  Qt::Orientation centre = Qt::Vertical;
  double diagram = 0;  ///< of the centre; 0: a strip
};

constexpr int kStripHeight = 150;  ///< of the diagram, in pixels

const QStringList kRare{
    QStringLiteral("memory"),      QStringLiteral("instructions"), QStringLiteral("contents"),
    QStringLiteral("comm_matrix"), QStringLiteral("call_sites"),   QStringLiteral("rank_timeline"),
    QStringLiteral("array"),       QStringLiteral("log"),          QStringLiteral("breakpoints"),
    QStringLiteral("console"),     QStringLiteral("cycles"),       QStringLiteral("output"),
    QStringLiteral("queues"),      QStringLiteral("races"),        QStringLiteral("runs")};

QStringList words(const char* text) {
  return QString::fromLatin1(text).split(QLatin1Char(' '));
}

/// Below: these, and of the rare ones those that are not among them.
Tabs below(const char* open) {
  Tabs tabs{words(open), kRare, 1};
  tabs.closed.removeIf([&](const QString& name) { return tabs.open.contains(name); });
  return tabs;
}

Plan planOf(Workspace workspace) {
  Plan plan;
  switch (workspace) {
    case Workspace::Races:
      plan.right = {{{}, words("ranks"), 0.25},
                    {{}, words("stack stacks threads"), 0.25},
                    {{}, words("variables watches across registers"), 0.5}};
      plan.bottom = below("races runs output breakpoints cycles log queues");
      plan.rightWidth = 0.3;
      plan.bottomHeight = 0.42;
      plan.centre = Qt::Horizontal;
      plan.diagram = 0.64;
      break;
    case Workspace::Debug:
      plan.right = {{words("ranks"), {}, 0.3},
                    {words("stack stacks threads"), {}, 0.26},
                    {words("variables watches across"), words("registers"), 0.44}};
      plan.bottom = below("output breakpoints console cycles log");
      plan.rightWidth = 0.33;
      plan.bottomHeight = 0.2;
      plan.bottomIsWhole = false;
      break;
    case Workspace::Hang:
      plan.right = {{words("stacks stack ranks"), words("threads"), 0.5},
                    {{}, words("variables watches across registers"), 0.5}};
      plan.bottom = below("queues output races cycles console");
      plan.rightWidth = 0.45;
      plan.bottomHeight = 0.45;
      break;
  }
  return plan;
}

}  // namespace

QString nameOf(Workspace workspace) {
  switch (workspace) {
    case Workspace::Races:
      return QStringLiteral("races");
    case Workspace::Debug:
      return QStringLiteral("debug");
    case Workspace::Hang:
      break;
  }
  return QStringLiteral("hang");
}

std::optional<Workspace> workspaceOf(const QString& name) {
  for (const Workspace workspace : kWorkspaces) {
    if (name == nameOf(workspace)) {
      return workspace;
    }
  }
  return std::nullopt;
}

Workspaces::Workspaces(QMainWindow& window, QSplitter& centre, WindowDocks& docks)
    : QObject(&window), m_window(window), m_centre(centre), m_docks(docks) {
  makeActions();
  const QSettings settings;
  for (const Workspace workspace : kWorkspaces) {
    kept(workspace) = settings.value(keyOf(workspace)).toByteArray();
  }
  arrange(Workspace::Races);
}

void Workspaces::makeActions() {
  struct Spec {
    const char* text;
    const char* word;
    const char* tip;
    Qt::Key key;
  };
  constexpr std::array<Spec, kWorkspaces.size()> kSpecs{
      {{QT_TR_NOOP("Workspace &Races"), QT_TR_NOOP("Races"),
        QT_TR_NOOP("The diagram, and the races that the failure may depend on"), Qt::Key_1},
       {QT_TR_NOOP("Workspace De&bug"), QT_TR_NOOP("Debug"),
        QT_TR_NOOP("The source, with stack and variables of a rank, and where all are"), Qt::Key_2},
       {QT_TR_NOOP("Workspace &Hang"), QT_TR_NOOP("Hang"),
        QT_TR_NOOP("Who waits for whom, the message queues, the stacks of all ranks"), Qt::Key_3}}};
  auto* const group = new QActionGroup(this);
  for (const Workspace workspace : kWorkspaces) {
    const auto at = static_cast<std::size_t>(workspace);
    const Spec& spec = kSpecs[at];
    const QKeySequence keys(Qt::CTRL | spec.key);
    auto* const action = new QAction(tr(spec.text), &m_window);
    action->setShortcut(keys);
    action->setToolTip(
        QStringLiteral("%1 (%2)").arg(tr(spec.tip), keys.toString(QKeySequence::NativeText)));
    action->setStatusTip(tr(spec.tip));
    connect(action, &QAction::triggered, this, [this, workspace] { choose(workspace); });
    action->setObjectName(QStringLiteral("workspace ") + nameOf(workspace));
    action->setIconText(tr(spec.word));
    action->setCheckable(true);
    views::setWhyNot(*action, tr("No trace is open."));
    group->addAction(action);
    m_actions[at] = action;
  }
  m_reset = new QAction(tr("Reset this &workspace"), &m_window);
  m_reset->setStatusTip(tr("Put the panes of the present workspace back where they were at first"));
  connect(m_reset, &QAction::triggered, this, &Workspaces::reset);
  m_reset->setObjectName(QStringLiteral("resetWorkspace"));
  m_reset->setEnabled(false);
}

QList<QAction*> Workspaces::actions() const {
  return {m_actions.begin(), m_actions.end()};
}

void Workspaces::showNone() {
  leave();
  m_current.reset();
  for (QDockWidget* const dock : m_docks.all()) {
    dock->hide();
  }
  if (m_bar != nullptr) {
    m_bar->hide();
  }
}

void Workspaces::opened(Workspace fitting) {
  m_chosen = false;
  show(fitting);
}

void Workspaces::suggest(Workspace fitting) {
  if (m_current && !m_chosen) {
    show(fitting);
  }
}

void Workspaces::choose(Workspace wanted) {
  if (m_current) {
    show(wanted);
    m_chosen = true;
  }
}

void Workspaces::reset() {
  if (m_current) {
    kept(*m_current).clear();
    QSettings().remove(keyOf(*m_current));
    arrange(*m_current);
  }
}

void Workspaces::keep() {
  leave();
}

void Workspaces::leave() {
  if (m_current) {
    kept(*m_current) = layout();
    QSettings().setValue(keyOf(*m_current), kept(*m_current));
  }
}

void Workspaces::show(Workspace workspace) {
  for (QAction* const action : m_actions) {
    views::setPossible(*action);
  }
  m_reset->setEnabled(true);
  m_actions[static_cast<std::size_t>(workspace)]->setChecked(true);
  if (m_current == workspace) {
    return;
  }
  leave();
  m_current = workspace;
  m_centre.setStretchFactor(0, planOf(workspace).diagram > 0 ? 1 : 0);
  if (!apply(kept(workspace))) {
    arrange(workspace);
  }
}

/// As a digest and what it is of: damaged bytes are not even looked at.
QByteArray Workspaces::layout() const {
  QByteArray bytes;
  QDataStream out(&bytes, QIODevice::WriteOnly);
  // Where there is no diagram its size says nothing.
  const bool whole = !m_centre.widget(0)->isHidden();
  out << qint32{kLayoutVersion} << m_window.saveState(kLayoutVersion)
      << (whole ? m_centre.saveState() : QByteArray());
  return QCryptographicHash::hash(bytes, kDigest) + bytes;
}

bool Workspaces::apply(const QByteArray& layout) {
  const qsizetype digest = QCryptographicHash::hashLength(kDigest);
  const QByteArray bytes = layout.mid(digest);
  if (bytes.isEmpty() || QCryptographicHash::hash(bytes, kDigest) != layout.first(digest)) {
    return false;
  }
  QDataStream in(bytes);
  qint32 version = 0;
  QByteArray window;
  QByteArray centre;
  in >> version >> window >> centre;
  if (in.status() != QDataStream::Ok || version != kLayoutVersion ||
      !m_window.restoreState(window, kLayoutVersion)) {
    return false;
  }
  if (centre.isEmpty() || !m_centre.restoreState(centre)) {
    arrangeCentre(*m_current);
  }
  return true;
}

bool Workspaces::restore(Workspace workspace, const QByteArray& layout) {
  show(workspace);
  return apply(layout);
}

namespace {

/// Puts panes where a plan has them. What it is not told about goes to what is closed below.
class Arrangement {
 public:
  Arrangement(QMainWindow& window, const std::vector<QDockWidget*>& docks)
      : m_window(window), m_left(docks) {
    for (QDockWidget* const dock : docks) {
      dock->setFloating(false);
      m_window.removeDockWidget(dock);
    }
  }
  /// The first of them that is open, if one is; else the first.
  QDockWidget* place(const Tabs& tabs, Qt::DockWidgetArea area) {
    QDockWidget* first = nullptr;
    for (const QString& name : tabs.open + tabs.closed) {
      if (QDockWidget* const dock = take(name)) {
        put(dock, first, area);
        dock->setVisible(tabs.open.contains(name));
        first = first != nullptr ? first : dock;
      }
    }
    if (first != nullptr && !tabs.open.isEmpty()) {
      first->raise();
      m_raised.push_back(first);
    }
    return first;
  }
  void placeRest(QDockWidget* beside, Qt::DockWidgetArea area) {
    for (QDockWidget* const dock : std::exchange(m_left, {})) {
      put(dock, beside, area);
      dock->hide();
    }
    for (QDockWidget* const dock : m_raised) {
      dock->raise();
    }
  }

 private:
  QDockWidget* take(const QString& name) {
    const auto found = std::ranges::find_if(
        m_left, [&](const QDockWidget* dock) { return dock->objectName() == name; });
    if (found == m_left.end()) {
      return nullptr;
    }
    QDockWidget* const dock = *found;
    m_left.erase(found);
    return dock;
  }
  void put(QDockWidget* dock, QDockWidget* beside, Qt::DockWidgetArea area) {
    m_window.addDockWidget(area, dock);
    if (beside != nullptr) {
      m_window.tabifyDockWidget(beside, dock);
    }
  }

  QMainWindow& m_window;
  std::vector<QDockWidget*> m_left;
  std::vector<QDockWidget*> m_raised;
};

}  // namespace

void Workspaces::arrange(Workspace workspace) {
  const Plan plan = planOf(workspace);
  m_window.setCorner(Qt::BottomRightCorner,
                     plan.bottomIsWhole ? Qt::BottomDockWidgetArea : Qt::RightDockWidgetArea);
  Arrangement arrangement(m_window, m_docks.all());
  const int height = m_window.height();
  const int width = m_window.width();
  QList<QDockWidget*> column;
  QList<int> heights;
  for (const Tabs& tabs : plan.right) {
    if (QDockWidget* const first = arrangement.place(tabs, Qt::RightDockWidgetArea);
        first != nullptr && !tabs.open.isEmpty()) {
      column.append(first);
      heights.append(static_cast<int>(tabs.share * height));
    }
  }
  QDockWidget* const bottom = arrangement.place(plan.bottom, Qt::BottomDockWidgetArea);
  arrangement.placeRest(bottom, Qt::BottomDockWidgetArea);
  m_window.resizeDocks({bottom}, {static_cast<int>(plan.bottomHeight * height)}, Qt::Vertical);
  if (!column.isEmpty()) {
    m_window.resizeDocks(column, heights, Qt::Vertical);
    m_window.resizeDocks({column.first()}, {static_cast<int>(plan.rightWidth * width)},
                         Qt::Horizontal);
  }
  arrangeCentre(workspace);
  if (m_bar != nullptr) {
    m_bar->show();
  }
}

void Workspaces::arrangeCentre(Workspace workspace) {
  const Plan plan = planOf(workspace);
  m_centre.setOrientation(plan.centre);
  const int whole = plan.centre == Qt::Horizontal ? m_window.width() : m_window.height();
  const int diagram = plan.diagram > 0 ? static_cast<int>(plan.diagram * whole) : kStripHeight;
  m_centre.setSizes({diagram, std::max(1, whole - diagram)});
}

}  // namespace pf::gui

#include "moc_workspaces.cpp"
