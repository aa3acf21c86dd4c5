// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/waits.h"

#include <memory>
#include <utility>

#include <QFutureWatcher>

#include "app/session/state/in_background.h"
#include "views/trace/analyses/waits_text.h"

namespace pf::session {
namespace {

struct Found {
  views::TraceIndexPtr index;
  WaitsAnswer answer;
};
using Read = std::shared_ptr<Result<Found>>;

Result<Found> find(const views::TraceIndexPtr& index,
                   const std::vector<values::ReplayPosition>& positions) {
  const bool recorded = index->pages() != nullptr || index->eventCount() > 0;
  if (!recorded && index->data().calls.empty()) {
    return Error{ErrorCode::Usage,
                 "who waits for whom is not known: the trace has no events, and no rank is stopped "
                 "under a debugger that can say in which call",
                 {}};
  }
  const bool replays = recorded && !positions.empty();
  const views::JobCut cut = replays ? views::cutOf(*index, positions) : views::cutAtEnd(*index);
  Found found{index, {{}, views::jobStateAt(*index, cut)}};
  found.answer.text = views::waitsText(
      *index, found.answer.state,
      replays ? Waits::tr("where the replay is") : Waits::tr("at the end of the record"));
  return found;
}

}  // namespace

void Waits::ask(Done done) {
  m_question.begin(std::move(done));
  m_calls.whenKnown([this, asked = m_question.guard()] {
    if (asked) {
      askNow();
    }
  });
}

void Waits::askNow() {
  auto* watcher = new QFutureWatcher<Read>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, guard = m_question.guard()] {
            watcher->deleteLater();
            const Done* question = guard.get();
            if (question == nullptr) {
              return;
            }
            const Result<Found>& found = *watcher->result();
            if (!found) {
              (*question)(found.error());
              return;
            }
            m_index = found->index;
            (*question)(found->answer);
          });
  const bool known = m_index != nullptr && m_index->dataPtr() == m_state.trace;
  watcher->setFuture(inBackground(
      [index = known ? m_index : nullptr, trace = m_state.trace, positions = m_state.positions()] {
        return std::make_shared<Result<Found>>(
            find(index != nullptr ? index : views::makeIndex(trace), positions));
      }));
}

}  // namespace pf::session

#include "moc_waits.cpp"
