// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/contents_pane.h"

#include <QDockWidget>

#include "app/gui/panes/pane_actions.h"
#include "app/session/event_contents.h"
#include "replay_engine/base/caught.h"
#include "views/panes/contents_view.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

QString typeOf(const app::Contents& contents) {
  if (!contents.type) {
    return {};
  }
  const QString name = QString::fromUtf8(contents.type->name);
  const QString text = QString::fromStdString(app::typeText(*contents.type));
  return name.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, name);
}

values::MessageContents shownOf(const session::FoundContents& found) {
  const app::Contents& contents = found.contents;
  values::MessageContents out;
  out.what = contents.isCollective() ? QString::fromStdString(app::callName(contents))
                                     : ContentsPane::tr("message");
  if (!contents.isCollective()) {
    out.from = found.source >= 0
                   ? ContentsPane::tr("rank %1").arg(found.source)
                   : ContentsPane::tr("rank %1 of its communicator").arg(contents.head.a);
    out.tag = QString::number(contents.head.b);
  }
  out.receiver =
      ContentsPane::tr("rank %1, event %2").arg(found.receiver.rank).arg(found.receiver.serial);
  out.bytes = contents.size;
  out.datatype = typeOf(contents);
  out.values = QString::fromStdString(app::valuesText(contents, {}));
  out.hex = QString::fromStdString(app::hexDump(contents.bytes, {}));
  return out;
}

}  // namespace

ContentsPane::ContentsPane(views::ContentsView& view, QDockWidget& dock)
    : QObject(&dock), m_view(view), m_dock(dock) {
  connect(&dock, &QDockWidget::visibilityChanged, this, [this](bool visible) {
    m_seen = visible;
    refresh();
  });
}

void ContentsPane::setTrace(const QString& path, const views::TraceIndexPtr& trace) {
  m_path = path;
  m_trace = trace;
  m_shown = {};
  m_reading.forget();
  m_view.clear();
  refresh();
}

void ContentsPane::select(const EventRef& event) {
  m_event = event;
  refresh();
}

void ContentsPane::open(const EventRef& event) {
  select(event);
  goToPane(m_dock);
}

void ContentsPane::refresh() {
  if (!m_seen || m_event == m_shown) {
    return;
  }
  m_shown = m_event;
  m_reading.forget();
  if (m_path.isEmpty() || m_trace == nullptr || !m_trace->contains(m_event)) {
    m_view.clear();
    return;
  }
  m_view.showBusy(title());
  // The index does not change: it may be asked on another thread.
  m_reading.run(
      [trace = m_trace, path = m_path.toStdString(), event = m_event] {
        return caught([&] {
          return session::readEventContents(path, session::askedContents(*trace, event));
        });
      },
      [this](const Result<session::EventContents>& found) { show(found); });
}

void ContentsPane::show(const Result<session::EventContents>& found) {
  if (!found) {
    m_view.showContents(title(), {}, {QString::fromStdString(found.error().text())});
    return;
  }
  QList<values::MessageContents> contents;
  for (const session::FoundContents& each : found->found) {
    contents.append(shownOf(each));
  }
  m_view.showContents(title(), contents, found->notes);
}

QString ContentsPane::title() const {
  return views::eventTitle(*m_trace, m_event);
}

}  // namespace pf::gui

#include "moc_contents_pane.cpp"
