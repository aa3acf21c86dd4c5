#include "take_over.h"

#include "breakpoint_text.h"
#include "session_file.h"

#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include "app/own_traces.h"

namespace pf::gui {

void askToTakeOver(QWidget* window, const QString& path, const std::function<void()>& taken) {
  const Status may = app::mayRun(path.toStdString());
  if (may || may.error().code != ErrorCode::Usage) {
    return;
  }
  auto* box = new QMessageBox(QMessageBox::Warning, QObject::tr("The trace of somebody else"),
                              QString::fromStdString(may.error().message), {}, window);
  box->setObjectName(QStringLiteral("takeOver"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  box->setTextInteractionFlags(Qt::TextSelectableByMouse);
  box->setInformativeText(QObject::tr(
      "It can be read without a run, as far as its events are in it. Take it over only if you "
      "would "
      "type this command yourself: its replays then run it, and its breakpoints count as yours."));
  const auto* take = box->addButton(QObject::tr("Take over"), QMessageBox::AcceptRole);
  QPushButton* read = box->addButton(QObject::tr("Read only"), QMessageBox::RejectRole);
  box->setDefaultButton(read);
  box->setEscapeButton(read);
  QObject::connect(box, &QMessageBox::buttonClicked, window,
                   [take, path, taken](const QAbstractButton* button) {
                     if (button == take) {
                       (void)app::takeOver(path.toStdString());  // else it is for this window only
                       taken();
                     }
                   });
  box->open();
}

void takeOverGiven(const QString& path) {
  if (!path.endsWith(QLatin1String(".pfs"))) {
    (void)app::takeOver(path.toStdString());
    return;
  }
  if (const Result<session::SessionFile> file = session::readSessionFile(path); file) {
    for (const views::Breakpoint& breakpoint : file->breakpoints) {
      app::keepWords(app::wordsOf(session::toRow(breakpoint)));
    }
    for (const QString& watch : file->watches + QStringList{file->expression}) {
      app::keepWords(watch.toStdString());
    }
    if (QFileInfo::exists(file->trace)) {
      (void)app::takeOver(file->trace.toStdString());
    }
  }
}

}  // namespace pf::gui
