// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recording/record_dialog.h"

#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>

namespace pf::gui {
namespace {

const QString kCommand = QStringLiteral("record/command");
const QString kDirectory = QStringLiteral("record/directory");
const QString kInput = QStringLiteral("record/input");
const QString kFollow = QStringLiteral("record/follow");

RecordRequest proposal() {
  const QSettings settings;
  return {settings.value(kCommand, QStringLiteral("mpirun -n 4 ./program")).toString(),
          settings.value(kDirectory, QFileInfo(QStringLiteral(".")).absoluteFilePath()).toString(),
          settings.value(kInput).toString(), settings.value(kFollow).toBool()};
}

/// A field for a file's name, and a button to choose it.
QLayout* fileField(QLineEdit* name, const QLineEdit* directory) {
  auto* line = new QHBoxLayout;
  auto* browse = new QPushButton(QObject::tr("Choose …"));
  browse->setAutoDefault(false);
  QObject::connect(browse, &QPushButton::clicked, name, [name, directory] {
    const QString path = QFileDialog::getOpenFileName(
        name->window(), QObject::tr("Standard input from file"), directory->text());
    if (!path.isEmpty()) {
      name->setText(path);
    }
  });
  line->addWidget(name);
  line->addWidget(browse);
  return line;
}

}  // namespace

std::optional<RecordRequest> askRecordRequest(QWidget& window) {
  const RecordRequest proposed = proposal();
  QDialog dialog(&window);
  dialog.setWindowTitle(QObject::tr("Record a run"));
  auto* form = new QFormLayout(&dialog);
  auto* command = new QLineEdit(proposed.command);
  command->setMinimumWidth(480);
  auto* directory = new QLineEdit(proposed.directory);
  form->addRow(QObject::tr("Command, as you would type it:"), command);
  form->addRow(QObject::tr("In directory:"), directory);
  auto* input = new QLineEdit(proposed.input);
  input->setObjectName(QStringLiteral("recordInput"));
  input->setPlaceholderText(QObject::tr("none: the program finds its end at once"));
  input->setToolTip(
      QObject::tr("What the launcher reads, as after '<' in a shell; mpirun gives it to rank 0. "
                  "It is kept in the trace, and given back in each replay."));
  form->addRow(QObject::tr("Standard input from file:"), fileField(input, directory));
  auto* follow = new QCheckBox(QObject::tr("Show it while it runs"));
  follow->setObjectName(QStringLiteral("recordFollow"));
  follow->setChecked(proposed.follow);
  follow->setToolTip(QObject::tr(
      "The window follows the recording as it grows. For that every call is recorded (--mode all), "
      "at some eighty nanoseconds each."));
  form->addRow(QString(), follow);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(QObject::tr("Record"));
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  form->addRow(buttons);
  if (dialog.exec() != QDialog::Accepted) {
    return std::nullopt;
  }
  RecordRequest wanted{command->text(), directory->text(), input->text(), follow->isChecked()};
  proposeRecordRequest(wanted);
  proposeFollowing(wanted.follow);
  wanted.input = wanted.input.trimmed();
  return wanted;
}

void proposeRecordRequest(const RecordRequest& request) {
  QSettings settings;
  settings.setValue(kCommand, request.command);
  settings.setValue(kDirectory, request.directory);
  settings.setValue(kInput, request.input);
}

void proposeFollowing(bool follow) {
  QSettings().setValue(kFollow, follow);
}

}  // namespace pf::gui
