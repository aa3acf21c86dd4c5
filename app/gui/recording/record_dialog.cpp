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
#include <QSpinBox>

namespace pf::gui {
namespace {

const QString kCommand = QStringLiteral("record/command");
const QString kDirectory = QStringLiteral("record/directory");
const QString kInput = QStringLiteral("record/input");
const QString kFollow = QStringLiteral("record/follow");
const QString kContents = QStringLiteral("record/contents");
const QString kAddresses = QStringLiteral("record/addresses");
const QString kRepeat = QStringLiteral("record/untilFailure");
const QString kRuns = QStringLiteral("record/runs");
const QString kCheck = QStringLiteral("record/check");
const QString kJitter = QStringLiteral("record/jitter");

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

/// How often, and with which delays.
class Repetition {
 public:
  /// `follow` is for one run only.
  Repetition(QFormLayout& form, QCheckBox* follow)
      : m_repeat(new QCheckBox(QObject::tr("Again and again, until a run fails"))),
        m_runs(new QSpinBox),
        m_check(new QLineEdit(QSettings().value(kCheck).toString())),
        m_jitter(new QSpinBox) {
    m_repeat->setObjectName(QStringLiteral("recordRepeat"));
    m_repeat->setChecked(QSettings().value(kRepeat).toBool());
    m_repeat->setToolTip(
        QObject::tr("The run that fails is kept, and the last good one, to compare it with. What "
                    "hangs is ended, and has failed."));
    m_runs->setObjectName(QStringLiteral("recordRuns"));
    m_runs->setRange(2, 1000000);
    m_runs->setValue(QSettings().value(kRuns, 100).toInt());
    m_runs->setSuffix(QObject::tr(" runs at most"));
    m_check->setObjectName(QStringLiteral("recordCheck"));
    m_check->setPlaceholderText(QObject::tr("for example: grep -q \"sum 4950\""));
    m_check->setToolTip(
        QObject::tr("A command of the shell. It reads what a run printed that ended well, and says "
                    "by an exit status other than 0 that it was wrong."));
    m_jitter->setObjectName(QStringLiteral("recordJitter"));
    m_jitter->setRange(0, 1000000000);
    m_jitter->setValue(QSettings().value(kJitter, 0).toInt());
    m_jitter->setToolTip(QObject::tr(
        "Delays before calls and choices make rare orders of messages frequent. The same seed "
        "delays the same calls."));
    auto* line = new QHBoxLayout;
    line->addWidget(m_repeat);
    line->addWidget(m_runs);
    line->addStretch();
    form.addRow(QString(), line);
    form.addRow(QObject::tr("A run is wrong, too, if this fails:"), m_check);
    form.addRow(QObject::tr("Delays (jitter), by seed:"), m_jitter);
    const auto adapt = [this, follow] {
      const bool repeats = m_repeat->isChecked();
      m_runs->setEnabled(repeats);
      m_check->setEnabled(repeats);
      follow->setEnabled(!repeats);
      m_jitter->setSpecialValueText(repeats ? QObject::tr("native timing and delays in turn")
                                            : QObject::tr("none: native timing"));
    };
    QObject::connect(m_repeat, &QCheckBox::toggled, m_repeat, adapt);
    adapt();
  }
  /// Proposed next time, and put into `wanted`.
  void take(RecordRequest& wanted) const {
    QSettings settings;
    settings.setValue(kRepeat, m_repeat->isChecked());
    settings.setValue(kRuns, m_runs->value());
    settings.setValue(kCheck, m_check->text());
    settings.setValue(kJitter, m_jitter->value());
    wanted.jitter = m_jitter->value();
    if (m_repeat->isChecked()) {
      wanted.runs = m_runs->value();
      wanted.check = m_check->text().trimmed();
      wanted.follow = false;
    }
  }

 private:
  QCheckBox* m_repeat;
  QSpinBox* m_runs;
  QLineEdit* m_check;
  QSpinBox* m_jitter;
};

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
  auto* contents = new QCheckBox(QObject::tr("Keep what is in the messages"));
  contents->setObjectName(QStringLiteral("recordContents"));
  contents->setChecked(QSettings().value(kContents).toBool());
  contents->setToolTip(
      QObject::tr("Each rank can be debugged alone then, without the others, and what its messages "
                  "held can be looked at (--groups each). The trace grows by what was received."));
  form->addRow(QString(), contents);
  auto* addresses = new QCheckBox(QObject::tr("Keep memory at the same addresses"));
  addresses->setObjectName(QStringLiteral("recordAddresses"));
  addresses->setChecked(QSettings().value(kAddresses).toBool());
  addresses->setToolTip(
      QObject::tr("What the program allocates lies where it will in each replay "
                  "(--same-addresses). Back to the last change needs that for the heap. A malloc "
                  "with free takes about twice as long."));
  form->addRow(QString(), addresses);
  const Repetition repetition(*form, follow);
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
  repetition.take(wanted);
  QSettings().setValue(kContents, contents->isChecked());
  if (contents->isChecked()) {
    wanted.options << QStringLiteral("--groups") << QStringLiteral("each");
  }
  QSettings().setValue(kAddresses, addresses->isChecked());
  if (addresses->isChecked()) {
    wanted.options << QStringLiteral("--same-addresses");
  }
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
