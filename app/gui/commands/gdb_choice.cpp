// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/gdb_choice.h"

#include <QInputDialog>
#include <QSettings>

#include "app/job/debugger_program.h"

namespace pf::gui {
namespace {

const QString kKey = QStringLiteral("debugger/gdb");

QString problemOf(const Status& used) {
  return used ? QString() : QString::fromStdString(used.error().text());
}

}  // namespace

QString takeChosenGdb() {
  const QString chosen = QSettings().value(kKey).toString();
  const bool told = app::gdbProgram() != "gdb";
  return told || chosen.isEmpty() ? QString() : problemOf(app::useGdb(chosen.toStdString()));
}

QString chooseGdb(QWidget* parent) {
  const std::string before = app::gdbProgram();
  bool given = false;
  const QString path =
      QInputDialog::getText(parent, QObject::tr("GDB"),
                            QObject::tr("Path or name of the GDB to use (cuda-gdb, rocgdb, a newer "
                                        "one); nothing: the first 'gdb'."),
                            QLineEdit::Normal,
                            before == "gdb" ? QString() : QString::fromStdString(before), &given)
          .trimmed();
  if (!given) {
    return {};
  }
  if (const QString problem = problemOf(app::useGdb(path.toStdString())); !problem.isEmpty()) {
    return problem;
  }
  QSettings().setValue(kKey, path);
  return QObject::tr("Debuggers that are started from now on are %1.")
      .arg(QString::fromStdString(app::gdbProgram()));
}

}  // namespace pf::gui
