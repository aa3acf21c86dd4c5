// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/take_over.h"

#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include "app/session/records/breakpoint_text.h"
#include "app/session/records/session_file.h"
#include "app/traces/own_traces.h"

namespace pf::gui {

namespace {

void ask(QWidget* window, const QString& title, const QString& shown, const QString& advice,
         const std::function<void()>& take) {
  auto* box = new QMessageBox(QMessageBox::Warning, title, shown, {}, window);
  box->setObjectName(QStringLiteral("takeOver"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  box->setTextInteractionFlags(Qt::TextSelectableByMouse);
  box->setInformativeText(advice);
  const auto* yes = box->addButton(QObject::tr("Take over"), QMessageBox::AcceptRole);
  QPushButton* read = box->addButton(QObject::tr("Read only"), QMessageBox::RejectRole);
  box->setDefaultButton(read);
  box->setEscapeButton(read);
  QObject::connect(box, &QMessageBox::buttonClicked, window,
                   [yes, take](const QAbstractButton* button) {
                     if (button == yes) {
                       take();
                     }
                   });
  box->open();
}

QString whatItRecords(const session::SessionFile& file) {
  const auto shown = [](const QString& word) {
    return QString::fromStdString(app::shownWord(word.toStdString()));
  };
  QStringList words;
  for (const QString& word : file.command) {
    words << shown(word);
  }
  return QObject::tr(
             "Its trace is not there, and this session was not saved by you. Recording "
             "again would run:\n  command    %1\n  directory  %2\n  input      %3\n"
             "Nothing of it has been run.")
      .arg(words.join(QLatin1Char(' ')), shown(file.directory),
           file.input.isEmpty() ? QObject::tr("none") : shown(file.input));
}

}  // namespace

void askToTakeOver(QWidget* window, const QString& path, const std::function<void()>& taken) {
  const Status may = app::mayRun(path.toStdString());
  if (may || may.error().code != ErrorCode::Usage) {
    return;
  }
  ask(window, QObject::tr("The trace of somebody else"),
      QString::fromStdString(may.error().message),
      QObject::tr("It can be read without a run, as far as its events are in it. Take it over only "
                  "if you would "
                  "type this command yourself: its replays then run it, and its breakpoints count "
                  "as yours."),
      [path, taken] {
        (void)app::takeOver(path.toStdString());  // else it is for this window only
        taken();
      });
}

void askToTakeOver(QWidget* window, const session::SessionFile& file,
                   const std::function<void()>& taken) {
  ask(window, QObject::tr("The session of somebody else"), whatItRecords(file),
      QObject::tr("Take it over only if you would type this command yourself: Record then has it, "
                  "and runs it when you say so."),
      [words = session::recordWords(file), taken] {
        app::keepWords(words);
        taken();
      });
}

void takeOverGiven(const QString& path) {
  if (!path.endsWith(QLatin1String(".pfs"))) {
    (void)app::takeOver(path.toStdString());
    return;
  }
  if (const Result<session::SessionFile> file = session::readSessionFile(path); file) {
    for (const values::Breakpoint& breakpoint : file->breakpoints) {
      app::keepWords(app::wordsOf(session::toRow(breakpoint)));
    }
    for (const QString& watch : file->watches + QStringList{file->expression}) {
      app::keepWords(watch.toStdString());
    }
    app::keepWords(session::recordWords(*file));
    if (QFileInfo::exists(file->trace)) {
      (void)app::takeOver(file->trace.toStdString());
    }
  }
}

}  // namespace pf::gui
