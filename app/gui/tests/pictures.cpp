// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the pictures of docs/pictures from bundled programs and generated traces:
//     QT_QPA_PLATFORM=offscreen build/release/bin/gui_pictures docs/pictures [WHICH]
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <tuple>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QListWidget>
#include <QPainter>
#include <QPointer>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeWidget>

#include "app/gui/commands/compare_window.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/tests/window_test.h"
#include "app/trace_loading/trace_loader.h"
#include "plugins/comm_matrix/matrix_widget.h"
#include "tests/bench/views/synthetic.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/panes/array_view.h"
#include "views/panes/contents_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/framed_boxes.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/tests/dark_palette.h"

namespace {

namespace test = pf::gui::test;
using pf::views::SpaceTimeView;

constexpr QSize kSmall(1366, 768);

/// Of each language, the same numbers by rows.
struct FieldProgram {
  const char* file;
  const char* compiler;
  const char* expression;
  const char* text;
};
constexpr FieldProgram kFields[] = {
    {"field.c", "mpicc", "field", R"(#include <mpi.h>
int main(int argc, char **argv)
{
    double field[24][48];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 48; ++j)
            field[i][j] = (i - 11.5) * (i - 11.5) + (j - 30) * (j - 30) / 4.;
    field[5][7] = 0. / 0.;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return field[0][0] < 0;
}
)"},
    {"field.cpp", "mpicxx", "field", R"(#include <mpi.h>
#include <cmath>
#include <vector>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    std::vector<std::vector<double>> field(24, std::vector<double>(48));
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 48; ++j)
            field[i][j] = std::sin(i / 4.) * std::cos(j / 6.);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return field[0][0] < -1;
}
)"},
    {"field.f90", "mpifort", "field", R"(program main
  use mpi
  implicit none
  complex, allocatable :: field(:, :)
  integer :: ierr, i, j
  call MPI_Init(ierr)
  allocate (field(-11:12, 48))
  do j = 1, 48
    do i = -11, 12
      field(i, j) = cmplx(i * j / 50., abs(i) - 3.)
    end do
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (real(field(1, 1)) < 0.) print *, field(1, 1)
end program
)"},
};

using Counts = std::map<QRgb, int>;  ///< pixels of each colour

/// The colours by their counts, most first.
std::vector<std::pair<int, QRgb>> byCount(const Counts& counts) {
  std::vector<std::pair<int, QRgb>> most;
  for (const auto& [colour, count] : counts) {
    most.emplace_back(count, colour);
  }
  std::sort(most.rbegin(), most.rend());
  return most;
}

/// With 256 colours, each other one as the nearest of them, which makes files small: those that are
/// used most, and the most used one of each group of similar ones.
QImage fewColours(const QImage& image) {
  constexpr int kExact = 48;
  constexpr int kColours = 256;
  constexpr QRgb kSimilar = 0xFFF0F0F0;  // the same in these bits
  Counts counts;
  for (int y = 0; y < image.height(); ++y) {
    const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
    for (int x = 0; x < image.width(); ++x) {
      ++counts[line[x] | 0xFF000000];
    }
  }
  const auto most = byCount(counts);
  QList<QRgb> table;
  Counts groups;
  std::map<QRgb, QRgb> mostOf;
  for (const auto& [count, colour] : most) {
    if (table.size() < kExact) {
      table.append(colour);
    }
    groups[colour & kSimilar] += count;
    mostOf.emplace(colour & kSimilar, colour);
  }
  for (const auto& [count, group] : byCount(groups)) {
    if (table.size() < kColours && !table.contains(mostOf[group])) {
      table.append(mostOf[group]);
    }
  }
  return image.convertToFormat(QImage::Format_Indexed8, table, Qt::ThresholdDither);
}

struct Pictures {
  QDir out;
  QTemporaryDir traces;
  int failed = 0;

  void check(bool ok, const QString& what) {
    if (!ok) {
      std::fprintf(stderr, "gui_pictures: %s\n", qPrintable(what));
      ++failed;
    }
  }

  void save(QWidget& widget, const QString& name) {
    widget.show();
    QTest::qWait(100);
    (void)widget.grab();  // asks for what is drawn on another thread
    for (const QWidget* canvas : widget.findChildren<QWidget*>(QStringLiteral("spaceTimeCanvas"))) {
      check(QTest::qWaitFor([canvas] { return canvas->property("upToDate").toBool(); }, 60000),
            name);
    }
    QTest::qWait(100);
    save(widget.grab().toImage(), name);
  }
  void save(const QImage& image, const QString& name) {
    const QString path = out.filePath(name + QStringLiteral(".png"));
    check(fewColours(image.convertToFormat(QImage::Format_RGB32)).save(path, "PNG", 0), path);
    std::printf("%s\n", qPrintable(path));
  }
  /// One below the other.
  void save(const QList<QImage>& parts, const QString& name) {
    constexpr int kGap = 6;
    QSize size(0, -kGap);
    for (const QImage& part : parts) {
      size = QSize(std::max(size.width(), part.width()), size.height() + part.height() + kGap);
    }
    QImage all(size, QImage::Format_RGB32);
    all.fill(QApplication::palette().color(QPalette::Mid));
    QPainter painter(&all);
    int top = 0;
    for (const QImage& part : parts) {
      painter.drawImage(0, top, part);
      top += part.height() + kGap;
    }
    painter.end();
    save(all, name);
  }

  /// In both sets of colours.
  void saveBoth(QWidget& widget, const QString& name) {
    const QPalette light = QApplication::palette();
    save(widget, name + QStringLiteral("-light"));
    QApplication::setPalette(pf::views::test::darkPalette());
    save(widget, name + QStringLiteral("-dark"));
    QApplication::setPalette(light);
  }

  pf::views::TraceIndexPtr load(const QString& path) {
    pf::Result<pf::session::LoadedTrace> trace = pf::session::loadTrace(path);
    check(trace.ok(), path);
    return trace.ok() ? pf::views::makeIndex(trace->data) : nullptr;
  }

  pf::views::TraceIndexPtr generated(const QString& name, const pf::bench::Traffic& traffic) {
    const QString path = traces.filePath(name);
    check(pf::bench::writeSyntheticTrace(path.toStdString(), traffic).ok(), path);
    return load(path);
  }

  QString recorded(const char* program, int ranks, int seed) {
    const QString path =
        traces.filePath(QStringLiteral("%1-%2.pft").arg(QLatin1String(program).right(7)).arg(seed));
    const test::Recorded run = test::record(path,
                                            {QStringLiteral("--mode"), QStringLiteral("all"),
                                             QStringLiteral("--jitter"), QString::number(seed)},
                                            ranks, test::bin(program));
    check(QFile::exists(path), QString::fromUtf8(run.output));
    return path;
  }

  void diagrams() {
    SpaceTimeView view;
    view.resize(1200, 470);
    const pf::views::TraceIndexPtr four = load(recorded("corpus/harvest", 4, 1));
    view.setTrace(four);
    saveBoth(view, QStringLiteral("exact-4-ranks"));
    int most = 0;
    for (std::size_t i = 0; i < four->data().races.size(); ++i) {
      const auto& race = four->data().races[i];
      most = race.alternatives.size() >
                     four->data().races[static_cast<std::size_t>(most)].alternatives.size()
                 ? static_cast<int>(i)
                 : most;
    }
    view.selectRace(most);
    view.canvas()->eventCursor().zoomToSelection();
    view.canvas()->eventCursor().stepAlternative(1);
    saveBoth(view, QStringLiteral("race-with-ghosts"));
    view.resize(1200, 640);
    pf::bench::Traffic traffic;
    traffic.events = 36000;
    traffic.ranks = 64;
    view.setTrace(generated(QStringLiteral("dense.pft"), traffic));
    saveBoth(view, QStringLiteral("dense-64-ranks"));
    traffic.events = 1900000;
    traffic.ranks = 1024;
    view.setTrace(generated(QStringLiteral("overview.pft"), traffic));
    saveBoth(view, QStringLiteral("overview-1024-ranks"));
  }

  /// One rank of four runs; the recording is one of a run that failed, if one of some does.
  void partOfJob() {
    const QString path = traces.filePath(QStringLiteral("harvest.pft"));
    for (int seed = 1; seed < 40; ++seed) {
      const test::Recorded run =
          test::record(path,
                       {QStringLiteral("--mode"), QStringLiteral("all"), QStringLiteral("--groups"),
                        QStringLiteral("each"), QStringLiteral("--jitter"), QString::number(seed)},
                       4, test::bin("corpus/harvest"));
      if (run.status != 0 && run.output.contains("reports")) {
        break;
      }
    }
    QString problem;
    const auto window = test::open(path, &problem);
    check(window != nullptr, problem);
    if (window == nullptr) {
      return;
    }
    window->resize(1400, 900);
    window->resizeDocks({window->findChild<QDockWidget*>(QStringLiteral("ranks"))}, {430},
                        Qt::Horizontal);
    QSignalSpy settled(&window->session(), &pf::session::DebugSession::settled);
    window->ranks().setCurrentRank(0);
    window->findChild<QAction*>(QStringLiteral("debugOnly"))->trigger();
    check(settled.wait(test::kPatience), window->statusText());
    QTest::qWait(1000);
    save(*window, QStringLiteral("part-of-job"));
  }

  /// The window with a pane that is higher than it is at first.
  std::unique_ptr<pf::gui::MainWindow> openWith(const QString& path, const char* pane) {
    QString problem;
    auto window = test::open(path, &problem);
    check(window != nullptr, problem);
    if (window != nullptr) {
      window->resize(1400, 900);
      auto* dock = window->findChild<QDockWidget*>(QLatin1String(pane));
      dock->show();
      dock->raise();
      window->resizeDocks({dock}, {430}, Qt::Vertical);
    }
    return window;
  }

  /// What a rank received, by its datatype.
  void contents() {
    const QString path = traces.filePath(QStringLiteral("typed.pft"));
    const test::Recorded run = test::record(path,
                                            {QStringLiteral("--mode"), QStringLiteral("all"),
                                             QStringLiteral("--groups"), QStringLiteral("each")},
                                            3, test::bin("e2e/typed"));
    check(run.status == 0, QString::fromUtf8(run.output));
    const auto window = openWith(path, "contents");
    if (window == nullptr) {
      return;
    }
    const auto& trace = *window->session().trace();
    const auto& events = trace.execution.ranks[1].events;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (trace.execution.callNames[events[i].call] == "MPI_Wait") {
        window->diagram().selectEvent({1, i + 1});
        break;
      }
    }
    auto* view = window->findChild<pf::views::ContentsView*>();
    check(QTest::qWaitFor([view] { return !view->contents().isEmpty(); }, test::kPatience),
          view->note());
    save(*window, QStringLiteral("contents"));
  }

  /// Eight ranks that talk in pairs, and the groups that are found.
  void groupsInMatrix() {
    const QString path = traces.filePath(QStringLiteral("pairs.pft"));
    const test::Recorded run = test::record(path, {QStringLiteral("--mode"), QStringLiteral("all")},
                                            8, test::bin("e2e/pairs"));
    check(run.status == 0, QString::fromUtf8(run.output));
    const auto window = openWith(path, "comm_matrix");
    if (window == nullptr) {
      return;
    }
    auto* matrix = window->findChild<pf::plugins::MatrixWidget*>();
    matrix->setMost(3);
    matrix->findChild<QComboBox*>()->setCurrentIndex(1);  // bytes
    matrix->findChild<QPushButton*>(QStringLiteral("findGroups"))->click();
    check(QTest::qWaitFor(
              [matrix] { return matrix->groupsText().contains(QStringLiteral("would leave")); },
              test::kPatience),
          matrix->groupsText());
    save(*matrix, QStringLiteral("groups-in-matrix"));
  }

  /// The first run of it that fails.
  QString failing(const char* program, int ranks) { return failing(test::bin(program), ranks); }
  QString failing(const QString& program, int ranks) {
    return failing(QStringList{program}, ranks);
  }
  QString failing(const QStringList& program, int ranks) {
    const QString path = traces.filePath(program.last().section(QLatin1Char('/'), -1) +
                                         QStringLiteral("-failing.pft"));
    if (QFile::exists(path)) {
      return path;
    }
    for (int seed = 1; seed < 60; ++seed) {
      const test::Recorded run = test::record(path,
                                              {QStringLiteral("--mode"), QStringLiteral("all"),
                                               QStringLiteral("--jitter"), QString::number(seed)},
                                              ranks, program);
      if (run.status != 0) {
        return path;
      }
    }
    check(false, path);
    return path;
  }

  /// `make` is given the end of a picture's name.
  void inBothColours(const std::function<void(const QString& colours)>& make) {
    const QPalette light = QApplication::palette();
    make(QStringLiteral("-light"));
    QApplication::setPalette(pf::views::test::darkPalette());
    make(QStringLiteral("-dark"));
    QApplication::setPalette(light);
  }

  bool execute(const QString& program, const QStringList& words) {
    const bool ok = QProcess::execute(program, words) == 0;
    check(ok, program + QLatin1Char(' ') + words.join(QLatin1Char(' ')));
    return ok;
  }

  /// What each kind of failure is told by, above the diagram: a status, a signal, an abort, a deadlock, a collective call that
  /// a rank did not enter, an exception of Python.
  void failures() {
    const auto lesson = [this](const char* compiler, const char* source) {
      const QString from = QStringLiteral(PF_TUTORIAL "/") + QString::fromLatin1(source);
      const QString program = traces.filePath(QFileInfo(from).baseName());
      execute(QString::fromLatin1(compiler),
              {QStringLiteral("-g"), QStringLiteral("-o"), program, from});
      return program;
    };
    const QStringList runs{failing("corpus/harvest", 4),
                           failing(lesson("mpicxx", "06-closed-too-soon/shop.cpp"), 8),
                           failing("corpus/mpi_abort_in_order", 4),
                           failing("corpus/deadlock_in_order", 3),
                           failing(lesson("mpicxx", "03-one-left-early/heat.cpp"), 4),
                           failing(bank(), 4)};
    inBothColours([&](const QString& colours) {
      QList<QImage> banners;
      for (const QString& run : runs) {
        QString problem;
        const auto window = test::open(run, &problem);
        check(window != nullptr, problem);
        if (window != nullptr) {
          window->resize(kSmall);
          QTest::qWait(1500);
          banners << window->findChild<QWidget*>(QStringLiteral("failureBanner"))->grab().toImage();
        }
      }
      save(banners, QStringLiteral("failures") + colours);
    });
  }

  /// Rank 0 before its first event behind MPI_Init, with GDB.
  std::unique_ptr<pf::gui::MainWindow> replayed(const QString& path, pf::Serial event) {
    QString problem;
    auto window = test::open(path, &problem);
    check(window != nullptr, problem);
    if (window != nullptr) {
      window->resize(kSmall);
      QSignalSpy settled(&window->session(), &pf::session::DebugSession::settled);
      window->session().replayTo({0, event});
      check(settled.wait(test::kPatience), window->statusText());
      check(
          QTest::qWaitFor([&] { return window->stack().model()->rowCount() > 0; }, test::kPatience),
          window->statusText());
      QTest::qWait(1000);
    }
    return window;
  }

  /// The same field by a heat map, in C, C++ and Fortran.
  void arrays() {
    inBothColours([this](const QString& colours) {
      QList<QImage> panes;
      for (const FieldProgram& each : kFields) {
        const QString source = traces.filePath(QLatin1String(each.file));
        const QString program = source + QStringLiteral(".out");
        const QString trace = source + QStringLiteral(".pft");
        QFile file(source);
        check(file.open(QIODevice::WriteOnly) && file.write(each.text) > 0, source);
        file.close();
        execute(QString::fromLatin1(each.compiler),
                {QStringLiteral("-g"), QStringLiteral("-o"), program, source});
        const test::Recorded run =
            test::record(trace, {QStringLiteral("--mode"), QStringLiteral("all")}, 2, program);
        check(run.status == 0, QString::fromUtf8(run.output));
        const auto window = replayed(trace, 2);
        if (window == nullptr) {
          continue;
        }
        auto& array = window->looking().array();
        auto* dock = window->findChild<QDockWidget*>(QStringLiteral("array"));
        check(dock != nullptr, QStringLiteral("array"));
        dock->setFloating(true);
        dock->show();
        dock->resize(1100, 380);
        array.ask(QString::fromLatin1(each.expression));
        check(QTest::qWaitFor([&array] { return array.table()->model()->rowCount() > 0; },
                              test::kPatience),
              array.text());
        QTest::qWait(500);
        panes << array.grab().toImage();
        window->session().endReplay();
      }
      save(panes, QStringLiteral("arrays") + colours);
    });
  }

  /// Frames, source and variables of Python, at the receive before its exception.
  void python() {
    const QString path = failing(bank(), 4);
    inBothColours([&](const QString& colours) {
      QString problem;
      const auto window = test::open(path, &problem);
      check(window != nullptr, problem);
      if (window == nullptr) {
        return;
      }
      window->resize(kSmall);
      QSignalSpy settled(&window->session(), &pf::session::DebugSession::settled);
      window->session().go(pf::session::Move::Failure);
      check(settled.wait(test::kPatience), window->statusText());
      QTest::qWait(2000);
      save(*window, QStringLiteral("python") + colours);
      window->session().endReplay();
    });
  }
  static QStringList bank() {
    return {QStringLiteral("/usr/bin/python3"),
            QStringLiteral(PF_TUTORIAL "/07-not-yet-open/bank.py")};
  }

  /// The third lesson, to be read beside the window.
  void tutorial() {
    inBothColours([this](const QString& colours) {
      pf::gui::MainWindow window;
      window.show();
      window.findChild<QAction*>(QStringLiteral("tutorial"))->trigger();
      const QWidgetList all = QApplication::topLevelWidgets();
      const auto found = std::find_if(all.begin(), all.end(), [](const QWidget* each) {
        return each->objectName() == QLatin1String("tutorialWindow");
      });
      check(found != all.end(), window.statusText());
      if (found == all.end()) {
        return;
      }
      const QPointer<QWidget> lessons = *found;
      lessons->findChild<QListWidget*>()->setCurrentRow(2);
      save(*lessons, QStringLiteral("tutorial") + colours);
      lessons->close();
      check(QTest::qWaitFor([&lessons] { return lessons.isNull(); }, test::kPatience),
            QStringLiteral("tutorial"));
    });
  }

  /// What a run that failed is opened with, its replay, a hang; in both sets of colours, on a small screen.
  void workspaces() {
    inBothColours([this](const QString& colours) { workspaces(colours); });
  }

  void workspaces(const QString& colours) {
    QSettings().remove(QStringLiteral("recent"));
    pf::gui::MainWindow start;
    start.resize(kSmall);
    save(start, QStringLiteral("start-page") + colours);
    for (const auto& [name, program, ranks, replays] :
         {std::tuple("workspace-races", "corpus/harvest", 4, false),
          std::tuple("workspace-debug", "corpus/harvest", 4, true),
          std::tuple("workspace-hang", "corpus/deadlock_in_order", 3, false)}) {
      pf::gui::MainWindow window;
      window.resize(kSmall);
      window.show();
      QSignalSpy opened(&window, &pf::gui::MainWindow::opened);
      window.openTrace(failing(program, ranks));
      check(opened.wait(test::kPatience), window.statusText());
      if (replays) {
        QSignalSpy settled(&window.session(), &pf::session::DebugSession::settled);
        window.session().go(pf::session::Move::Failure);
        check(settled.wait(test::kPatience), window.statusText());
      }
      QTest::qWait(1500);
      save(window, QString::fromLatin1(name) + colours);
      window.session().endReplay();
      check(QTest::qWaitFor([&] { return !window.session().isReplaying(); }, test::kPatience),
            window.statusText());
    }
  }

  void comparison() {
    const QString a = recorded("corpus/harvest", 4, 1);
    QString b;
    for (int seed = 2; seed < 40; ++seed) {
      b = recorded("corpus/harvest", 4, seed);
      if (QProcess::execute(test::bin("photofinish"), {QStringLiteral("diff"), a, b}) == 1) {
        break;
      }
    }
    QString problem;
    const auto window = test::open(a, &problem);
    check(window != nullptr, problem);
    if (window == nullptr) {
      return;
    }
    QSignalSpy compared(window.get(), &pf::gui::MainWindow::compared);
    window->compareWith(b);
    auto* other = compared.wait(test::kPatience)
                      ? compared.first().first().value<pf::gui::CompareWindow*>()
                      : nullptr;
    check(other != nullptr, window->statusText());
    if (other != nullptr) {
      other->resize(1200, 820);
      save(*other, QStringLiteral("comparison"));
      other->close();
    }
    window->resize(1400, 900);
    window->races().setFocus();
    if (!window->diagram().canvas()->trace()->data().races.empty()) {
      window->diagram().selectRace(0);
    }
    save(*window, QStringLiteral("window"));
  }
};

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setStyle(new pf::views::FramedBoxes(QStringLiteral("Fusion")));
  Pictures pictures;
  test::setUp(pictures.traces.path());
  pictures.out = QDir(argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("docs/pictures"));
  pictures.check(QDir().mkpath(pictures.out.path()), pictures.out.path());
  const std::pair<const char*, void (Pictures::*)()> kAll[] = {
      {"workspaces", &Pictures::workspaces}, {"failures", &Pictures::failures},
      {"arrays", &Pictures::arrays},         {"python", &Pictures::python},
      {"tutorial", &Pictures::tutorial},     {"contents", &Pictures::contents},
      {"groups", &Pictures::groupsInMatrix}, {"part", &Pictures::partOfJob},
      {"diagrams", &Pictures::diagrams},     {"comparison", &Pictures::comparison}};
  for (const auto& [name, make] : kAll) {
    if (argc <= 2 || qstrcmp(argv[2], name) == 0) {
      (pictures.*make)();
    }
  }
  return pictures.failed == 0 ? 0 : 1;
}
