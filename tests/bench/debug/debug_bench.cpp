// SPDX-License-Identifier: GPL-3.0-or-later
// What debugging costs: the table of docs/debugging.md, "Speed". Real jobs, real GDBs, the session
// that the window has, without a window. debug_bench [RUNS=5] [PART…]: prints medians and the load
// average; takes some minutes. A PART is four, many, groups, far, alone, values or python; all of them if none is named.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>

#include "app/job/job.h"
#include "app/session/array_reader.h"
#include "app/session/debug_session.h"
#include "app/session/line_search.h"

namespace {

using pf::EventRef;
using pf::session::DebugSession;

constexpr int kPatienceMs = 120000;
constexpr pf::Serial kFar = 100000;

double load() {
  double one = 0.0;
  std::ifstream("/proc/loadavg") >> one;
  return one;
}

/// Sleeps between events, as a window does: the ranks need the processors.
bool waitFor(const std::function<bool()>& done) {
  QElapsedTimer since;
  since.start();
  QTimer wake;
  wake.start(5);
  while (!done()) {
    if (since.elapsed() > kPatienceMs) {
      return false;
    }
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  return true;
}

class Bench {
 public:
  explicit Bench(int runs) : m_runs(runs) {}

  /// `options`: of record.
  [[nodiscard]] bool open(const QStringList& program, int ranks, const QStringList& options = {}) {
    m_session = std::make_unique<DebugSession>();
    const QString trace = m_directory.filePath(QStringLiteral("%1.pft").arg(++m_number));
    const QString bin = QString::fromStdString(pf::app::programDirectory());
    QStringList command{QStringLiteral("record"), QStringLiteral("-o"), trace};
    command += options;
    command += QStringList{QStringLiteral("mpirun"), QStringLiteral("--oversubscribe"),
                           QStringLiteral("-n"), QString::number(ranks),
                           QDir(bin).filePath(program.first())};
    QProcess recorder;
    recorder.setProcessChannelMode(QProcess::MergedChannels);
    recorder.start(bin + QStringLiteral("/photofinish"), command + program.mid(1));
    if (!recorder.waitForFinished(kPatienceMs) || recorder.exitCode() != 0) {
      std::fprintf(stderr, "%s", recorder.readAll().constData());
      return false;
    }
    auto loaded = pf::session::loadTrace(trace);
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
      return false;
    }
    m_session->open(trace, std::move(*loaded));
    return true;
  }
  void focus(int first, int last) {
    m_focus.clear();
    for (int rank = first; rank <= last; ++rank) {
      m_focus.append(rank);
    }
    m_session->debuggers().setFocus(m_focus);
    m_session->setCurrentRank(first);
  }
  [[nodiscard]] DebugSession& session() { return *m_session; }
  [[nodiscard]] int runs() const { return m_runs; }

  /// Milliseconds until `act` has brought the ranks to rest, all GDBs know it, and the panes of the
  /// current rank are filled; -1: never.
  [[nodiscard]] double timed(const std::function<void()>& act) {
    int settled = 0;
    int variables = m_focus.isEmpty() ? 1 : 0;  // nobody shows any
    const auto one = QObject::connect(m_session.get(), &DebugSession::settled, [&] { ++settled; });
    const auto two = QObject::connect(
        &m_session->inspector(), &pf::session::Inspector::variablesChanged, [&] { ++variables; });
    QElapsedTimer since;
    since.start();
    act();
    const bool done = waitFor([&] { return settled > 0 && variables > 0 && stopped(); });
    const double took = static_cast<double>(since.nsecsElapsed()) / 1e6;
    QObject::disconnect(one);
    QObject::disconnect(two);
    return done ? took : -1.0;
  }
  [[nodiscard]] bool stopped() {
    return std::all_of(m_focus.begin(), m_focus.end(), [this](int rank) {
      pf::mi::GdbSession* gdb = m_session->debugger(rank);
      return gdb != nullptr && gdb->state() == pf::mi::SessionState::Stopped;
    });
  }
  void end() {
    m_session->endReplay();
    (void)waitFor([this] { return !m_session->isReplaying(); });
  }
  /// Median of what `once` gives.
  void report(const char* what, const char* unit, const char* target,
              const std::function<double()>& once) {
    std::vector<double> values;
    for (int run = 0; run < m_runs; ++run) {
      if (const double value = once(); value >= 0.0) {
        values.push_back(value);
      }
    }
    std::sort(values.begin(), values.end());
    if (values.empty()) {
      std::printf("%-62s failed\n", what);
    } else {
      std::printf("%-62s %8.2f %-3s (%.2f to %.2f, %zu runs; target %s; load %.1f)\n", what,
                  values[values.size() / 2], unit, values.front(), values.back(), values.size(),
                  target, load());
    }
    std::fflush(stdout);
  }

 private:
  int m_runs;
  int m_number = 0;
  QTemporaryDir m_directory;
  std::unique_ptr<DebugSession> m_session;
  QList<int> m_focus;
};

/// The parent of a process, 0 if it is gone.
int parentOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name = text.rfind(')');
  int parent = 0;
  if (name != std::string::npos && name + 4 < text.size()) {
    parent = std::atoi(text.c_str() + name + 4);
  }
  return parent;
}

/// Mean of the proportional set sizes of our GDBs, MiB; -1: there are none.
double gdbMemory() {
  double sum = 0.0;
  int count = 0;
  for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
    const int pid = entry.toInt();
    std::ifstream name("/proc/" + std::to_string(pid) + "/comm");
    std::string comm;
    std::getline(name, comm);
    int above = comm == "gdb" ? parentOf(pid) : 0;
    while (above > 1 && above != static_cast<int>(QCoreApplication::applicationPid())) {
      above = parentOf(above);
    }
    if (above <= 1) {
      continue;
    }
    std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
    for (std::string line; std::getline(rollup, line);) {
      if (line.compare(0, 4, "Pss:") == 0) {
        sum += std::atof(line.c_str() + 4) / 1024.0;
        ++count;
      }
    }
  }
  return count == 0 ? -1.0 : sum / count;
}

void fourRanks(Bench& bench) {
  if (!bench.open({QStringLiteral("e2e/steady"), QStringLiteral("20")}, 4)) {
    return;
  }
  DebugSession& session = bench.session();
  bench.focus(0, 3);
  bench.report("click to 4 ranks stopped at a receive, GDB on all", "s", "2.5", [&] {
    const double took = bench.timed([&] { session.replayTo({0, 20}); });
    bench.end();
    return took / 1e3;
  });
  (void)bench.timed([&] { session.replayTo({0, 20}); });
  bench.report("memory (PSS) of a focused GDB, four of them", "MiB", "45", gdbMemory);
  bench.end();
  bench.focus(0, 0);
  bench.report("click to 4 ranks stopped at a receive, GDB on one", "s", "2.5", [&] {
    const double took = bench.timed([&] { session.replayTo({0, 20}); });
    bench.end();
    return took / 1e3;
  });
  (void)bench.timed([&] { session.replayTo({0, 20}); });
  bench.report("restart of 4 ranks, GDB on one", "s", "1.5",
               [&] { return bench.timed([&] { session.repeatCycle(); }) / 1e3; });
  bench.report("memory (PSS) of a focused GDB, alone", "MiB", "45", gdbMemory);
  bench.end();
}

void manyRanks(Bench& bench) {
  if (!bench.open({QStringLiteral("e2e/steady"), QStringLiteral("6")}, 32)) {
    return;
  }
  DebugSession& session = bench.session();
  bench.focus(0, 3);
  bench.report("click to 32 ranks stopped, GDB on 4", "s", "6", [&] {
    const double took = bench.timed([&] { session.replayTo({0, 60}); });
    bench.end();
    return took / 1e3;
  });
  (void)bench.timed([&] { session.replayTo({0, 60}); });
  bench.report("parallel stacks of 32 ranks", "s", "0.5", [&] {
    double took = -1.0;
    const auto one =
        QObject::connect(&session.stacks(), &pf::session::AllStacks::arrived,
                         [&](const auto&, qint64 ms) { took = static_cast<double>(ms); });
    session.stacks().ask();
    (void)waitFor([&] { return took >= 0.0; });
    QObject::disconnect(one);
    return took / 1e3;
  });
  bench.end();
}

void groupSteps(Bench& bench) {
  if (!bench.open({QStringLiteral("e2e/looking")}, 32)) {
    return;
  }
  DebugSession& session = bench.session();
  bench.focus(10, 25);
  QList<int> group = session.debuggers().focus();
  std::sort(group.begin(), group.end());
  pf::values::Breakpoint breakpoint;
  breakpoint.kind = pf::values::BreakpointKind::Code;
  breakpoint.function = QStringLiteral("compute");
  breakpoint.ranks = QStringLiteral("10-25");
  session.breakpoints().add(breakpoint);
  session.restartCycle();
  if (!waitFor([&] { return bench.stopped(); })) {
    std::printf("the group did not come to its breakpoint\n");
    return;
  }
  session.setCurrentRank(10);
  bench.report("step of a group of 16 of 32 ranks, panes fresh", "s", "0.25", [&] {
    return bench.timed([&] { session.act(pf::values::RankAction::Next, group); }) / 1e3;
  });
  bench.end();
}

void farBack(Bench& bench) {
  if (!bench.open({QStringLiteral("e2e/steady"), QStringLiteral("17000")}, 4)) {
    return;
  }
  DebugSession& session = bench.session();
  bench.focus(0, 0);
  double there = 0.0;
  bench.report("replay of 4 ranks to event 100,000, GDB on one", "s", "-", [&] {
    there = bench.timed([&] { session.replayTo({0, kFar}); }) / 1e3;
    bench.end();
    return there;
  });
  bench.report("back one event from there, over the replay to there", "", "1.5", [&] {
    const double to = bench.timed([&] { session.replayTo({0, kFar}); });
    const double back = bench.timed([&] { session.go(pf::session::Move::PreviousEvent); });
    bench.end();
    return to > 0.0 && back >= 0.0 ? back / to : -1.0;
  });
}

/// MPIWiz, 3.1: a rank without the others, which goes back to snapshots of itself.
void oneAlone(Bench& bench) {
  if (!bench.open({QStringLiteral("e2e/steady"), QStringLiteral("17000")}, 4,
                  {QStringLiteral("--groups"), QStringLiteral("each"), QStringLiteral("--mode"),
                   QStringLiteral("all")})) {
    return;
  }
  DebugSession& session = bench.session();
  if (!session.debugOnly({{}, {0}}).ok()) {
    return;
  }
  const auto back = [&] {
    return bench.timed([&] { session.go(pf::session::Move::PreviousEvent); });
  };
  bench.focus(0, 0);
  bench.report("rank 0 of 4 alone, to event 100,000, GDB on it", "s", "-", [&] {
    const double there = bench.timed([&] { session.replayTo({0, kFar}); }) / 1e3;
    bench.end();
    return there;
  });
  (void)bench.timed([&] { session.replayTo({0, kFar}); });
  bench.report("one event back from there, GDB stopped there, panes fresh", "ms", "100", back);
  bench.end();
  bench.focus(0, -1);  // none
  (void)bench.timed([&] { session.replayTo({0, kFar}); });
  bench.report("the same without a GDB", "ms", "30", back);
  bench.end();
}

/// Between events 20 and 21, behind the call of the former.
void values(Bench& bench) {
  if (!bench.open({QStringLiteral("bench/large")}, 1)) {
    return;
  }
  DebugSession& session = bench.session();
  pf::session::ArrayReader reader(session);
  bench.focus(0, 0);
  const auto next = [&] {
    return bench.timed([&] { session.act(pf::values::RankAction::Next, {0}); }) >= 0.0;
  };
  const auto there = [&] {
    bench.end();
    return bench.timed([&] { session.replayTo({0, 20}); }) >= 0.0 && next();
  };
  if (!there()) {
    std::printf("the rank did not come to its line\n");
    return;
  }
  bench.report("array of 10^7 elements: read, and its statistics", "s", "0.3", [&] {
    bool arrived = false;
    const auto one = QObject::connect(&reader, &pf::session::ArrayReader::arrived,
                                      [&](const auto& array) { arrived = array != nullptr; });
    QElapsedTimer since;
    since.start();
    reader.read(QStringLiteral("numbers@10000000"));
    const bool done = waitFor([&] { return arrived; });
    QObject::disconnect(one);
    return done ? static_cast<double>(since.elapsed()) / 1e3 : -1.0;
  });
  bench.report("back one line, over back one event from there", "", "1", [&] {
    if (!there() || !next()) {
      return -1.0;
    }
    QElapsedTimer since;
    since.start();
    (void)bench.timed([&] { session.lineBack(pf::session::LineMove::Next); });
    const bool done = waitFor([&] { return !session.goesBackByLines() && bench.stopped(); });
    const double line = static_cast<double>(since.elapsed());
    const double event =
        there() ? bench.timed([&] { session.go(pf::session::Move::PreviousEvent); }) : -1.0;
    return done && event > 0.0 ? line / event : -1.0;
  });
  bench.end();
}

void python(Bench& bench) {
  QProcess asked;
  asked.start(QStringLiteral("/usr/bin/python3"),
              {QStringLiteral("-c"), QStringLiteral("import mpi4py")});
  if (!asked.waitForFinished(kPatienceMs) || asked.exitCode() != 0) {
    std::printf("no mpi4py for /usr/bin/python3: nothing of Python\n");
    return;
  }
  if (!bench.open({QStringLiteral("/usr/bin/python3"),
                   QStringLiteral(PF_SOURCE "/tests/e2e/programs/python_lines.py")},
                  2)) {
    return;
  }
  DebugSession& session = bench.session();
  bench.focus(0, 0);
  (void)bench.timed([&] { session.replayTo({0, 1}); });
  bench.report("stack of a stop in Python, its variables", "ms", "50", [&] {
    bool frames = false;
    bool variables = false;
    pf::session::Inspector& inspector = session.inspector();
    const auto one = QObject::connect(
        &inspector, &pf::session::Inspector::stackChanged,
        [&](int, const QList<pf::values::StackFrame>& stack, int) {
          frames = std::ranges::any_of(
              stack, [](const pf::values::StackFrame& frame) { return frame.python != 0; });
        });
    const auto two = QObject::connect(&inspector, &pf::session::Inspector::variablesChanged,
                                      [&] { variables = true; });
    QElapsedTimer since;
    since.start();
    inspector.stopped();
    const bool done = waitFor([&] { return frames && variables; });
    const double took = static_cast<double>(since.nsecsElapsed()) / 1e6;
    QObject::disconnect(one);
    QObject::disconnect(two);
    return done ? took : -1.0;
  });
  bench.end();
}

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  qputenv("OMPI_ALLOW_RUN_AS_ROOT", "1");
  qputenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  Bench bench(argc > 1 ? std::max(1, std::atoi(argv[1])) : 5);
  std::printf("load %.1f\n", load());
  const std::pair<std::string_view, void (*)(Bench&)> parts[] = {
      {"four", fourRanks}, {"many", manyRanks}, {"groups", groupSteps}, {"far", farBack},
      {"alone", oneAlone}, {"values", values},  {"python", python}};
  for (const auto& [name, run] : parts) {
    if (argc < 3 || std::find(argv + 2, argv + argc, name) != argv + argc) {
      run(bench);
    }
  }
  return 0;
}
