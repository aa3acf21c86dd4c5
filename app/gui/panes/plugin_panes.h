// SPDX-License-Identifier: GPL-3.0-or-later
// Panes of plugins, bundled ones among them: the window as they see it, and what is told to them. What one of them throws is
// told to the user, and the others go on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>
#include <QStringList>
#include <QWidget>

#include "app/plugins/judges.h"
#include "plugins/api/plugin.h"
#include "plugins/bundled/index_trace.h"
#include "plugins/host/registry.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

namespace pf::gui {

class PluginPanes : public QObject, public photofinish::Window {
  Q_OBJECT
 public:
  /// `registry` stays longer than this.
  explicit PluginPanes(const plugins::Registry& registry) : m_registry(registry) {}
  /// The panes go before their widgets do.
  ~PluginPanes() override;
  PluginPanes(const PluginPanes&) = delete;
  PluginPanes& operator=(const PluginPanes&) = delete;

  /// The widget of a new pane, which is `parent`'s; or why there is none.
  [[nodiscard]] Result<QWidget*> make(const plugins::Plugin& plugin, const plugins::Part& part,
                                      QWidget* parent);
  [[nodiscard]] std::vector<QWidget*> widgets() const;

  /// Null: none is open. `path` is empty where there is no file.
  void setTrace(const QString& path, const views::TraceIndexPtr& index);
  /// A newer version of the same run, with what is selected in it.
  void renewTrace(const QString& path, const views::TraceIndexPtr& index, const EventRef& selected);
  void setSelected(const EventRef& event);
  void setPositions(const std::vector<values::ReplayPosition>& positions);
  /// What judges say of a race of the trace, a line each. They are made when that is asked first.
  [[nodiscard]] QStringList verdicts(int race);

  // What they see.
  [[nodiscard]] const photofinish::Trace* trace() const override { return m_trace.get(); }
  [[nodiscard]] photofinish::EventRef selected() const override { return m_selected; }
  [[nodiscard]] std::uint64_t next(std::int32_t rank) const override;
  [[nodiscard]] bool inside(std::int32_t rank) const override;
  void select(photofinish::EventRef at) override;
  void replayTo(photofinish::EventRef at) override;
  void say(photofinish::Text text) override;

 Q_SIGNALS:
  void eventSelected(const pf::EventRef& event);
  void replayToRequested(const pf::EventRef& event);
  void said(const QString& text, bool problem);

 private:
  struct One {
    std::string name;  ///< for messages
    std::unique_ptr<photofinish::Pane> pane;
    QWidget* widget;
  };
  void give(const QString& path, const views::TraceIndexPtr& index, bool newer);
  void each(void (*call)(photofinish::Pane& pane));

  const plugins::Registry& m_registry;
  std::vector<One> m_panes;
  std::unique_ptr<plugins::IndexTrace> m_trace;
  std::optional<app::Judges> m_judges;  ///< of it
  photofinish::EventRef m_selected;
  std::vector<values::ReplayPosition> m_positions;
};

}  // namespace pf::gui
