// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/contents_reader.h"

#include <memory>
#include <utility>

#include <QFutureWatcher>

#include "app/session/debug_session.h"
#include "app/session/state/in_background.h"

namespace pf::session {
namespace {

struct WithIndex {
  views::TraceIndexPtr index;
  EventContents found;
};
using Read = std::shared_ptr<Result<WithIndex>>;

Result<WithIndex> readContentsOf(const views::TraceIndexPtr& index, const std::string& trace,
                                 const EventRef& event) {
  Result<EventContents> found = readEventContents(trace, askedContents(*index, event));
  return found ? Result<WithIndex>(WithIndex{index, std::move(*found)})
               : Result<WithIndex>(found.error());
}

}  // namespace

void ContentsReader::read(const EventRef& event, const Then& then) {
  auto* watcher = new QFutureWatcher<Read>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, then] {
    watcher->deleteLater();
    Result<WithIndex>& found = *watcher->result();
    if (!found) {
      then(found.error());
      return;
    }
    m_index = found->index;
    then(std::move(found->found));
  });
  const bool known = m_index != nullptr && m_index->dataPtr() == m_session.trace();
  watcher->setFuture(inBackground([index = known ? m_index : nullptr, trace = m_session.trace(),
                                   path = m_session.path().toStdString(), event] {
    return std::make_shared<Result<WithIndex>>(
        readContentsOf(index != nullptr ? index : views::makeIndex(trace), path, event));
  }));
}

}  // namespace pf::session
