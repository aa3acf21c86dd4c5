// SPDX-License-Identifier: GPL-3.0-or-later
// views_bench [EVENTS [RANKS [FILE [BURST [PART]]]]]: the bars of the diagram and the race browser,
// on a synthetic trace of that size. Times are CPU time of the GUI thread where a paint is meant,
// of the process where opening is, and wall time where that is said. Offscreen; the trace is thrown
// out of the page cache first. BURST: every so many rounds ranks race. PART: paint, cone, found or
// races; else all.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QTableView>

#include "app/trace_loading/trace_loader.h"
#include "tests/bench/views/repeated.h"
#include "tests/bench/views/synthetic.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/canvas/space_time_hits.h"
#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/search_bar.h"
#include "views/models/race_list_model.h"
#include "views/panes/race_classes_view.h"
#include "views/panes/race_list_view.h"
#include "views/trace/analyses/event_search.h"
#include "views/trace/analyses/trace_causality.h"

namespace {

using pf::EventRef;
using pf::bench::processSeconds;

double threadMs() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Resident memory of this process, in MB; `what` is VmRSS or VmHWM.
double residentMb(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(what + ":", 0) == 0) {
      return std::strtod(line.c_str() + what.size() + 1, nullptr) / 1024;
    }
  }
  return 0;
}

void forgetPages(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

/// So that the system has them in memory.
void readPages(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> some(std::size_t{1} << 20U);
  while (file.read(some.data(), static_cast<std::streamsize>(some.size()))) {
  }
}

struct Samples {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
  [[nodiscard]] double at(double share) {
    std::sort(values.begin(), values.end());
    return values.empty()
               ? 0
               : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
};

void line(const char* what, const std::string& measured, const char* bar) {
  std::printf("%-44s %-38s %s\n", what, measured.c_str(), bar);
  std::fflush(stdout);
}

std::string ms(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f ms" : "%.0f ms", value);
  return text;
}

std::string spread(Samples& samples) {
  return "p50 " + ms(samples.at(0.5)) + ", p95 " + ms(samples.at(0.95)) + ", max " +
         ms(samples.at(1));
}

class Bench {
 public:
  explicit Bench(std::string path) : m_path(std::move(path)) {}

  bool open();
  void paint();
  void causality();
  void cones(std::mt19937& random, int events, Samples& cone);
  void found();
  void races();

 private:
  void settle();
  void walk(Samples& gui, Samples& exact);
  template <typename Change>
  void frame(Change&& change, Samples& gui, Samples& exact);

  std::string m_path;
  pf::views::TraceIndexPtr m_index;
  pf::views::SpaceTimeView m_view;
  Samples m_overview;  ///< CPU time of the pictures of this regime
  Samples m_others;
  double m_worst = 0;  ///< CPU time of the dearest picture
  std::string m_worstView;
};

/// Until the picture is exact.
void Bench::settle() {
  QApplication::processEvents();
  while (!m_view.canvas()->isUpToDate()) {
    QApplication::processEvents(QEventLoop::WaitForMoreEvents);  // with a time it does not wait
  }
}

bool Bench::open() {
  m_view.resize(1600, 1000);
  m_view.show();
  QApplication::processEvents();
  forgetPages(m_path);
  QElapsedTimer wall;
  wall.start();
  const double start = processSeconds();
  const QString path = QString::fromStdString(m_path);
  const pf::views::TraceDataPtr outline = pf::session::loadOutline(path);
  if (outline) {
    m_view.setTrace(pf::views::makeIndex(outline));
    m_view.canvas()->repaint();
    settle();
    line("open, cold, to the first full frame",
         ms(static_cast<double>(wall.elapsed())) + " wall, " +
             ms((processSeconds() - start) * 1e3) + " CPU",
         "<= 500 ms at 1e8");
    line("  … resident then", std::to_string(std::lround(residentMb("VmRSS"))) + " MB", "");
  }
  const double early = static_cast<double>(wall.elapsed());
  auto loaded = pf::session::loadTrace(path, outline, pf::session::mostEventsInMemory());
  if (!loaded) {
    std::fprintf(stderr, "views_bench: %s\n", loaded.error().text().c_str());
    return false;
  }
  const double read = static_cast<double>(wall.elapsed());
  m_index = pf::views::makeIndex(loaded->data);
  const double indexed = static_cast<double>(wall.elapsed());
  const double before = threadMs();
  m_view.setTrace(m_index);
  m_view.canvas()->repaint();
  settle();
  const double shown = threadMs() - before;
  line("events there, from the start",
       ms(static_cast<double>(wall.elapsed())) + " wall, " + ms((processSeconds() - start) * 1e3) +
           " CPU",
       "<= 2 s at 1e8");
  line("  … read, index, first paint",
       ms(read - early) + ", " + ms(indexed - read) + ", " + ms(shown), "");
  return true;
}

template <typename Change>
void Bench::frame(Change&& change, Samples& gui, Samples& exact) {
  const double all = processSeconds();
  const double start = threadMs();
  change();
  m_view.canvas()->repaint();
  gui.add(threadMs() - start);
  settle();
  exact.add((processSeconds() - all) * 1e3);
  (m_view.canvas()->stats().overview ? m_overview : m_others).add(exact.values.back());
  if (exact.values.back() > m_worst) {
    const auto& stats = m_view.canvas()->stats();
    m_worst = exact.values.back();
    m_worstView = std::string(stats.exact      ? "exact"
                              : stats.overview ? "overview"
                                               : "dense") +
                  ", " + std::to_string(stats.events) + " events";
  }
}

/// In to a handful of steps, out again, and to the sides at three scales.
void Bench::walk(Samples& gui, Samples& exact) {
  auto* canvas = m_view.canvas();
  const double middle = 700;
  for (int i = 0; i < 120; ++i) {
    frame([&] { canvas->viewport().zoomBy(1.1, middle); }, gui, exact);
  }
  for (int i = 0; i < 120; ++i) {
    frame([&] { canvas->viewport().zoomBy(1 / 1.1, middle); }, gui, exact);
  }
  for (const double share : {0.5, 0.05, 0.001}) {
    const double end = m_index->lastTime();
    canvas->viewport().setSpan(end * 0.4, end * (0.4 + share));
    for (int i = 0; i < 80; ++i) {
      const double step = end * share / 40;
      frame([&] { canvas->viewport().setSpan(canvas->view().t0 + step, canvas->view().t1 + step); },
            gui, exact);
    }
  }
}

void Bench::paint() {
  Samples gui;
  Samples exact;
  walk(gui, exact);
  line("GUI thread a paint (zoom and pan)", spread(gui), "p95 <= 4 ms, max <= 8 ms");
  line("exact image after a view change (CPU)", spread(exact), "");
  line("  … overviews", spread(m_overview), "p95 <= 50 ms");
  line("  … dense, and signs for each event", spread(m_others), "p95 <= 150 ms");
  line("  … the dearest picture", m_worstView, "");
  m_view.canvas()->viewport().fit();
}

/// With the hits of a search shown, some 3 % of the events.
void Bench::found() {
  auto& bar = *m_view.searchBar();
  bar.edit()->setText(QStringLiteral("tag:9 kind:send"));
  QElapsedTimer wall;
  wall.start();
  bar.search();
  while (!bar.isDone()) {
    QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  line("search in the window", ms(static_cast<double>(wall.elapsed())) + " wall", "");
  m_view.canvas()->viewport().fit();
  Samples gui;
  Samples exact;
  walk(gui, exact);
  line(("GUI thread a paint, " + std::to_string(bar.hits().size()) + " hits shown").c_str(),
       spread(gui), "p95 <= 4 ms, max <= 8 ms");
  bar.edit()->clear();
  bar.search();
  m_view.canvas()->viewport().fit();
}

/// Past and future of random events.
void Bench::cones(std::mt19937& random, int events, Samples& cone) {
  for (int i = 0; i < events; ++i) {
    const auto rank = static_cast<pf::Rank>(random() % m_index->rankCount());
    const EventRef event{rank, 1 + random() % m_index->lastSerial(rank)};
    double start = threadMs();
    static_cast<void>(pastOf(*m_index, event));
    cone.add(threadMs() - start);
    start = threadMs();
    static_cast<void>(futureOf(*m_index, event));
    cone.add(threadMs() - start);
  }
}

void Bench::causality() {
  std::mt19937 random(7);
  Samples first;
  Samples cone;
  Samples pick;
  Samples next;
  Samples partner;
  auto* canvas = m_view.canvas();
  cones(random, 20, first);
  readPages(m_path);
  cones(random, 200, cone);
  for (int i = 0; i < 20; ++i) {
    const auto rank = static_cast<pf::Rank>(random() % m_index->rankCount());
    const EventRef event{rank, 1 + random() % m_index->lastSerial(rank)};
    double start = threadMs();
    const QPoint at(200 + static_cast<int>(random() % 1200),
                    100 + static_cast<int>(random() % 700));
    static_cast<void>(pf::views::eventAt(*canvas->trace(), canvas->view(), at));
    pick.add(threadMs() - start);
    canvas->eventCursor().select(event, false);
    start = threadMs();
    canvas->eventCursor().selectPartner();
    partner.add(threadMs() - start);
    start = threadMs();
    canvas->eventCursor().selectRace(1);
    next.add(threadMs() - start);
  }
  line("cone, past and future each", spread(cone), "<= 5 ms (60 at 1,024 ranks)");
  line("  … the first 20, file not read before", spread(first), "");
  line("pick", spread(pick), "<= 5 ms");
  line("partner", spread(partner), "");
  line("next racing receive", spread(next), "<= 20 ms");
  const double start = threadMs();
  const auto found = pf::views::searchEvents(*m_index, QStringLiteral("tag:9 kind:send"));
  line("search of the whole trace",
       ms(threadMs() - start) + ", " + std::to_string(found.hits.size()) + " hits", "");
}

/// CPU time of what makes each of `names`, dearest first, for so many races.
class Dearest {
 public:
  explicit Dearest(std::size_t races) : m_races(std::max<std::size_t>(races, 1)) {}
  template <typename Run>
  void add(const QString& name, Run&& run) {
    const double start = threadMs();
    run();
    const double took = threadMs() - start;
    if (took >= m_worst) {
      m_worst = took;
      m_name = name;
    }
  }
  [[nodiscard]] std::string text() const {
    return m_name.toStdString() + ": " + ms(m_worst) + ", " + perMillion(m_worst);
  }
  [[nodiscard]] std::string perMillion(double took) const {
    return ms(took * 1e6 / static_cast<double>(m_races)) + " per 1e6";
  }

 private:
  std::size_t m_races;
  double m_worst = 0;
  QString m_name;
};

void Bench::races() {
  using pf::views::RaceListModel;
  const std::size_t count = m_index->data().races.size();
  pf::views::RaceListView view;
  view.resize(1200, 500);
  view.show();
  double start = threadMs();
  const double all = processSeconds();
  QElapsedTimer wall;
  wall.start();
  view.setTrace(m_index);
  view.repaint();
  while (view.table()->model()->rowCount() == 0 && count != 0) {
    QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  QApplication::processEvents();
  const double gui = threadMs() - start;
  const double opened = (processSeconds() - all) * 1e3;
  Dearest sorts(count);
  Dearest filters(count);
  const std::string bytes =
      count == 0 ? "0" : std::to_string(m_index->data().races.bytes() / count);
  line(("race browser opens, " + std::to_string(count) + " races").c_str(),
       ms(opened) + " CPU, " + sorts.perMillion(opened), "<= 300 ms at 1e6");
  line("  … of it GUI thread; wall; in memory",
       ms(gui) + "; " + ms(static_cast<double>(wall.elapsed())) + "; " + bytes + " bytes a race",
       "");
  const auto* const model = view.findChild<RaceListModel*>();
  for (int column = 0; column < RaceListModel::ColumnCount; ++column) {
    for (const auto direction : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      sorts.add(model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(),
                [&] { view.table()->sortByColumn(column, direction); });
    }
  }
  line("  … sorts, the slowest of all columns", sorts.text(), "<= 300 ms at 1e6");
  for (const char* const words :
       {"rank:3", "from:1", "tag:7", "kind:probe", "file:stencil.c", "event:17", "stencil.c:14",
        "17", "MPI_Recv 17", "before", "event", "3,", "12 34"}) {
    const QString text = QString::fromLatin1(words);
    filters.add(text, [&] { view.filterEdit()->setText(text); });
    view.filterEdit()->clear();
  }
  line("  … filters, the slowest", filters.text(), "<= 300 ms at 1e6");
  if (view.classes()->model()->rowCount() > 1) {
    start = threadMs();
    view.classes()->selectRow(1);
    line("  … one class", ms(threadMs() - start), "<= 300 ms at 1e6");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("QT_QPA_PLATFORM") == nullptr) {
    ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
  }
  (void)::mallopt(M_ARENA_MAX, 1);  // as the window does
  const QApplication application(argc, argv);
  pf::bench::Traffic traffic;
  if (argc > 1) {
    traffic.events = static_cast<std::size_t>(std::strtod(argv[1], nullptr));
  }
  if (argc > 2) {
    traffic.ranks = std::max(3, std::atoi(argv[2]));
  }
  if (argc > 4) {
    traffic.burstEvery = std::max(1, std::atoi(argv[4]));
  }
  const std::string path =
      argc > 3 ? argv[3] : "/tmp/pf-views-bench-" + std::to_string(::getpid()) + ".pft";
  if (!std::filesystem::exists(path)) {
    constexpr std::size_t kMostAtOnce = 200'000'000;  // takes some 130 bytes an event
    const bool once = traffic.events <= kMostAtOnce;
    const auto made = once ? pf::bench::writeSyntheticTrace(path, traffic)
                           : pf::bench::writeRepeatedTrace(path, traffic);
    if (!made) {
      std::fprintf(stderr, "views_bench: %s\n", made.error().text().c_str());
      return 1;
    }
    const double events = static_cast<double>(made->events);
    char text[160];
    std::snprintf(text, sizeof text, "%.2f M events/s (races %.0f %%, write %.2f M/s)",
                  events / made->all() / 1e6, 100 * made->races / made->all(),
                  events / made->write / 1e6);
    std::printf("%zu events, %d ranks, %zu messages, %zu races\n", made->events, traffic.ranks,
                made->messages, made->racing);
    line("collation, from matching to the file", text, ">= 2 M/s (1 M at 1,024 ranks)");
    std::snprintf(text, sizeof text, "%.1f",
                  static_cast<double>(std::filesystem::file_size(path)) / events);
    line("bytes an event", text, "<= 14");
    if (argc <= 3) {  // measured in a process of its own, whose memory is only the viewer's
      const std::string again = std::string(argv[0]) + " " + (argc > 1 ? argv[1] : "1e6") + " " +
                                std::to_string(traffic.ranks) + " " + path;
      const int status = std::system(again.c_str());
      std::filesystem::remove(path);
      return status == 0 ? 0 : 1;
    }
  }
  Bench bench(path);
  if (!bench.open()) {
    return 1;
  }
  const std::string part = argc > 5 ? argv[5] : "";
  if (part.empty() || part == "paint") {
    bench.paint();
  }
  if (part.empty() || part == "cone") {
    bench.causality();
  }
  if (part.empty() || part == "found") {
    bench.found();
  }
  if (part.empty() || part == "races") {
    bench.races();
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.0f MB (peak %.0f)", residentMb("VmRSS"), residentMb("VmHWM"));
  line("resident, viewer", text, "<= 700 MB at 1e8");
  return 0;
}
