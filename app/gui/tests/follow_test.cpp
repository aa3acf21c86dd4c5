// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that goes on is shown as it grows: one that the window makes, and those of a
// terminal.
#include <algorithm>

#include <QAction>
#include <QCheckBox>
#include <QDialog>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>

#include "app/gui/main_window.h"
#include "app/gui/panes/failure_banner.h"
#include "app/gui/recording/recording_follower.h"
#include "app/gui/tests/window_test.h"
#include "app/session/records/session_records.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/race_list_view.h"

namespace {

namespace test = pf::gui::test;
using pf::EventRef;
using pf::gui::RecordingFollower;
using test::kPatience;

class FollowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { test::setUp(m_directory.path()); }
  void recordedByTheWindow();
  void recordedInATerminal();
  void choicesOnly();
  void logsThatVanish();
  void cleanup();

 private:
  using Canvas = pf::views::SpaceTimeCanvas;
  [[nodiscard]] QString fileOf(const char* name) const {
    return m_directory.filePath(QString::fromLatin1(name));
  }
  void openWindow();
  [[nodiscard]] Canvas& canvas() { return *m_window->diagram().canvas(); }
  [[nodiscard]] std::size_t events() {
    return canvas().trace() ? canvas().trace()->eventCount() : 0;
  }
  /// Waits until a version with more events is shown.
  [[nodiscard]] bool grows();
  [[nodiscard]] QString followed() {
    return m_window->findChild<QLabel*>(QStringLiteral("followed"))->text();
  }
  [[nodiscard]] QAction* followAction() {
    return m_window->findChild<QAction*>(QStringLiteral("followRecording"));
  }
  /// `photofinish record -o NAME OPTIONS mpirun … PROGRAM`. Comes back when ranks have logged
  /// something.
  void startInTerminal(const char* name, const QStringList& options, const QStringList& program);
  /// A program that goes on until the file `end` is there.
  [[nodiscard]] QStringList growing(const char* end) const {
    return {test::bin("e2e/growing"), fileOf(end), QStringLiteral("4000")};
  }
  static void touch(const QString& file) {
    QFile made(file);
    QVERIFY(made.open(QIODevice::WriteOnly));
  }

  QTemporaryDir m_directory;
  QProcess m_terminal;
  std::unique_ptr<pf::gui::MainWindow> m_window;
  QStringList m_versions;  ///< their paths
};

void FollowTest::openWindow() {
  m_versions.clear();
  m_window = std::make_unique<pf::gui::MainWindow>();
  m_window->show();
  connect(
      &m_window->follower(), &RecordingFollower::newer, this,
      [this](const RecordingFollower::VersionPtr& version) { m_versions.append(version->path); });
}

bool FollowTest::grows() {
  if (QTest::qWaitFor([this, before = events()] { return events() > before; },
                      100000)) {  // the longest pause, and more
    return true;
  }
  qWarning("%s; %s", qPrintable(followed()), qPrintable(m_window->statusText()));
  return false;
}

void FollowTest::startInTerminal(const char* name, const QStringList& options,
                                 const QStringList& program) {
  m_terminal.setProcessChannelMode(QProcess::MergedChannels);
  m_terminal.start(test::bin("photofinish"),
                   QStringList{QStringLiteral("record"), QStringLiteral("-o"), fileOf(name)} +
                       options +
                       QStringList{QStringLiteral("mpirun"), QStringLiteral("--oversubscribe"),
                                   QStringLiteral("-n"), QStringLiteral("3")} +
                       program);
  QVERIFY(m_terminal.waitForStarted(kPatience));
  QTRY_VERIFY_WITH_TIMEOUT(pf::app::recordingNow(fileOf(name).toStdString()).grown > 2000,
                           kPatience);
}

void FollowTest::cleanup() {
  touch(fileOf("end-1"));  // also where the test has failed
  if (m_window != nullptr) {
    m_window->close();  // a recording of its own goes on
  }
  m_window.reset();
  if (m_terminal.state() != QProcess::NotRunning) {
    m_terminal.terminate();  // it ends its ranks
    QVERIFY(m_terminal.waitForFinished(kPatience));
  }
}

void FollowTest::recordedByTheWindow() {
  QSettings().setValue(QStringLiteral("record/command"),
                       QStringLiteral("mpirun --oversubscribe -n 3 %1")
                           .arg(growing("end-1").join(QLatin1Char(' '))));
  QSettings().setValue(QStringLiteral("record/directory"), m_directory.path());
  openWindow();
  QSignalSpy opened(m_window.get(), &pf::gui::MainWindow::opened);
  QTimer::singleShot(0, this, [] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    dialog->findChild<QCheckBox*>(QStringLiteral("recordFollow"))->setChecked(true);
    dialog->accept();
  });
  test::command(*m_window, "Ctrl+R");
  QVERIFY(followAction()->isChecked());
  QVERIFY(opened.wait(kPatience));
  QVERIFY(opened.first()[0].toBool());
  QVERIFY2(m_window->windowTitle().contains(QLatin1String("growing-1.pft (recording)")),
           qPrintable(m_window->windowTitle()));
  QVERIFY2(followed().contains(QLatin1String("following growing-1.pft: ")) &&
               followed().contains(QLatin1String(" events, as of ")),
           qPrintable(followed()));

  // All of it is in view, and stays so.
  const auto view = [this] { return canvas().view(); };
  const auto last = [this] { return static_cast<double>(canvas().trace()->lastTime()); };
  QVERIFY(grows());
  QVERIFY(view().t0 <= 1 && view().t1 >= last());

  // What a person has chosen.
  const std::size_t begun = events();
  pf::views::RankArrangement rows;
  rows.hidden = {2};
  m_window->diagram().setArrangement(rows);
  canvas().viewport().zoomTo(5, 30);
  const double from = view().t0;
  const double to = view().t1;
  m_window->races().filterEdit()->setText(QStringLiteral("rank:0"));
  const int race = 5;
  m_window->races().selectRace(race);
  const EventRef receive = canvas().trace()->races().eventOf(race);
  canvas().eventCursor().select(receive, false);
  canvas().eventCursor().chooseAlternative(1);
  const int races = m_window->races().table()->model()->rowCount();
  auto* search = m_window->diagram().findChild<QLineEdit*>(QString(), Qt::FindChildrenRecursively);
  for (QLineEdit* edit : m_window->diagram().findChildren<QLineEdit*>()) {
    search = edit->accessibleName() == QLatin1String("Find events") ? edit : search;
  }
  search->setText(QStringLiteral("rank:0 kind:receive"));
  QTRY_VERIFY(!canvas().found()->hits.empty());
  const std::size_t hits = canvas().found()->hits.size();
  m_window->session().bookmarks().add(receive, QStringLiteral("look here"));
  m_window->session().watches().set({QStringLiteral("state")});
  m_window->session().judgedRaces().set(QStringLiteral("a < b"), QStringLiteral("it is so"));
  const auto kept = [&] {
    const int chosen = m_window->races().selectedRace();
    return view().t0 == from && view().t1 == to && canvas().eventCursor().selected() == receive &&
           canvas().eventCursor().alternative() == 1 && canvas().viewport().arrangement() == rows &&
           canvas().viewport().history().canUndo() && chosen >= 0 &&
           canvas().trace()->races().eventOf(static_cast<std::size_t>(chosen)) == receive;
  };
  QVERIFY(kept());
  QVERIFY(grows());
  QVERIFY(kept());
  QTRY_VERIFY_WITH_TIMEOUT(canvas().found()->hits.size() > hits &&
                               m_window->races().table()->model()->rowCount() > races,
                           kPatience);
  QVERIFY(kept());
  QVERIFY(events() > begun &&
          m_window->session().judgedRaces().notes().contains(QStringLiteral("a < b")));
  QVERIFY(m_window->session().trace()->execution.ranks[0].events.size() > receive.serial);

  // A view that ends with the trace goes on with it. What was made meanwhile is in the recording's
  // own trace.
  canvas().viewport().zoomTo(last() - 20, last() + 0.5);
  const double width = view().t1 - view().t0;
  QVERIFY(grows());
  QVERIFY(std::abs(view().t1 - view().t0 - width) < 1e-6 && view().t1 >= last() &&
          view().t1 < last() + 2);
  touch(fileOf("end-1"));
  QTRY_VERIFY_WITH_TIMEOUT(!m_window->windowTitle().contains(QLatin1String("recording")),
                           kPatience);
  QVERIFY(!followAction()->isChecked() && followed().trimmed().isEmpty());
  QCOMPARE(opened.size(), 1);
  QCOMPARE(canvas().eventCursor().selected(), receive);
  QVERIFY(view().t1 >= last() && view().t1 < last() + 2);
  QCOMPARE(m_versions.last(), fileOf("growing-1.pft"));
  QVERIFY(m_window->statusText().contains(QLatin1String("racing receive")));
  m_window->session().bookmarks().add({0, 3}, QStringLiteral("afterwards"));
  auto store = pf::db::TraceStore::open(fileOf("growing-1.pft").toStdString(),
                                        pf::db::TraceStore::Mode::ReadOnly);
  QVERIFY(store.ok());
  const auto records = pf::session::readRecords(*store);
  QVERIFY(records.ok());
  const auto has = [&](const char* text, pf::Rank rank, pf::Serial serial) {
    return std::ranges::count_if(records->notes, [&](const pf::db::Note& note) {
             return note.text == text && note.rank == rank && note.serial == serial;
           }) == 1;
  };
  QVERIFY(has("look here", receive.rank, receive.serial) && has("afterwards", 0, 3));
  QVERIFY(records->watches.size() == 1 && records->notes.size() == 2 &&
          records->judged.size() == 1);
  // Nothing is left of the versions, nor is their directory once the window is closed.
  const QDir peeks(QFileInfo(m_versions.first()).absolutePath() + QStringLiteral("/.."));
  QVERIFY(m_versions.size() >= 5);
  QVERIFY2(peeks.entryList(QDir::AllEntries | QDir::NoDotAndDotDot).isEmpty(),
           "older versions are removed");
  const QString directory = QDir::cleanPath(peeks.absolutePath());
  QVERIFY(QFileInfo::exists(directory));
  m_window.reset();
  QVERIFY(!QFileInfo::exists(directory));
}

void FollowTest::recordedInATerminal() {
  startInTerminal("t.pft", {QStringLiteral("--mode"), QStringLiteral("all")}, growing("end-2"));
  // A window that is killed leaves nothing behind.
  const QString temporary = fileOf("tmp");
  QVERIFY(QDir().mkpath(temporary));
  QProcess killed;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("TMPDIR"), temporary);
  killed.setProcessEnvironment(environment);
  killed.start(test::bin("photofinish-gui"), {fileOf("t.pft")});

  openWindow();
  m_window->openTrace(fileOf("t.pft"));
  QVERIFY(grows());
  m_window->session().bookmarks().add({1, 2}, QStringLiteral("early"));
  QVERIFY(grows());
  const auto peeks = [&temporary] {
    return QDir(temporary).entryList({QStringLiteral("photofinish-peek-*")}, QDir::Dirs).size();
  };
  QTRY_COMPARE_WITH_TIMEOUT(peeks(), 1, kPatience);
  killed.kill();
  QVERIFY(killed.waitForFinished(kPatience));
  QTRY_COMPARE_WITH_TIMEOUT(peeks(), 0, kPatience);
  // While what there is is replayed, nothing newer is shown; afterwards it is.
  m_window->session().debuggers().setFocus({});
  m_window->session().replayTo({0, 9});
  QTRY_COMPARE_WITH_TIMEOUT(m_window->session().serialOf(0), pf::Serial{8}, kPatience);
  const std::size_t shown = events();
  QTRY_VERIFY_WITH_TIMEOUT(followed().contains(QLatin1String("wait for the replay to end")),
                           kPatience);
  QCOMPARE(events(), shown);
  m_window->session().endReplay();
  QVERIFY(grows());
  touch(fileOf("end-2"));
  QTRY_VERIFY_WITH_TIMEOUT(m_versions.last() == fileOf("t.pft"), kPatience);
  QVERIFY(m_terminal.state() == QProcess::NotRunning || m_terminal.waitForFinished(kPatience));
  QCOMPARE(m_terminal.exitCode(), 0);
  QVERIFY(m_window->session().trace()->ends[0].kind == pf::views::RankEndKind::Finished);
  const auto records = m_window->session().records();
  QVERIFY(records.ok() && records->notes.size() == 1 && records->notes.front().text == "early");
}

/// Without --mode all, what the ranks did is seen in a replay of what there is.
void FollowTest::choicesOnly() {
  startInTerminal("c.pft", {}, growing("end-3"));
  const auto goOn = pf::app::recordingsThatGoOn();
  QVERIFY(std::ranges::find(goOn, fileOf("c.pft").toStdString()) != goOn.end());
  const auto ranks = [this] {
    int count = 0;
    for (const QString& process : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
      QFile words(QStringLiteral("/proc/%1/cmdline").arg(process));
      const QByteArray program = test::bin("e2e/growing").toUtf8();
      count += words.open(QIODevice::ReadOnly) &&
                       words.readAll().startsWith(program + '\0' + fileOf("end-3").toUtf8())
                   ? 1
                   : 0;
    }
    return count;
  };
  // A window that is closed meanwhile ends that replay.
  openWindow();
  m_window->followRecording(fileOf("c.pft"));
  QTRY_VERIFY_WITH_TIMEOUT(ranks() > 3, kPatience);
  m_window.reset();
  QTRY_COMPARE_WITH_TIMEOUT(ranks(), 3, kPatience);
  openWindow();
  m_window->followRecording(fileOf("c.pft"));
  QVERIFY(grows());
  const std::size_t early = events();
  QVERIFY(m_versions.last() != fileOf("c.pft"));
  m_terminal.terminate();  // it ends its ranks, and makes the trace of what there is
  QTRY_VERIFY_WITH_TIMEOUT(m_versions.last() == fileOf("c.pft"), kPatience);
  QVERIFY(events() > early);
  auto* banner = m_window->findChild<pf::gui::FailureBanner*>();
  QTRY_VERIFY_WITH_TIMEOUT(banner->isVisible(), kPatience);  // it was ended, and that is told
}

void FollowTest::logsThatVanish() {
  startInTerminal("v.pft", {QStringLiteral("--mode"), QStringLiteral("all")}, growing("end-4"));
  openWindow();
  m_window->openTrace(fileOf("v.pft"));
  QVERIFY(grows());
  QVERIFY(QDir().rename(fileOf("v.pft.d"), fileOf("gone.d")));
  QTRY_VERIFY_WITH_TIMEOUT(
      m_window->statusText().contains(QLatin1String("The recording of v.pft is gone")), kPatience);
  QVERIFY(m_window->statusText().contains(QLatin1String("What is shown is the last of it")));
  QVERIFY(events() > 0 && m_window->session().isOpen() && !followAction()->isChecked());
  m_terminal.terminate();
  QVERIFY(m_terminal.waitForFinished(kPatience));
}

}  // namespace

QTEST_MAIN(FollowTest)
#include "follow_test.moc"
