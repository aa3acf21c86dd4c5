// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/plugin_panes.h"

#include <algorithm>
#include <utility>

#include "plugins/host/facts.h"
#include "views/values/text.h"

namespace pf::gui {

PluginPanes::~PluginPanes() {
  for (One& one : m_panes) {
    (void)plugins::guarded(one.name, [&one] { one.pane.reset(); });
  }
}

Result<QWidget*> PluginPanes::make(const plugins::Plugin& plugin, const plugins::Part& part,
                                   QWidget* parent) {
  One one{"pane " + part.id + (plugin.path.empty() ? "" : " of plugin " + plugin.name), nullptr,
          nullptr};
  if (Status made = plugins::guarded(one.name,
                                     [&] {
                                       one.pane.reset(part.makePane(*this, parent));
                                       one.widget = one.pane ? one.pane->widget() : nullptr;
                                     });
      !made) {
    return made.error();
  }
  if (one.widget == nullptr) {
    return Error{ErrorCode::Usage, one.name + " failed: it made no widget",
                 "Tell who has made it."};
  }
  m_panes.push_back(std::move(one));
  return m_panes.back().widget;
}

std::vector<QWidget*> PluginPanes::widgets() const {
  std::vector<QWidget*> found;
  for (const One& one : m_panes) {
    found.push_back(one.widget);
  }
  return found;
}

void PluginPanes::each(void (*call)(photofinish::Pane& pane)) {
  for (One& one : m_panes) {
    if (const Status called = plugins::guarded(one.name, [&] { call(*one.pane); }); !called) {
      Q_EMIT said(QString::fromStdString(called.error().text()), true);
    }
  }
}

void PluginPanes::give(const QString& path, const views::TraceIndexPtr& index, bool newer) {
  m_judges.reset();
  const std::unique_ptr<plugins::IndexTrace> former = std::move(m_trace);  // until all know
  m_trace = index ? std::make_unique<plugins::IndexTrace>(path.toStdString(), index) : nullptr;
  if (newer) {
    each([](photofinish::Pane& pane) { pane.traceChanged(true); });
  } else {
    each([](photofinish::Pane& pane) { pane.traceChanged(false); });
  }
}

void PluginPanes::setTrace(const QString& path, const views::TraceIndexPtr& index) {
  m_selected = {};
  m_positions.clear();
  give(path, index, false);
}

void PluginPanes::renewTrace(const QString& path, const views::TraceIndexPtr& index,
                             const EventRef& selected) {
  give(path, index, true);
  setSelected(selected);
}

void PluginPanes::setSelected(const EventRef& event) {
  m_selected = plugins::shownRef(event);
  each([](photofinish::Pane& pane) { pane.selectionChanged(); });
}

void PluginPanes::setPositions(const std::vector<values::ReplayPosition>& positions) {
  m_positions = positions;
  each([](photofinish::Pane& pane) { pane.cutChanged(); });
}

QStringList PluginPanes::verdicts(int race) {
  QStringList lines;
  if (m_trace == nullptr || race < 0) {
    return lines;
  }
  if (!m_judges) {
    m_judges.emplace(m_registry, *m_trace);
  }
  for (const app::JudgeWord& word : m_judges->of(static_cast<std::size_t>(race))) {
    const QString reason = values::visibleText(QString::fromStdString(word.reason));
    const QString name = QString::fromStdString(word.judge);
    lines << (word.opinion.empty()       ? reason
              : word.opinion == "benign" ? tr("Judge %1: benign, %2").arg(name, reason)
                                         : tr("Judge %1: suspect, %2").arg(name, reason));
  }
  return lines;
}

std::uint64_t PluginPanes::next(std::int32_t rank) const {
  for (const values::ReplayPosition& position : m_positions) {
    if (position.rank == rank) {
      return position.next;
    }
  }
  return 0;
}

bool PluginPanes::inside(std::int32_t rank) const {
  return std::ranges::any_of(m_positions, [rank](const values::ReplayPosition& position) {
    return position.rank == rank && position.inside;
  });
}

void PluginPanes::select(photofinish::EventRef at) {
  const EventRef event = plugins::eventOf(at);
  if (m_trace && (!event.valid() || m_trace->index()->contains(event))) {
    Q_EMIT eventSelected(event);
  }
}

void PluginPanes::replayTo(photofinish::EventRef at) {
  const EventRef event = plugins::eventOf(at);
  if (m_trace && m_trace->index()->contains(event)) {
    Q_EMIT replayToRequested(event);
  } else {
    Q_EMIT said(tr("There is no event %1 of rank %2.").arg(event.serial).arg(event.rank), true);
  }
}

void PluginPanes::say(photofinish::Text text) {
  Q_EMIT said(QString::fromStdString(text.string()), false);
}

}  // namespace pf::gui

#include "moc_plugin_panes.cpp"
