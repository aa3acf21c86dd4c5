// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/tutorial_window.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QSplitter>
#include <QStandardPaths>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QVBoxLayout>

#include "app/gui/commands/command.h"
#include "app/gui/recording/recording_desk.h"
#include "app/tutorial/lesson_tools.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

/// As `record` is asked for from the window.
RecordRequest requestOf(const app::LessonStart& start, const QString& directory) {
  constexpr int kMostRuns = 100;
  const QString kUntilFailure = QStringLiteral("--until-failure");
  RecordRequest request;
  request.command = QString::fromStdString(start.command);
  request.directory = directory;
  request.compares = false;
  for (const std::string& option : start.options) {
    request.options << QString::fromStdString(option);
  }
  request.runs = request.options.removeAll(kUntilFailure) > 0 ? kMostRuns : 1;
  return request;
}

/// Markdown has none.
void makeRoomAboveHeadings(const QTextDocument& text) {
  QTextBlockFormat room;
  room.setTopMargin(16);
  for (QTextBlock block = text.begin().next(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() > 0) {
      QTextCursor(block).mergeBlockFormat(room);
    }
  }
}

}  // namespace

TutorialWindow::TutorialWindow(std::vector<app::Lesson> lessons, QString directory)
    : m_lessons(std::move(lessons)),
      m_directory(std::move(directory)),
      m_list(new QListWidget),
      m_text(new QTextBrowser),
      m_note(new QLabel),
      m_begin(new QPushButton(tr("Record it"))),
      m_answer(new QPushButton(tr("The answer"))) {
  setObjectName(QStringLiteral("tutorialWindow"));
  setAttribute(Qt::WA_DeleteOnClose);
  setAttribute(Qt::WA_QuitOnClose, false);
  setWindowTitle(tr("Photofinish: tutorial"));
  m_list->setWordWrap(true);
  m_list->setSpacing(3);
  for (const app::Lesson& each : m_lessons) {
    auto* const item = new QListWidgetItem(
        tr("%1  %2 (%3, %4 minutes)")
            .arg(each.number)
            .arg(QString::fromStdString(each.title), QString::fromStdString(each.language))
            .arg(each.minutes),
        m_list);
    item->setToolTip(values::plainToolTip(QString::fromStdString(each.learn)));
  }
  m_note->setTextFormat(Qt::PlainText);
  m_note->setWordWrap(true);
  m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_begin->setObjectName(QStringLiteral("tutorialBegin"));
  m_begin->setToolTip(tr("Writes the program, compiles it, and records it until it fails"));
  m_answer->setObjectName(QStringLiteral("tutorialAnswer"));
  m_answer->setCheckable(true);
  auto* const below = new QHBoxLayout;
  below->addWidget(m_note, 1);
  below->addWidget(m_answer);
  below->addWidget(m_begin);
  auto* const page = new QWidget;
  auto* const column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_text, 1);
  column->addLayout(below);
  auto* const split = new QSplitter;
  split->addWidget(m_list);
  split->addWidget(page);
  split->setStretchFactor(1, 1);
  split->setSizes({240, 760});
  split->setChildrenCollapsible(false);
  auto* const whole = new QVBoxLayout(this);
  whole->addWidget(split);
  resize(1000, 660);
  m_begin->setDefault(true);
  connect(m_list, &QListWidget::currentRowChanged, this, &TutorialWindow::showLesson);
  connect(m_answer, &QPushButton::toggled, this, &TutorialWindow::showAnswer);
  connect(m_begin, &QPushButton::clicked, this, &TutorialWindow::begin);
  m_list->setCurrentRow(0);
}

TutorialWindow::~TutorialWindow() {
  if (m_compiler != nullptr) {  // it says that it has ended when it goes
    m_compiler->disconnect(this);
  }
}

const app::Lesson& TutorialWindow::lesson() const {
  return m_lessons.at(static_cast<std::size_t>(std::max(m_list->currentRow(), 0)));
}

QString TutorialWindow::target() const {
  return QStringLiteral("%1/%2-%3")
      .arg(m_directory)
      .arg(lesson().number)
      .arg(QString::fromStdString(lesson().name));
}

void TutorialWindow::tell(const QString& text) {
  m_note->setText(text);
}

void TutorialWindow::showLesson() {
  m_answer->setChecked(false);
  showAnswer();
  tell(tr("Its files will be in %1.").arg(QDir::toNativeSeparators(target())));
}

/// Or its text again.
void TutorialWindow::showAnswer() {
  const Result<std::string> text =
      m_answer->isChecked() ? app::solutionOf(lesson()) : app::textOf(lesson());
  m_text->setMarkdown(QString::fromStdString(text ? *text : text.error().text()));
  makeRoomAboveHeadings(*m_text->document());
}

void TutorialWindow::begin() {
  if (m_compiler != nullptr) {
    return;
  }
  if (const Status tools = app::hasTools(lesson()); !tools) {
    tell(QString::fromStdString(tools.error().text()));
    return;
  }
  const Result<app::LessonStart> start = app::startOf(lesson());
  if (!start) {
    tell(QString::fromStdString(start.error().text()));
    return;
  }
  // What is there is the user's, who may have mended it.
  if (!QFileInfo::exists(target() + QStringLiteral("/README.md"))) {
    if (const auto files = app::writeLesson(lesson(), target().toStdString()); !files) {
      tell(QString::fromStdString(files.error().text()));
      return;
    }
  }
  build(*start);
}

void TutorialWindow::build(const app::LessonStart& start) {
  const RecordRequest request = requestOf(start, target());
  const auto goOn = [this, request] {
    tell(tr("Its files, and what is recorded, are in %1.")
             .arg(QDir::toNativeSeparators(request.directory)));
    Q_EMIT recordingWanted(request);
  };
  QStringList words = QProcess::splitCommand(QString::fromStdString(start.build));
  if (words.isEmpty()) {
    goOn();
    return;
  }
  tell(tr("%1 …").arg(QString::fromStdString(start.build)));
  auto* const compiler = new QProcess(this);
  m_compiler = compiler;
  compiler->setWorkingDirectory(request.directory);
  compiler->setProcessChannelMode(QProcess::MergedChannels);
  connect(compiler, &QProcess::finished, this,
          [this, compiler, goOn](int status, QProcess::ExitStatus how) {
            compiler->deleteLater();
            m_compiler = nullptr;
            if (status == 0 && how == QProcess::NormalExit) {
              goOn();
            } else {
              tell(tr("It could not be compiled: %1")
                       .arg(QString::fromUtf8(compiler->readAll()).trimmed()));
            }
          });
  connect(compiler, &QProcess::errorOccurred, this, [this, compiler](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {  // else it has finished, too
      compiler->deleteLater();
      m_compiler = nullptr;
      tell(tr("%1 cannot be started: %2").arg(compiler->program(), compiler->errorString()));
    }
  });
  const QString program = words.takeFirst();
  compiler->start(program, words);
}

QAction* makeTutorial(QWidget& window, RecordingDesk& desk) {
  QAction* const action = makeCommand(
      window, QAction::tr("&Tutorial"),
      QAction::tr("Eight small programs with a bug each, and how one finds it"), {}, {}, {});
  action->setObjectName(QStringLiteral("tutorial"));
  QObject::connect(
      action, &QAction::triggered, &window,
      [&window, &desk, open = QPointer<TutorialWindow>()]() mutable {
        const Result<std::string> directory = app::tutorialDirectory();
        Result<std::vector<app::Lesson>> lessons =
            directory ? app::readLessons(*directory) : directory.error();
        if (!lessons) {
          QMessageBox::warning(&window, QAction::tr("Tutorial"),
                               QString::fromStdString(lessons.error().text()));
          return;
        }
        if (open == nullptr) {
          // Of no other window, before which it would stand always.
          open =
              new TutorialWindow(std::move(*lessons),
                                 QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                                     QStringLiteral("/tutorial"));
          QObject::connect(&window, &QObject::destroyed, open, &QObject::deleteLater);
          QObject::connect(open, &TutorialWindow::recordingWanted, &desk, &RecordingDesk::record);
        }
        open->show();
        open->raise();
      });
  return action;
}

}  // namespace pf::gui

#include "moc_tutorial_window.cpp"
