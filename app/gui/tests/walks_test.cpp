// SPDX-License-Identifier: GPL-3.0-or-later
// The way through the window from a trace to a comparison, by keys alone and by the mouse alone.
// Events go through the window system's queue to whatever has the focus, or lies under the pointer:
// what cannot be reached so fails here.
#include <functional>

#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QGuiApplication>
#include <QImage>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QTreeWidget>
#include <QWindow>

#include "app/gui/commands/compare_window.h"
#include "app/gui/commands/key_bindings.h"
#include "app/gui/panes/pane_export.h"
#include "app/gui/panes/workspaces.h"
#include "app/gui/tests/window_test.h"
#include "plugins/queues/queues.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/canvas/space_time_hits.h"
#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/minimap.h"
#include "views/diagram/tools/search_bar.h"
#include "views/models/rank_models.h"
#include "views/panes/race_classes_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"

namespace {

namespace test = pf::gui::test;
using pf::EventRef;
using test::kPatience;

class WalksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void init();
  void cleanup();
  void byKeyboard();
  void byMouse();
  void ranksShownAreKept();
  void panesAreExported();

 private:
  pf::views::SpaceTimeCanvas& canvas() { return *m_window->diagram().canvas(); }
  QWidget* pane(const char* name) {
    return m_window->findChild<QWidget*>(QString::fromLatin1(name));
  }

  /// To the window that has the keyboard, or to the popup in front of it.
  static void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(QGuiApplication::focusWindow(), key, modifiers);
  }
  static void type(const QString& text) {
    for (const QChar letter : text) {
      QTest::keyClick(QGuiApplication::focusWindow(), letter.toLatin1());
    }
  }
  static void click(QWidget* widget, QPoint at, Qt::MouseButton button = Qt::LeftButton) {
    QWidget* const top = widget->window();
    QTest::mouseClick(top->windowHandle(), button, Qt::NoModifier, widget->mapTo(top, at));
  }
  static void clickMiddle(QWidget* widget) { click(widget, widget->rect().center()); }
  static void clickItem(QAbstractItemView* view, int row, int column = 0);
  void clickMenu(const QString& menu, const QString& item);
  void clickTab(const QString& title);
  static QAction* find(const QList<QAction*>& actions, const QString& text);
  /// Calls `answer` once a file dialog is there.
  void whenAsked(const std::function<void(QFileDialog&)>& answer);
  static void waitForReplay(pf::session::DebugSession& session, EventRef event);
  void endReplay();

  QTemporaryDir m_directory;
  std::unique_ptr<pf::gui::MainWindow> m_window;
  bool m_asked = false;
};

void WalksTest::initTestCase() {
  test::setUp(m_directory.path());
  QVERIFY(QDir::setCurrent(m_directory.path()));
  for (const int seed : {1, 2}) {
    const test::Recorded run = test::record(
        QStringLiteral("%1.pft").arg(seed == 1 ? QLatin1String("a") : QLatin1String("b")),
        {QStringLiteral("--mode"), QStringLiteral("all"), QStringLiteral("--jitter"),
         QString::number(seed)},
        4, test::bin("corpus/any_source_sum"));
    QVERIFY2(run.status == 0, run.output.constData());
  }
}

void WalksTest::init() {
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->resize(1366, 768);  // the smallest screen that everything has to fit on
  m_window->show();
  m_window->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void WalksTest::cleanup() {
  endReplay();
  m_window.reset();
}

void WalksTest::endReplay() {
  m_window->session().endReplay();
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->session().isReplaying(), kPatience);
}

void WalksTest::clickItem(QAbstractItemView* view, int row, int column) {
  const QModelIndex index = view->model()->index(row, column, view->rootIndex());
  view->scrollTo(index);
  click(view->viewport(), view->visualRect(index).center());
}

QAction* WalksTest::find(const QList<QAction*>& actions, const QString& text) {
  for (QAction* action : actions) {
    if (action->text().remove(QLatin1Char('&')).startsWith(text)) {
      return action;
    }
  }
  return nullptr;
}

void WalksTest::clickMenu(const QString& menu, const QString& item) {
  QMenuBar* const bar = m_window->menuBar();
  QAction* const top = find(bar->actions(), menu);
  QVERIFY(top != nullptr);
  click(bar, bar->actionGeometry(top).center());
  QMenu* const popup = top->menu();
  QTRY_VERIFY(popup->isVisible());
  QAction* const action = find(popup->actions(), item);
  QVERIFY2(action != nullptr && action->isEnabled(), qPrintable(item));
  click(popup, popup->actionGeometry(action).center());
}

void WalksTest::clickTab(const QString& title) {
  for (QTabBar* bar : m_window->findChildren<QTabBar*>()) {
    for (int i = 0; i < bar->count(); ++i) {
      if (bar->tabText(i) != title || !bar->isVisible()) {
        continue;
      }
      QToolButton* right = nullptr;
      for (QToolButton* button : bar->findChildren<QToolButton*>()) {
        right = button->arrowType() == Qt::RightArrow ? button : right;
      }
      for (int n = 0; n < 40 && !bar->rect().contains(bar->tabRect(i).center() + QPoint(40, 0)) &&
                      right != nullptr && right->isVisible() && right->isEnabled();
           ++n) {
        clickMiddle(right);
      }
      click(bar, bar->tabRect(i).center());
      return;
    }
  }
  QFAIL(qPrintable(title));
}

void WalksTest::whenAsked(const std::function<void(QFileDialog&)>& answer) {
  m_asked = false;
  auto* timer = new QTimer(this);
  connect(timer, &QTimer::timeout, this, [this, timer, answer] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr || QGuiApplication::focusWindow() != dialog->windowHandle()) {
      return;
    }
    timer->stop();
    timer->deleteLater();
    m_asked = true;
    answer(*dialog);
  });
  timer->start(50);
}

void WalksTest::waitForReplay(pf::session::DebugSession& session, EventRef event) {
  QTRY_VERIFY_WITH_TIMEOUT(session.isReplaying() && session.rankStates()[event.rank].activity ==
                                                        pf::values::RankActivity::Stopped,
                           kPatience);
  QCOMPARE(session.currentRank(), event.rank);
}

void WalksTest::byKeyboard() {
  // Open.
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  whenAsked([this](QFileDialog&) {
    type(m_directory.filePath(QStringLiteral("a.pft")));
    press(Qt::Key_Return);
  });
  press(Qt::Key_O, Qt::ControlModifier);
  QVERIFY(opened.size() == 1 || opened.wait(9000));
  QVERIFY(m_asked);
  QVERIFY(opened.first().first().toBool());
  m_window->activateWindow();  // as a window manager does; the offscreen platform has none
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
  QVERIFY(canvas().hasFocus());  // ready for the next key

  // The overview: zoom in, and move what is in view.
  press(Qt::Key_Plus);
  press(Qt::Key_Plus);
  press(Qt::Key_O);
  QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("minimap"));
  press(Qt::Key_Home);
  const double start = canvas().view().t0;
  press(Qt::Key_Right);
  QVERIFY(canvas().view().t0 > start);
  press(Qt::Key_Return);
  QVERIFY(canvas().hasFocus());
  QVERIFY(!m_window->session().isReplaying());  // Enter was the overview's

  // Search.
  press(Qt::Key_Slash);
  QVERIFY(m_window->diagram().searchBar()->edit()->hasFocus());
  type(QStringLiteral("kind:racing"));
  press(Qt::Key_Return);
  const EventRef found = m_window->diagram().selectedEvent();
  QVERIFY(found.valid());
  QVERIFY(!canvas().trace()->races().at(found).empty());
  press(Qt::Key_Escape);
  QVERIFY(canvas().hasFocus());

  // A class of races, and one race of it.
  press(Qt::Key_3, Qt::AltModifier);
  QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("raceClasses"));
  press(Qt::Key_Down);
  QVERIFY(m_window->races().classes()->selectedRow() > 0);
  press(Qt::Key_Tab);
  QVERIFY(m_window->races().filterEdit()->hasFocus());
  press(Qt::Key_Tab);
  QVERIFY(m_window->races().table()->hasFocus());
  press(Qt::Key_Home, Qt::ControlModifier);
  press(Qt::Key_Down);
  const int race = m_window->races().selectedRace();
  QVERIFY(race >= 0);
  const EventRef receive = canvas().trace()->races().eventOf(static_cast<std::size_t>(race));
  QCOMPARE(m_window->diagram().selectedEvent(), receive);

  // What it could have taken, in the diagram; the race's details follow.
  press(Qt::Key_1, Qt::AltModifier);
  QVERIFY(canvas().hasFocus());
  press(Qt::Key_A);
  QCOMPARE(canvas().eventCursor().alternative(), 1);
  QCOMPARE(m_window->diagram().selectedEvent(), receive);
  QVERIFY(m_window->races().details()->currentItem() != nullptr);
  QCOMPARE(m_window->races().details()->currentItem()->text(0), QStringLiteral("alternative 1"));

  // Replay to here.
  press(Qt::Key_Return);
  waitForReplay(m_window->session(), receive);

  // The queues where the replay is.
  press(Qt::Key_8, Qt::AltModifier);
  QWidget* const queues = pane("queues");
  QVERIFY(queues != nullptr);
  QTRY_VERIFY(m_window->findChild<QWidget*>(QStringLiteral("queues")) != nullptr);
  QVERIFY(qobject_cast<QTableView*>(QApplication::focusWidget()) != nullptr);
  QVERIFY(QApplication::focusWidget()->isVisible());
  press(Qt::Key_F5, Qt::ShiftModifier);
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->session().isReplaying(), kPatience);

  // Compare, by the menu.
  QSignalSpy compared(m_window.get(), &pf::gui::MainWindow::compared);
  whenAsked([this](QFileDialog&) {
    type(m_directory.filePath(QStringLiteral("b.pft")));
    press(Qt::Key_Return);
  });
  press(Qt::Key_F, Qt::AltModifier);
  QTRY_VERIFY(QApplication::activePopupWidget() != nullptr);
  QMenu* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  for (int i = 0; i < 20 && (menu->activeAction() == nullptr ||
                             !menu->activeAction()->text().startsWith(QLatin1String("&Compare")));
       ++i) {
    press(Qt::Key_Down);
  }
  press(Qt::Key_Return);
  QVERIFY(compared.size() == 1 || compared.wait(9000));
  const QPointer<pf::gui::CompareWindow> other =
      compared.first().first().value<pf::gui::CompareWindow*>();
  QVERIFY(other != nullptr);
  other->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(other));
  QVERIFY(other->differences()->hasFocus());
  press(Qt::Key_Down);
  press(Qt::Key_Return);
  QVERIFY(other->diagram(false)->canvas()->hasFocus());
  press(Qt::Key_Right);
  QVERIFY(other->diagram(false)->selectedEvent().valid());
  press(Qt::Key_Escape);  // no selection
  press(Qt::Key_Escape);  // no window
  QTRY_VERIFY(other == nullptr);
}

void WalksTest::byMouse() {
  const auto choose = [](const QString& name) {
    return [name](QFileDialog& dialog) {
      auto* list = dialog.findChild<QListView*>(QStringLiteral("listView"));
      QVERIFY(list != nullptr);
      int row = -1;
      QTRY_VERIFY_WITH_TIMEOUT(
          [&] {
            for (int i = 0; i < list->model()->rowCount(list->rootIndex()); ++i) {
              row =
                  list->model()->index(i, 0, list->rootIndex()).data().toString() == name ? i : row;
            }
            return row >= 0;
          }(),
          kPatience);
      clickItem(list, row);
      for (QPushButton* button : dialog.findChildren<QPushButton*>()) {
        if (button->text().remove(QLatin1Char('&')) == QLatin1String("Open")) {
          clickMiddle(button);
          return;
        }
      }
      QFAIL("no button to open");
    };
  };
  // Open.
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  whenAsked(choose(QStringLiteral("a.pft")));
  clickMenu(QStringLiteral("File"), QStringLiteral("Open trace"));
  QVERIFY(opened.size() == 1 || opened.wait(9000));
  QVERIFY(opened.first().first().toBool());
  QTRY_VERIFY(canvas().isVisible());

  // Zoom by a drag on the axis, and move in the overview.
  const pf::views::SpaceTimeGeometry g = canvas().view();
  QWindow* const window = m_window->windowHandle();
  const auto onAxis = [&](double share) {
    return canvas().mapTo(
        m_window.get(),
        QPointF(g.plot.left() + g.plot.width() * share, g.plot.top() / 2).toPoint());
  };
  QTest::mousePress(window, Qt::LeftButton, {}, onAxis(0.1));
  QTest::mouseMove(window, onAxis(0.2));
  QTest::mouseMove(window, onAxis(0.4));
  QTest::mouseRelease(window, Qt::LeftButton, {}, onAxis(0.4));
  QVERIFY(canvas().view().t1 - canvas().view().t0 < (g.t1 - g.t0) * 0.5);
  QWidget* const overview = pane("minimap");
  const double start = canvas().view().t0;
  click(overview, {overview->width() / 2, overview->height() / 2});
  QVERIFY(canvas().view().t0 != start);

  // Search, from what is proposed.
  auto* proposals = m_window->diagram().findChild<QToolButton*>(QStringLiteral("searchProposals"));
  QTimer::singleShot(100, this, [proposals] {
    QAction* racing = find(proposals->menu()->actions(), QStringLiteral("Racing receives"));
    QVERIFY(racing != nullptr);
    click(proposals->menu(), proposals->menu()->actionGeometry(racing).center());
  });
  clickMiddle(proposals);
  QTRY_VERIFY(m_window->diagram().selectedEvent().valid());
  QVERIFY(!canvas().found()->hits.empty());

  // A class of races, and one race of it.
  auto* classes = m_window->findChild<QTableView*>(QStringLiteral("raceClasses"));
  clickItem(classes, 1);
  QVERIFY(m_window->races().classes()->selectedRow() > 0);
  clickItem(m_window->races().table(), 1);
  const int race = m_window->races().selectedRace();
  QVERIFY(race >= 0);
  const EventRef receive = canvas().trace()->races().eventOf(static_cast<std::size_t>(race));
  QCOMPARE(m_window->diagram().selectedEvent(), receive);

  // One of the dashed lines.
  const auto& all = canvas().trace()->data().races[static_cast<std::size_t>(race)].alternatives;
  QVERIFY(!all.empty());
  const auto button = [this](QAction* action) {
    for (QToolBar* bar : m_window->findChildren<QToolBar*>()) {
      if (QWidget* widget = bar->widgetForAction(action); widget != nullptr) {
        return widget;
      }
    }
    return static_cast<QWidget*>(nullptr);
  };
  clickMiddle(button(m_window->diagram().viewActions().at(2)));  // Fit
  const pf::views::SpaceTimeGeometry now = canvas().view();
  const QPointF to = now.point(
      *canvas().trace(), canvas().trace()->races().completionOf(static_cast<std::size_t>(race)));
  const QPointF from =
      now.point(*canvas().trace(), canvas().trace()->execution().messages[all.front()].send);
  for (double share = 0.25; share < 0.8 && canvas().eventCursor().alternative() == 0;
       share += 0.05) {
    const QPointF at = from + (to - from) * share;
    if (!pf::views::eventAt(*canvas().trace(), canvas().view(), at).valid()) {
      click(&canvas(), at.toPoint());
    }
  }
  QVERIFY(canvas().eventCursor().alternative() > 0);
  QCOMPARE(m_window->diagram().selectedEvent(), receive);
  QVERIFY(
      m_window->races().details()->currentItem()->text(0).startsWith(QLatin1String("alternative")));

  // Replay to here.
  clickMiddle(button(m_window->diagram().action(pf::views::DiagramAction::ReplayHere)));
  waitForReplay(m_window->session(), receive);

  // The queues where the replay is.
  clickMiddle(button(m_window->workspaces().actions().at(2)));
  clickTab(QStringLiteral("Message queues"));
  QTRY_VERIFY(pane("queues")->isVisible());
  clickMenu(QStringLiteral("Replay"), QStringLiteral("End replay"));
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->session().isReplaying(), kPatience);

  // Compare.
  QSignalSpy compared(m_window.get(), &pf::gui::MainWindow::compared);
  whenAsked(choose(QStringLiteral("b.pft")));
  clickMenu(QStringLiteral("File"), QStringLiteral("Compare with"));
  QVERIFY(compared.size() == 1 || compared.wait(9000));
  const QPointer<pf::gui::CompareWindow> other =
      compared.first().first().value<pf::gui::CompareWindow*>();
  QVERIFY(other != nullptr);
  other->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(other));
  if (other->differences()->topLevelItemCount() > 0) {
    clickItem(other->differences(), 0);
    QVERIFY(other->diagram(true)->selectedEvent().valid());
  }
  other->close();
}

void WalksTest::ranksShownAreKept() {
  const auto opened = [this] {
    QSignalSpy spy(m_window.get(), &pf::gui::MainWindow::opened);
    m_window->openTrace(QStringLiteral("a.pft"));
    return spy.wait(kPatience) && spy.first().first().toBool();
  };
  QVERIFY(opened());
  QVERIFY(m_window->diagram().arrangement().isPlain());
  pf::views::RankArrangement to;
  to.hide({1});
  to.order = pf::views::RankOrder::Racing;
  m_window->diagram().setArrangement(to);
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QVERIFY(opened());
  QVERIFY(m_window->diagram().arrangement() == to);
  find(m_window->diagram().rankActions(), QStringLiteral("Show all ranks"))->trigger();
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  QVERIFY(opened());
  QVERIFY(m_window->diagram().arrangement().isPlain());
}

void WalksTest::panesAreExported() {
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  m_window->openTrace(QStringLiteral("a.pft"));
  QVERIFY(opened.wait(kPatience));
  int tables = 0;
  for (QDockWidget* dock : m_window->findChildren<QDockWidget*>()) {
    const QString name = dock->objectName();
    // By its command, as by the palette.
    auto* action = m_window->findChild<QAction*>(QStringLiteral("export ") + name);
    QVERIFY2(action != nullptr, qPrintable(name));
    const auto commands = m_window->keys().commands();
    QVERIFY(std::any_of(commands.begin(), commands.end(), [&](const pf::views::Command& command) {
      return command.text == QStringLiteral("Export ") + dock->windowTitle();
    }));
    QVERIFY(dock->actions().contains(action));
    dock->show();
    dock->raise();
    for (const char* suffix : {"svg", "png"}) {
      const QString path = m_directory.filePath(name + QLatin1Char('.') + QLatin1String(suffix));
      QString said;
      bool bad = true;
      pf::gui::exportPane(*dock->widget(), path, [&](const QString& text, bool problem) {
        said = text;
        bad = problem;
      });
      QVERIFY2(!bad, qPrintable(said));
      if (path.endsWith(QLatin1String("png"))) {
        QCOMPARE(QImage(path).size(), dock->widget()->size() * 2);
      } else {
        QVERIFY(QFileInfo(path).size() > 300);
      }
    }
    tables += pf::gui::tableOf(*dock->widget()) != nullptr ? 1 : 0;
  }
  QVERIFY(tables > 8);
  // The rows of a table.
  const auto csv = [this](QWidget& pane, const QString& name, bool* bad) {
    QString said;
    pf::gui::exportPane(pane, m_directory.filePath(name), [&](const QString& text, bool problem) {
      said = text;
      *bad = problem;
    });
    (void)QTest::qWaitFor([&] { return !said.isEmpty(); }, kPatience);
    QFile file(m_directory.filePath(name));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : said;
  };
  auto* timeline = m_window->findChild<QDockWidget*>(QStringLiteral("rank_timeline"));
  timeline->raise();
  QTest::qWait(50);
  bool bad = true;
  const QStringList lines =
      csv(*timeline->widget(), QStringLiteral("t.csv"), &bad).split(QLatin1Char('\n'));
  QVERIFY(!bad);
  QVERIFY2(lines.first().startsWith(QLatin1String("Event,Time,Call,Peer")),
           qPrintable(lines.first()));
  QCOMPARE(static_cast<pf::Serial>(lines.size()), canvas().trace()->lastSerial(0) + 2);
  QVERIFY(lines[1].startsWith(QLatin1String("1,")));
  // What cannot be.
  (void)csv(*pane("spaceTimeView"), QStringLiteral("d.csv"), &bad);
  QVERIFY(bad);
  (void)csv(*timeline->widget(), QStringLiteral("t.doc"), &bad);
  QVERIFY(bad);
  (void)csv(*timeline->widget(), QStringLiteral("no/such/place.csv"), &bad);
  QVERIFY(bad);
}

}  // namespace

QTEST_MAIN(WalksTest)
#include "walks_test.moc"
