// SPDX-License-Identifier: GPL-3.0-or-later
// Plugins in the window: what their panes see and ask for, what is refused, and that none takes the window along.
#include <algorithm>
#include <stdexcept>

#include <QAction>
#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include "app/gui/commands/plugin_commands.h"
#include "app/gui/commands/plugins_dialog.h"
#include "app/gui/panes/plugin_panes.h"
#include "app/gui/tests/window_test.h"
#include "plugins/host/facts.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/race_list_view.h"
#include "views/tests/sample_trace.h"

namespace {

using namespace pf;
using namespace pf::gui;

/// What the window has told the pane of a test.
struct Told {
  QStringList lines;
  photofinish::Window* window = nullptr;
};
Told g_told;

class ListeningPane : public photofinish::Pane {
 public:
  ListeningPane(photofinish::Window& window, QWidget* parent) : m_label(new QLabel(parent)) {
    g_told.window = &window;
  }
  ~ListeningPane() override { g_told.window = nullptr; }
  [[nodiscard]] QWidget* widget() override { return m_label; }
  void traceChanged(bool newer) override {
    const photofinish::Trace* const trace = g_told.window->trace();
    g_told.lines << QStringLiteral("trace %1%2")
                        .arg(trace != nullptr ? trace->ranks() : -1)
                        .arg(newer ? QStringLiteral(" newer") : QString());
  }
  void selectionChanged() override {
    const photofinish::EventRef at = g_told.window->selected();
    g_told.lines << QStringLiteral("selected %1:%2").arg(at.rank).arg(at.serial);
  }
  void cutChanged() override {
    g_told.lines
        << QStringLiteral("next %1 %2").arg(g_told.window->next(0)).arg(g_told.window->next(1));
  }

 private:
  QLabel* m_label;
};

class ThrowingPane : public ListeningPane {
 public:
  using ListeningPane::ListeningPane;
  void traceChanged(bool /*newer*/) override { throw std::runtime_error("too colourful"); }
};

template <typename Made>
photofinish::Pane* makePane(photofinish::Window& window, QWidget* parent) {
  return new Made(window, parent);
}

photofinish::Pane* makeNothing(photofinish::Window& /*window*/, QWidget* /*parent*/) {
  throw std::runtime_error("no room");
}

plugins::Plugin pluginWith(const char* id, photofinish::MakePane make) {
  plugins::Part part = plugins::described(plugins::PartKind::Pane, {id, "Title", ""});
  part.makePane = make;
  return {id, "1", "", "/somewhere.so", {part}};
}

/// Keeps what an exporter writes.
class KeptOutput final : public photofinish::Output {
 public:
  ~KeptOutput() = default;
  void write(photofinish::Text text) override { m_text += text; }
  void fail(photofinish::Text message, photofinish::Text /*advice*/) override { write(message); }
  [[nodiscard]] photofinish::Text path() const override { return {}; }
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  std::string m_text;
};

class PluginsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    test::setUp(m_dir.path());
    qputenv("XDG_DATA_HOME", m_dir.filePath(QStringLiteral("data")).toUtf8());
  }
  void init() {
    g_told = {};
    qunsetenv("PHOTOFINISH_PLUGIN_PATH");
  }

  void panesAreToldAndAsk();
  void oneThatThrowsIsSaid();
  void onesThatCannotBeMade();
  void sameFactsAsOnTheCommandLine();
  void refusedOnesAreListed();
  void judgesSpeakInTheWindow();
  void commandsAndExporters();

 private:
  /// A window with the plugin `whole`, and a trace with races.
  std::unique_ptr<MainWindow> openWithWhole();
  QTemporaryDir m_dir;
};

void PluginsTest::panesAreToldAndAsk() {
  const plugins::Registry registry;
  QWidget parent;
  PluginPanes panes(registry);
  const plugins::Plugin plugin = pluginWith("listens", makePane<ListeningPane>);
  const Result<QWidget*> widget = panes.make(plugin, plugin.parts.front(), &parent);
  QVERIFY(widget.ok());
  QCOMPARE((*widget)->parentWidget(), &parent);
  const views::TraceIndexPtr index = views::makeIndex(views::test::masterWorker());
  panes.setTrace(QStringLiteral("/a.pft"), index);
  panes.setSelected({2, 1});
  panes.setPositions({{0, 3}, {1, 5}});
  panes.renewTrace(QStringLiteral("/a.pft"), index, {2, 1});
  panes.setTrace({}, nullptr);
  QCOMPARE(g_told.lines, (QStringList{QStringLiteral("trace 4"), QStringLiteral("selected 2:1"),
                                      QStringLiteral("next 3 5"), QStringLiteral("trace 4 newer"),
                                      QStringLiteral("selected 2:1"), QStringLiteral("trace -1")}));
  panes.setTrace(QStringLiteral("/a.pft"), index);
  QCOMPARE(g_told.window->next(0), std::uint64_t{0});  // of the other trace
  QSignalSpy selected(&panes, &PluginPanes::eventSelected);
  QSignalSpy replay(&panes, &PluginPanes::replayToRequested);
  QSignalSpy said(&panes, &PluginPanes::said);
  g_told.window->select({1, 1});
  g_told.window->select({1, 100000});  // is not there
  g_told.window->replayTo({1, 1});
  g_told.window->replayTo({77, 1});
  g_told.window->say("a word");
  QCOMPARE(selected.size(), 1);
  QCOMPARE(selected.first().first().value<EventRef>(), (EventRef{1, 1}));
  QCOMPARE(replay.size(), 1);
  QCOMPARE(said.size(), 2);
  QVERIFY(said[0][0].toString().contains(QStringLiteral("no event 1 of rank 77")));
  QCOMPARE(said[1][0].toString(), QStringLiteral("a word"));
}

void PluginsTest::oneThatThrowsIsSaid() {
  const plugins::Registry registry;
  QWidget parent;
  PluginPanes panes(registry);
  const plugins::Plugin bad = pluginWith("bad", makePane<ThrowingPane>);
  const plugins::Plugin good = pluginWith("good", makePane<ListeningPane>);
  QVERIFY(panes.make(bad, bad.parts.front(), &parent).ok());
  QVERIFY(panes.make(good, good.parts.front(), &parent).ok());
  QSignalSpy said(&panes, &PluginPanes::said);
  panes.setTrace({}, views::makeIndex(views::test::masterWorker()));
  QCOMPARE(said.size(), 1);
  QVERIFY(said[0][0].toString().contains(
      QStringLiteral("pane bad of plugin bad failed: too colourful")));
  QCOMPARE(g_told.lines, QStringList{QStringLiteral("trace 4")});  // the other has been told
}

void PluginsTest::onesThatCannotBeMade() {
  const plugins::Registry registry;
  QWidget parent;
  PluginPanes panes(registry);
  const plugins::Plugin throws = pluginWith("throws", makeNothing);
  const Result<QWidget*> made = panes.make(throws, throws.parts.front(), &parent);
  QVERIFY(!made.ok());
  QCOMPARE(made.error().message, "pane throws of plugin throws failed: no room");
  QVERIFY(panes.widgets().empty());
}

/// The exporter csv goes by the interface only: what the window's trace gives it is what the command line's does.
void PluginsTest::sameFactsAsOnTheCommandLine() {
  for (const char* const name : {"any_source_sum", "irecv_any_waitall", "sendrecv_any",
                                 "probe_then_recv", "cancel_pending", "subcommunicators"}) {
    const QString trace = m_dir.filePath(QLatin1String(name) + QStringLiteral(".pft"));
    test::record(trace, {QStringLiteral("--mode"), QStringLiteral("all")}, 4,
                 test::bin((std::string("corpus/") + name).c_str()));
    QProcess process;
    process.start(test::bin("photofinish"), {QStringLiteral("export"), trace,
                                             QStringLiteral("--format"), QStringLiteral("csv")});
    QVERIFY(process.waitForFinished(test::kPatience));
    const std::string expected = process.readAllStandardOutput().toStdString();
    QVERIFY(expected.size() > 200);
    for (const char* const most : {"2000000", "1"}) {  // in memory, and chunk by chunk
      qputenv("PHOTOFINISH_EVENTS_IN_MEMORY", most);
      QString problem;
      const auto window = test::open(trace, &problem);
      QVERIFY2(window != nullptr, qPrintable(problem));
      const plugins::IndexTrace shown(trace.toStdString(), window->diagram().canvas()->trace());
      KeptOutput output;
      window->plugins().find(plugins::PartKind::Exporter, "csv")->write(shown, output);
      QCOMPARE(output.text(), expected);
    }
    qunsetenv("PHOTOFINISH_EVENTS_IN_MEMORY");
  }
}

void PluginsTest::refusedOnesAreListed() {
  qputenv("PHOTOFINISH_PLUGIN_PATH", PF_MADE_PLUGINS);
  if (const auto files = QFileInfo(QStringLiteral(PF_MADE_PLUGINS)); !files.exists()) {
    QSKIP("the plugins were not built");
  }
  MainWindow window;
  window.show();
  QVERIFY2(window.statusText().contains(QStringLiteral("not loaded: Tools, Plugins")),
           qPrintable(window.statusText()));
  const PluginsDialog dialog(window.plugins(), nullptr);
  QStringList rows;
  for (int row = 0; row < dialog.list()->topLevelItemCount(); ++row) {
    const QTreeWidgetItem* const item = dialog.list()->topLevelItem(row);
    rows << (QStringList{item->text(0), item->text(1), item->text(2)}).join(QLatin1Char('|'));
  }
  const auto has = [&rows](const QString& words) {
    return std::ranges::any_of(rows, [&](const QString& row) { return row.contains(words); });
  };
  for (const char* const words :
       {"whole|1.2|Has one of each.",
        "whole.so|refused|pane bars of plugin whole failed: it made no widget",
        "former.so|refused|former.so is made for version 77", "there is no colour left",
        "it crashed", "it did not come back", "ended its process with status 7",
        "|Message queues"}) {
    QVERIFY2(has(QLatin1String(words)), words + rows.join(QLatin1Char('\n')).toUtf8());
  }
  QVERIFY(window.showPane(QStringLiteral("queues")));
  QVERIFY(!window.showPane(QStringLiteral("bars")));
}

std::unique_ptr<MainWindow> PluginsTest::openWithWhole() {
  const QString plugins = m_dir.filePath(QStringLiteral("plugins"));
  if (QDir().mkpath(plugins)) {
    QFile::copy(QStringLiteral(PF_MADE_PLUGINS "/whole.so"), plugins + QStringLiteral("/whole.so"));
  }
  qputenv("PHOTOFINISH_PLUGIN_PATH", plugins.toUtf8());
  const QString trace = m_dir.filePath(QStringLiteral("judged.pft"));
  test::record(trace, {QStringLiteral("--mode"), QStringLiteral("all")}, 4,
               test::bin("corpus/any_source_sum"));
  QString problem;
  auto window = test::open(trace, &problem);
  if (window == nullptr) {
    qWarning("%s", qPrintable(problem));
  }
  return window;
}

void PluginsTest::commandsAndExporters() {
  const auto window = openWithWhole();
  QVERIFY(window != nullptr);
  PluginCommands& commands = window->pluginCommands();
  QCOMPARE(commands.commands().size(), 1);
  QCOMPARE(commands.commands().first()->text(), QStringLiteral("Count …"));
  QSignalSpy ended(&commands, &PluginCommands::ended);
  const QString out = m_dir.filePath(QStringLiteral("ranks.txt"));
  commands.exportTo(QStringLiteral("ranks"), out);
  QVERIFY(ended.wait(test::kPatience));
  QVERIFY2(window->statusText().contains(QStringLiteral("was written to")),
           qPrintable(window->statusText()));
  QFile file(out);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll(), QByteArray("4\n"));
  commands.exportTo(QStringLiteral("ranks"), out);
  QVERIFY(ended.wait(test::kPatience));
  QVERIFY2(window->statusText().contains(QStringLiteral("is there already")),
           qPrintable(window->statusText()));
  commands.run(QStringLiteral("count"), {});
  QVERIFY(ended.wait(test::kPatience));
  const auto* const dialog = window->findChild<QDialog*>(QStringLiteral("commandOutput"));
  QVERIFY(dialog != nullptr);
  QCOMPARE(dialog->findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("words: 0\n"));
  commands.run(QStringLiteral("count"), {QStringLiteral("one"), QStringLiteral("--two")});
  QVERIFY(ended.wait(test::kPatience));
  QVERIFY2(window->statusText().contains(QStringLiteral("count ended with status 2")),
           qPrintable(window->statusText()));
}

/// That of `whole` throws when it is made: it is said where its verdict would be.
void PluginsTest::judgesSpeakInTheWindow() {
  const auto window = openWithWhole();
  QVERIFY(window != nullptr);
  window->races().selectRace(0);
  const auto labels = window->races().findChildren<QLabel*>();
  QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
    return label->text().contains(
        QStringLiteral("judge strict of plugin whole failed: no judge today"));
  }));
}

}  // namespace

QTEST_MAIN(PluginsTest)
#include "plugins_test.moc"
