// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/plugin_commands.h"

#include <utility>

#include <QAction>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QInputDialog>
#include <QPlainTextEdit>
#include <QProcess>
#include <QVBoxLayout>

#include "app/gui/commands/command.h"
#include "app/gui/panes/shown_trace.h"
#include "app/job/job.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

constexpr qsizetype kMostShown = qsizetype{4} << 20;  ///< bytes of a command's output

QString titleOf(const plugins::Part& part) {
  return values::visibleText(QString::fromStdString(part.title));
}

}  // namespace

PluginCommands::PluginCommands(QWidget& window, const ShownTrace& shown,
                               const plugins::Registry& registry,
                               std::function<void(const QString& text, bool problem)> said)
    : QObject(&window),
      m_window(window),
      m_shown(shown),
      m_registry(registry),
      m_said(std::move(said)),
      m_export(makeCommand(window, tr("Export trac&e …"),
                           tr("Write the trace in the format of other tools, or of a plugin"), {},
                           {}, [this] { askExport(); })) {
  for (const plugins::Part* const part : registry.parts(plugins::PartKind::Command)) {
    m_commands << makeCommand(window, titleOf(*part) + QStringLiteral(" …"),
                              values::visibleText(QString::fromStdString(part->help)), {}, {},
                              [this, part] { askWords(*part); });
  }
}

void PluginCommands::askExport() {
  QStringList titles;
  const std::vector<const plugins::Part*> exporters = m_registry.parts(plugins::PartKind::Exporter);
  for (const plugins::Part* const part : exporters) {
    titles << titleOf(*part) + QStringLiteral(" (") + QString::fromStdString(part->id) +
                  QLatin1Char(')');
  }
  bool ok = false;
  const QString chosen =
      QInputDialog::getItem(&m_window, tr("Export trace"), tr("Format:"), titles, 0, false, &ok);
  if (!ok) {
    return;
  }
  const QString path = QFileDialog::getSaveFileName(
      &m_window, tr("Export trace"), QFileInfo(m_shown.path()).absolutePath(), {}, nullptr,
      QFileDialog::DontConfirmOverwrite);  // nothing is overwritten
  if (!path.isEmpty()) {
    exportTo(
        QString::fromStdString(exporters[static_cast<std::size_t>(titles.indexOf(chosen))]->id),
        path);
  }
}

void PluginCommands::askWords(const plugins::Part& command) {
  bool ok = false;
  const QString words =
      QInputDialog::getText(&m_window, titleOf(command),
                            values::visibleText(QString::fromStdString(command.help)) +
                                QLatin1Char('\n') + tr("What follows on its command line:"),
                            QLineEdit::Normal, {}, &ok);
  if (ok) {
    run(QString::fromStdString(command.id), QProcess::splitCommand(words));
  }
}

void PluginCommands::exportTo(const QString& exporter, const QString& path) {
  start(exporter,
        {QStringLiteral("export"), m_shown.path(), QStringLiteral("--format"), exporter,
         QStringLiteral("-o"), path},
        [this, path](const QString&) {
          m_said(tr("The trace was written to %1.").arg(path), false);
        });
}

void PluginCommands::run(const QString& command, const QStringList& words) {
  start(
      command,
      QStringList{QStringLiteral("command"), command, m_shown.path(), QStringLiteral("--")} + words,
      [this, command](const QString& text) { showOutput(command, text); });
}

void PluginCommands::start(const QString& name, const QStringList& words,
                           const std::function<void(const QString& text)>& done) {
  if (m_shown.path().isEmpty()) {
    m_said(tr("No trace is open: %1 is about one.").arg(name), true);
    Q_EMIT ended();
    return;
  }
  auto* const process = new QProcess(this);
  connect(process, &QProcess::finished, this,
          [this, process, name, done] { finish(*process, name, done); });
  connect(process, &QProcess::errorOccurred, this,
          [this, process, name](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart) {
              m_said(tr("%1 could not be run: %2").arg(name, process->errorString()), true);
              process->deleteLater();
              Q_EMIT ended();
            }
          });
  m_said(tr("%1 runs …").arg(name), false);
  process->start(QString::fromStdString(app::programDirectory()) + QStringLiteral("/photofinish"),
                 words, QProcess::ReadOnly);
}

void PluginCommands::finish(QProcess& process, const QString& name,
                            const std::function<void(const QString& text)>& done) {
  process.deleteLater();
  QString said = QString::fromUtf8(process.readAllStandardError()).trimmed();
  if (const QString prefix = QStringLiteral("photofinish: "); said.startsWith(prefix)) {
    said.remove(0, prefix.size());
  }
  if (process.exitStatus() != QProcess::NormalExit) {
    m_said(tr("%1 crashed.").arg(name), true);
  } else if (process.exitCode() != 0) {
    m_said(said.isEmpty() ? tr("%1 ended with status %2.").arg(name).arg(process.exitCode())
                          : values::visibleText(said),
           true);
  } else {
    QByteArray output = process.readAllStandardOutput();
    const bool more = output.size() > kMostShown;
    output.truncate(kMostShown);
    done(QString::fromUtf8(output) + (more ? tr("\n… the rest is left out") : QString()));
  }
  Q_EMIT ended();
}

void PluginCommands::showOutput(const QString& title, const QString& text) {
  m_said(tr("%1 has ended.").arg(title), false);
  auto* const dialog = new QDialog(&m_window);
  dialog->setObjectName(QStringLiteral("commandOutput"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->resize(700, 460);
  auto* const edit = new QPlainTextEdit(text);
  edit->setReadOnly(true);
  edit->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
  auto* const layout = new QVBoxLayout(dialog);
  layout->addWidget(edit, 1);
  layout->addWidget(buttons);
  dialog->show();
}

}  // namespace pf::gui

#include "moc_plugin_commands.cpp"
