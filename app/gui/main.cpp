// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish-gui: the window.
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <string_view>

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QTimer>

#include "app/gui/commands/take_over.h"
#include "app/gui/main_window.h"
#include "app/session/targets/local_gdb.h"
#include "app/version.h"
#include "replay_engine/base/caught.h"
#include "replay_engine/base/unique_fd.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/framed_boxes.h"

namespace {

/// "failing" or RANK:SERIAL. Nothing: it is neither.
std::optional<pf::EventRef> goalOf(const QString& text) {
  if (text == QLatin1String("failing")) {
    return pf::EventRef{};
  }
  const QStringList parts = text.split(QLatin1Char(':'));
  bool rankOk = false;
  bool serialOk = false;
  const pf::EventRef goal{parts[0].toInt(&rankOk), parts.value(1).toULongLong(&serialOk)};
  return parts.size() == 2 && rankOk && serialOk && goal.valid() ? std::optional(goal)
                                                                 : std::nullopt;
}

/// Once the trace is open. Without a valid goal to where it failed.
void sendTo(pf::gui::MainWindow& window, const pf::EventRef& goal) {
  if (goal.valid()) {
    window.session().replayTo(goal);
  } else {
    window.session().go(pf::session::Move::Failure);
  }
}

/// What the window remembers (traces, command lines) is for nobody else, whatever the umask.
void keepSettingsPrivate() {
  const QString file = QSettings().fileName();
  const mode_t before = ::umask(077);
  (void)QDir().mkpath(QFileInfo(file).absolutePath());
  const pf::UniqueFd made(
      ::open(QFile::encodeName(file).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.valid()) {
    (void)::fchmod(made.get(), 0600);
  }
  ::umask(before);
}

void endWith(int status) {
  QTimer::singleShot(0, [status] { QCoreApplication::exit(status); });  // also before exec()
}

/// Writes a picture of the window once it has come to rest, and ends.
void takePicture(pf::gui::MainWindow& window, const QString& file) {
  QTimer::singleShot(1500, &window, [&window, file] {
    const bool written = window.grab().save(file);
    std::printf(written ? "photofinish: picture in %s\n" : "photofinish: cannot write %s\n",
                qPrintable(file));
    window.session().endReplay();
    QCoreApplication::exit(written ? 0 : 1);
  });
}

/// What a slot throws is said, and the window goes on: what it is about stays as it was.
class Application : public QApplication {
 public:
  using QApplication::QApplication;
  std::function<void(const pf::Error&)> say;
  bool notify(QObject* receiver, QEvent* event) override {
    try {
      return QApplication::notify(receiver, event);
    } catch (...) {
      pf::sayCaught("photofinish");
      if (say) {
        say(pf::caughtError());
      }
      return true;
    }
  }
};

/// The command line.
struct Asked {
  std::optional<QString> replayTo;
  std::optional<QString> attach;
  std::optional<QString> pane;
  QString screenshot;  ///< empty: none; so what follows
  QStringList cores;
  QString program;
  QString trace;
  bool trust = false;
};

/// Ends the program where the words are wrong, or ask for help.
Asked askedOf(const QCoreApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Photofinish: races and replay of MPI programs"));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption replayTo(QStringLiteral("replay-to"),
                                    QStringLiteral("Replay to 'failing' or RANK:SERIAL at once."),
                                    QStringLiteral("goal"));
  const QCommandLineOption screenshot(QStringLiteral("screenshot"),
                                      QStringLiteral("Write a picture of the window and end."),
                                      QStringLiteral("file"));
  const QCommandLineOption attach(QStringLiteral("attach"),
                                  QStringLiteral("Attach to the job of this launcher or rank."),
                                  QStringLiteral("pid"));
  const QCommandLineOption core(QStringLiteral("core"),
                                QStringLiteral("Open a core file; repeat it."),
                                QStringLiteral("file"));
  const QCommandLineOption program(QStringLiteral("program"),
                                   QStringLiteral("What left the core files."),
                                   QStringLiteral("file"));
  const QCommandLineOption pane(QStringLiteral("pane"),
                                QStringLiteral("Bring this pane to the front."),
                                QStringLiteral("name"));
  const QCommandLineOption trust(QStringLiteral("trust"),
                                 QStringLiteral("Run what the trace says, whoever recorded it."));
  parser.addOptions({attach, core, program, replayTo, screenshot, pane, trust});
  parser.addPositionalArgument(QStringLiteral("trace"), QStringLiteral("Trace or session to open."),
                               QStringLiteral("[trace]"));
  parser.process(application);
  const auto given = [&parser](const QCommandLineOption& option) {
    return parser.isSet(option) ? std::optional(parser.value(option)) : std::nullopt;
  };
  return {given(replayTo),
          given(attach),
          given(pane),
          parser.value(screenshot),
          parser.values(core),
          parser.value(program),
          parser.positionalArguments().value(0),
          parser.isSet(trust)};
}

/// Of the window where the replay has stopped; where none will, its words, and the end.
void takePictureThere(pf::gui::MainWindow& window, const QString& picture) {
  using pf::session::DebugSession;
  const QMetaObject::Connection failed = QObject::connect(
      &window.session(), &DebugSession::message, &window, [&window](const QString& why, bool) {
        if (!window.session().isReplaying()) {  // and nothing will
          std::fprintf(stderr, "photofinish: %s\n", qPrintable(why));
          endWith(2);
        }
      });
  QObject::connect(
      &window.session(), &DebugSession::settled, &window,
      [&window, picture, failed] {
        QObject::disconnect(failed);
        takePicture(window, picture);
      },
      Qt::SingleShotConnection);
}

/// What is done once a trace is open, or is not.
void whenOpened(pf::gui::MainWindow& window, const Asked& asked,
                const std::optional<pf::EventRef>& goal, bool ok) {
  if (!ok && !asked.screenshot.isEmpty()) {
    std::fprintf(stderr, "photofinish: %s\n", qPrintable(window.statusText()));
    endWith(4);
  } else if (ok && goal) {
    if (!asked.screenshot.isEmpty()) {
      takePictureThere(window, asked.screenshot);
    }
    sendTo(window, *goal);
  } else if (ok && !asked.screenshot.isEmpty()) {
    takePicture(window, asked.screenshot);
  }
}

/// False: there is no such pane.
bool bringToFront(pf::gui::MainWindow& window, const QString& pane) {
  if (!window.showPane(pane)) {
    return false;
  }
  // A workspace that is chosen later has its own panes in front.
  const auto show = [&window, pane] { (void)window.showPane(pane); };
  QObject::connect(&window, &pf::gui::MainWindow::opened, &window, show);
  QObject::connect(&window.session(), &pf::session::DebugSession::settled, &window, show);
  return true;
}

void openWhatIsAsked(pf::gui::MainWindow& window, const Asked& asked) {
  if (!asked.cores.isEmpty()) {
    window.openCores(asked.cores, asked.program);
  } else if (asked.attach) {
    window.attachTo(asked.attach->toLongLong());
  } else if (!asked.trace.isEmpty()) {
    if (asked.trust) {
      pf::gui::takeOverGiven(asked.trace);
    }
    window.openPath(asked.trace);
  } else if (!asked.screenshot.isEmpty()) {
    takePicture(window, asked.screenshot);
  }
}

/// Which need no display.
bool asksForWords(int argc, char** argv) {
  constexpr std::array<std::string_view, 5> kWords = {"-h", "--help", "--help-all", "-v",
                                                      "--version"};
  return std::any_of(argv, argv + argc, [&kWords](const char* argument) {
    return std::ranges::find(kWords, argument) != kWords.end();
  });
}

void setNames() {
  QCoreApplication::setOrganizationName(QStringLiteral("photofinish"));
  QCoreApplication::setApplicationName(QStringLiteral("photofinish"));
  QCoreApplication::setApplicationVersion(QString::fromLatin1(pf::app::kVersion));
}

int windowMain(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (asksForWords(argc, argv)) {
    const QCoreApplication words(argc, argv);
    setNames();
    (void)askedOf(words);  // ends
  }
  // Each thread that reads chunks would keep what they took: 740 MB instead of 400 after a tour of
  // a trace of 10^7 events.
  (void)::mallopt(M_ARENA_MAX, 1);
  Application application(argc, argv);
  QApplication::setStyle(new pf::views::FramedBoxes);
  setNames();
  const Asked asked = askedOf(application);
  keepSettingsPrivate();
  std::optional<pf::EventRef> goal;
  if (asked.replayTo) {
    goal = goalOf(*asked.replayTo);
    if (!goal) {
      std::fprintf(stderr, "photofinish: --replay-to takes 'failing' or RANK:SERIAL, not '%s'\n",
                   qPrintable(*asked.replayTo));
      return 2;
    }
  }
  const pf::session::EndOfLocalGdbs endOfGdbs;  // waits after the window is gone
  pf::gui::MainWindow window;
  application.say = [&window](const pf::Error& error) {
    window.say(QString::fromStdString(error.text()), true);
  };
  window.show();
  if (asked.pane && !bringToFront(window, *asked.pane)) {
    std::fprintf(stderr,
                 "photofinish: there is no pane '%s'; Tools, Plugins names those of plugins\n",
                 qPrintable(*asked.pane));
    return 2;
  }
  QObject::connect(&window, &pf::gui::MainWindow::opened, &window,
                   [&](bool ok) { whenOpened(window, asked, goal, ok); });
  openWhatIsAsked(window, asked);
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  return pf::lastCatch("photofinish", windowMain, argc, argv);
}
