// SPDX-License-Identifier: GPL-3.0-or-later
// What exporters and commands, bundled or of plugins, make of the open trace. Each runs as `photofinish export` or `command`, a
// process of its own: it neither holds up the window nor takes it along.
#pragma once

#include <functional>

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>

#include "plugins/host/registry.h"

class QAction;
class QProcess;
class QWidget;

namespace pf::gui {

class ShownTrace;

class PluginCommands : public QObject {
  Q_OBJECT
 public:
  PluginCommands(QWidget& window, const ShownTrace& shown, const plugins::Registry& registry,
                 std::function<void(const QString& text, bool problem)> said);

  /// "Export trace …": asks for a format and a file.
  [[nodiscard]] QAction* exportAction() const { return m_export; }
  /// One for each command of a plugin, which asks for its words. There may be none.
  [[nodiscard]] const QList<QAction*>& commands() const { return m_commands; }

  /// Writes the open trace to `path`, where nothing is yet. What became of it is said.
  void exportTo(const QString& exporter, const QString& path);
  /// What the command prints is shown in a dialog, "commandOutput".
  void run(const QString& command, const QStringList& words);

 Q_SIGNALS:
  void ended();

 private:
  void askExport();
  void askWords(const plugins::Part& command);
  /// `done(standard output)` where it ends well; else what it says on standard error is said.
  void start(const QString& name, const QStringList& words,
             const std::function<void(const QString& text)>& done);
  void finish(QProcess& process, const QString& name,
              const std::function<void(const QString& text)>& done);
  void showOutput(const QString& title, const QString& text);

  QWidget& m_window;
  const ShownTrace& m_shown;
  const plugins::Registry& m_registry;
  std::function<void(const QString& text, bool problem)> m_said;
  QAction* m_export;
  QList<QAction*> m_commands;
};

}  // namespace pf::gui
