// SPDX-License-Identifier: GPL-3.0-or-later
// Renders the views on sample executions into PNG files, to be looked at: views_gallery DIRECTORY
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPalette>
#include <QTabWidget>
#include <QTreeView>

#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/array_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/framed_boxes.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"
#include "views/tests/dark_palette.h"
#include "views/tests/sample_trace.h"

using namespace pf::views;
using namespace pf::views::test;

namespace {

void shoot(QWidget& widget, const QDir& dir, const char* name) {
  widget.show();
  QApplication::processEvents();
  QApplication::processEvents();
  QElapsedTimer timer;
  timer.start();
  (void)widget.grab();  // asks for what is drawn on another thread
  for (const QWidget* canvas : widget.findChildren<QWidget*>(QStringLiteral("spaceTimeCanvas"))) {
    while (!canvas->property("upToDate").toBool() && timer.elapsed() < 20000) {
      QApplication::processEvents(QEventLoop::WaitForMoreEvents, 100);
    }
  }
  const QPixmap picture = widget.grab();
  std::printf("%-28s %s ms\n", name, qPrintable(QString::number(timer.elapsed())));
  picture.save(dir.filePath(QString::fromLatin1(name)));
}

void spaceTime(const QDir& dir) {
  const TraceIndexPtr small = makeIndex(masterWorker());
  SpaceTimeView view;
  view.resize(1280, 560);
  view.setTrace(small);
  shoot(view, dir, "st_master_worker.png");
  view.selectRace(2);
  view.setMarks({{{2, 4}, MarkKind::Bookmark, {}}, {{0, 9}, MarkKind::Breakpoint, {}}});
  shoot(view, dir, "st_race_selected.png");
  view.setReplayPositions({{0, 9, true}, {1, 6, true}, {2, 6, true}, {3, 5, false}});
  shoot(view, dir, "st_replay.png");
  view.setReplayPositions({});
  view.action(DiagramAction::Cone)->setChecked(true);
  shoot(view, dir, "st_cone.png");
  view.action(DiagramAction::Cone)->setChecked(false);

  const TraceIndexPtr large = makeIndex(stencil(64, 40));
  view.resize(1400, 820);
  view.setTrace(large);
  shoot(view, dir, "st_stencil64.png");
  const TraceIndexPtr huge = makeIndex(stencil(64, 1200));
  view.setTrace(huge);
  shoot(view, dir, "st_stencil64_dense.png");
}

void races(const QDir& dir) {
  RaceListView view;
  view.resize(900, 420);
  view.setTrace(makeIndex(masterWorker()));
  view.selectRace(2);
  shoot(view, dir, "races.png");
}

class TextLoader : public SourceLoader {
 public:
  pf::Result<QByteArray> load(const QString& path) override {
    if (path.endsWith(QStringLiteral("gone.c"))) {
      return pf::Error{pf::ErrorCode::NotFound, "source file gone.c not found",
                       "Choose the file, or the directory the sources were moved to."};
    }
    QByteArray text =
        "/* Collects results from the workers. */\n#include <mpi.h>\n#include <stdio.h>\n\n";
    for (int i = 0; i < 24; ++i) {
      text += "static int add" + QByteArray::number(i) + "(int a) { return a + " +
              QByteArray::number(i) + "; }  // helper\n";
    }
    text +=
        "\nint collect(struct pool *pool, int n) {\n  double total = 0;\n  for (int i = 0; i < n; "
        "i++) {\n    double part;\n"
        "    MPI_Status status;\n    MPI_Recv(&part, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, "
        "MPI_COMM_WORLD, &status);\n"
        "    total += part * pool->weight[i];\n    printf(\"%d: %g\\n\", status.MPI_SOURCE, "
        "part);\n  }\n  return check(total);\n}\n";
    return text;
  }
};

Breakpoint atLine(int id, const QString& file, int line) {
  Breakpoint breakpoint;
  breakpoint.id = id;
  breakpoint.state = BreakpointState::Set;
  breakpoint.file = file;
  breakpoint.line = line;
  return breakpoint;
}

void source(const QDir& dir) {
  SourceView view(std::make_unique<TextLoader>());
  view.resize(820, 480);
  const QString file = QStringLiteral("/home/user/pool/master.c");
  QList<Breakpoint> breakpoints = {atLine(1, file, 31), atLine(2, file, 33), atLine(3, file, 36),
                                   atLine(4, file, 39)};
  breakpoints[1].enabled = false;
  breakpoints[2].state = BreakpointState::Pending;
  breakpoints[3].condition = QStringLiteral("i > 3");
  view.setBreakpoints(breakpoints);
  view.setCallSites({{file, {35}}});
  view.setStopLocation(file, 35);
  view.setOtherEnd(file, 29);
  shoot(view, dir, "source.png");
  view.showLocation(QStringLiteral("/home/user/pool/gone.c"), 3);
  shoot(view, dir, "source_missing.png");
}

QList<RankState> states(int n) {
  QList<RankState> out;
  for (int r = 0; r < n; ++r) {
    const RankActivity activity = r == 0        ? RankActivity::Stopped
                                  : r % 7 == 3  ? RankActivity::InCall
                                  : r % 11 == 5 ? RankActivity::Failed
                                  : r % 5 == 4  ? RankActivity::Finished
                                                : RankActivity::Running;
    out << RankState{r,
                     activity,
                     pf::Serial(17 + r),
                     QStringLiteral("collect() at master.c:88"),
                     activity == RankActivity::InCall
                         ? QStringLiteral("waiting in MPI_Recv for any source, tag 7")
                     : r == 0 ? QStringLiteral("breakpoint 1")
                              : QString(),
                     r < 2,
                     QStringLiteral("node1"),
                     4000 + r};
  }
  return out;
}

void rankViews(const QDir& dir) {
  RankStrip strip;
  strip.resize(620, 220);
  strip.model()->setRanks(states(4));
  strip.model()->setFocusRanks({0, 1});
  shoot(strip, dir, "ranks.png");
  RankStrip grid;
  grid.resize(620, 260);
  grid.model()->setRanks(states(64));
  grid.model()->setFocusRanks({0, 1, 12});
  shoot(grid, dir, "ranks64.png");
}

void variableViews(const QDir& dir) {
  VariablesView variables;
  variables.resize(460, 220);
  QObject::connect(variables.model(), &VariablesModel::expandRequested, [&](const QString& path) {
    variables.model()->setChildren(
        path, {{path + QStringLiteral("/n"), QStringLiteral("n"), QStringLiteral("12"),
                QStringLiteral("int"), false, false, true},
               {path + QStringLiteral("/weight"), QStringLiteral("weight"),
                QStringLiteral("0x5581a0"), QStringLiteral("double *"), true, false, true}});
  });
  const auto locals = [](const char* total) {
    return QList<Variable>{
        {QStringLiteral("pool"), QStringLiteral("pool"), QStringLiteral("0x7ffd12c0"),
         QStringLiteral("struct pool *"), true, true, true},
        {QStringLiteral("total"), QStringLiteral("total"), QString::fromLatin1(total),
         QStringLiteral("double"), false, false, true},
        {QStringLiteral("i"), QStringLiteral("i"), QStringLiteral("3"), QStringLiteral("int"),
         false, false, true}};
  };
  variables.model()->setVariables(QStringLiteral("0:collect"), locals("0"));
  variables.tree()->expand(variables.model()->index(0, 0));
  variables.model()->setVariables(QStringLiteral("0:collect"), locals("4711"));
  shoot(variables, dir, "variables.png");

  WatchesView watches;
  watches.resize(460, 160);
  watches.model()->setRank(0);
  watches.model()->addExpression(QStringLiteral("total"));
  watches.model()->addExpression(QStringLiteral("status.MPI_SOURCE"));
  watches.model()->setValues(QStringLiteral("total"),
                             {{0, QStringLiteral("4711"), {}, QStringLiteral("4697")}});
  watches.model()->setValues(QStringLiteral("status.MPI_SOURCE"),
                             {{0, {}, QStringLiteral("No symbol \"status\" in current context.")}});
  watches.model()->addExpression(QStringLiteral("grid"));
  watches.model()->setValues(QStringLiteral("grid"),
                             {{0, QStringLiteral("{rows = 2, first = 0x0}"), {}, {}, true}});
  watches.model()->setChildren(watches.tree()->model()->index(2, 0).data(KeyRole).toString(),
                               {{QStringLiteral("w/3/0"), QStringLiteral("rows"),
                                 QStringLiteral("2"), QStringLiteral("int")},
                                {QStringLiteral("w/3/1"), QStringLiteral("first"),
                                 QStringLiteral("0x0"), QStringLiteral("double *")}});
  watches.tree()->expandAll();
  shoot(watches, dir, "watches.png");
}

void sessionViews(const QDir& dir) {
  BreakpointsView breakpoints;
  breakpoints.resize(640, 160);
  Breakpoint conditional = atLine(1, QStringLiteral("/x/master.c"), 88);
  conditional.condition = QStringLiteral("i > 3");
  conditional.ranks = QStringLiteral("0");
  conditional.hits = {{1, 3}, {2, 3}};
  Breakpoint event = atLine(2, {}, 0);
  event.event = {0, 17};
  event.ranks = QStringLiteral("0");
  event.hits = {{2, 1}};
  Breakpoint failed = atLine(3, {}, 0);
  failed.enabled = false;
  failed.state = BreakpointState::Failed;
  failed.function = QStringLiteral("compute");
  failed.note = QStringLiteral("no such function");
  breakpoints.setBreakpoints({conditional, event, failed});
  shoot(breakpoints, dir, "breakpoints.png");

  CyclesView cycles;
  cycles.resize(640, 180);
  Cycle first;
  first.number = 1;
  first.started = QDateTime(QDate(2026, 1, 5), QTime(10, 4, 11));
  first.summary = QStringLiteral("stopped at breakpoint 1");
  first.hits = 3;
  first.match = CycleMatch::Matches;
  first.stops = {{0, 10, QStringLiteral("master.c:88"), QStringLiteral("breakpoint 1")}};
  Cycle second = first;
  second.number = 2;
  second.started = first.started.addSecs(111);
  second.summary = QStringLiteral("stopped at event 17 of rank 0");
  second.hits = 1;
  second.stops = {{0, 17, QStringLiteral("master.c:97"), QStringLiteral("stop target")},
                  {1, 9, QStringLiteral("worker.c:24"), QStringLiteral("consistent cut")}};
  cycles.setCycles({first, second});
  shoot(cycles, dir, "cycles.png");
}

void textViews(const QDir& dir) {
  OutputView output;
  output.resize(560, 180);
  output.append(0, OutputStream::Out, "collecting 12 results\n");
  output.append(2, OutputStream::Out, "worker 2: \x1b[31mtask 4\x1b[0m done\n");
  output.append(0, OutputStream::Err, "total is 4711, expected 4712\n");
  shoot(output, dir, "output.png");

  ConsoleView console;
  console.resize(560, 180);
  console.setRank(0);
  console.appendOutput(0, QStringLiteral("(gdb) print total"), ConsoleText::Echo);
  console.appendOutput(0, QStringLiteral("$1 = 4711"));
  console.appendOutput(0, QStringLiteral("No symbol \"tota\" in current context."),
                       ConsoleText::Error);
  shoot(console, dir, "console.png");
}

/// A wave over a field of Fortran, with an element that is none.
ArraySummaryPtr wave() {
  auto values = std::make_shared<ArrayValues>();
  values->expression = QStringLiteral("field");
  values->type = QStringLiteral("real(kind=8)");
  values->size = 8;
  values->fortran = values->columnMajor = true;
  values->dims = {{0, 1, 60, 60}, {-20, 1, 41, 41}, {1, 1, 5, 5}};
  values->bytes.resize(values->total() * 8);
  for (qint64 i = 0; i < values->count(); ++i) {
    const ArrayValues::Places at = values->placesOf(i);
    double value = std::sin(0.2 * static_cast<double>(at[0])) *
                   std::cos(0.15 * static_cast<double>(at[1])) * static_cast<double>(at[2] + 1);
    value = i == 12345 || i == 700 ? std::numeric_limits<double>::quiet_NaN() : value;
    std::memcpy(values->bytes.data() + i * 8, &value, sizeof value);
  }
  return std::make_shared<ArraySummary>(values);
}

void arrays(const QDir& dir) {
  ArrayView view;
  view.resize(520, 560);
  view.ask(QStringLiteral("field"));
  view.showArray(wave());
  shoot(view, dir, "array.png");
  view.findChild<QTabWidget*>()->setCurrentIndex(0);
  view.goTo(700);
  shoot(view, dir, "array-plot.png");
}

void all(const QDir& dir) {
  arrays(dir);
  spaceTime(dir);
  races(dir);
  source(dir);
  rankViews(dir);
  variableViews(dir);
  sessionViews(dir);
  textViews(dir);
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  QApplication app(argc, argv);
  QApplication::setStyle(new pf::views::FramedBoxes(QStringLiteral("Fusion")));
  const QDir dir(argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("/tmp/views"));
  dir.mkpath(QStringLiteral("light"));
  dir.mkpath(QStringLiteral("dark"));
  all(QDir(dir.filePath(QStringLiteral("light"))));
  QApplication::setPalette(darkPalette());
  all(QDir(dir.filePath(QStringLiteral("dark"))));
  return 0;
}
