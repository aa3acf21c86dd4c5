// SPDX-License-Identifier: MIT
// The plugin interface: small and stable. A view plugin makes a widget that shows a trace.
//
// Bundled plugins are linked in and registered by the application (ViewRegistry::add). Others are
// shared objects with a class
//     class Mine : public QObject, public pf::plugins::ViewPlugin {
//       Q_OBJECT
//       Q_PLUGIN_METADATA(IID PF_VIEW_PLUGIN_IID)
//       Q_INTERFACES(pf::plugins::ViewPlugin)
// in a directory that only the user or root can write (ViewRegistry::loadFrom).
#pragma once

#include <memory>
#include <vector>

#include <QString>
#include <QStringList>
#include <QWidget>
#include <QtPlugin>

#include "replay_engine/base/result.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

class QPluginLoader;

#define PF_VIEW_PLUGIN_IID "org.photofinish.ViewPlugin/3"

namespace pf::plugins {

/// What a plugin shows. The application gives it the trace and listens to its selection.
class ViewWidget : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  /// Null when no trace is open. Called on the GUI thread; what is behind it never changes.
  virtual void setTrace(const views::TraceIndexPtr& trace) = 0;
  /// A newer version of the run that is shown, of a recording that goes on: what was chosen here stays.
  /// setSelectedEvent() follows.
  virtual void renewTrace(const views::TraceIndexPtr& trace) { setTrace(trace); }
  /// The event selected elsewhere; invalid when none.
  virtual void setSelectedEvent(const EventRef& event) = 0;
  /// Where the ranks of the replay are; empty when none runs.
  virtual void setPositions(const std::vector<values::ReplayPosition>& /*positions*/) {}

 Q_SIGNALS:
  void eventSelected(const pf::EventRef& event);
};

class ViewPlugin {
 public:
  ViewPlugin() = default;
  virtual ~ViewPlugin() = default;
  ViewPlugin(const ViewPlugin&) = delete;
  ViewPlugin& operator=(const ViewPlugin&) = delete;

  [[nodiscard]] virtual QString id() const = 0;     ///< never changes: "comm_matrix"
  [[nodiscard]] virtual QString title() const = 0;  ///< for a menu and a dock
  /// A new widget, owned by `parent`.
  [[nodiscard]] virtual ViewWidget* createWidget(QWidget* parent) = 0;
};

/// The plugins of this process. Lives on the GUI thread and longer than the widgets of its plugins.
class ViewRegistry {
 public:
  ViewRegistry();
  ~ViewRegistry();
  ViewRegistry(const ViewRegistry&) = delete;
  ViewRegistry& operator=(const ViewRegistry&) = delete;

  /// False if there is one of this id already.
  bool add(std::unique_ptr<ViewPlugin> plugin);
  /// Loads every *.so of `directory`. An error says which part of the path others could change; a
  /// file that is no plugin of ours is left out and named in `skipped`.
  [[nodiscard]] Status loadFrom(const QString& directory, QStringList* skipped = nullptr);

  [[nodiscard]] std::vector<ViewPlugin*> plugins() const;
  [[nodiscard]] ViewPlugin* find(const QString& id) const;

 private:
  Status loadOne(const QString& path);

  std::vector<std::unique_ptr<ViewPlugin>> m_own;
  std::vector<std::unique_ptr<QPluginLoader>> m_loaders;
  std::vector<ViewPlugin*> m_all;
};

/// Success if `path` is absolute and it and all its parents belong to the user or root and nobody
/// else may write them (sticky directories such as /tmp excepted, when what is below is ours).
[[nodiscard]] Status checkTrustedPath(const QString& path);

}  // namespace pf::plugins

Q_DECLARE_INTERFACE(pf::plugins::ViewPlugin, PF_VIEW_PLUGIN_IID)
