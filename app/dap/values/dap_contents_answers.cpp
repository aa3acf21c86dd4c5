// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_contents_answers.h"

#include <QFutureWatcher>

#include "app/session/event_contents.h"
#include "app/session/state/in_background.h"

namespace pf::headless {
namespace {

struct ReadContents {
  views::TraceIndexPtr index;
  session::EventContents found;
};
using Read = std::shared_ptr<Result<ReadContents>>;

Result<ReadContents> readContentsOf(const views::TraceIndexPtr& index, const std::string& trace,
                                    const EventRef& event) {
  Result<session::EventContents> found =
      session::readEventContents(trace, session::askedContents(*index, event));
  return found ? Result<ReadContents>(ReadContents{index, std::move(*found)})
               : Result<ReadContents>(found.error());
}

Json bodyOf(const session::EventContents& found) {
  Json contents = Json::array();
  for (const session::FoundContents& each : found.found) {
    Json one = app::contentsJson(each.contents, true);
    one["rank"] = each.receiver.rank;
    one["sourceRank"] = each.source >= 0 ? Json(each.source) : Json(nullptr);
    one["text"] = app::contentsText(each.contents);
    contents.push_back(std::move(one));
  }
  Json notes = Json::array();
  for (const QString& note : found.notes) {
    notes.push_back(note.toStdString());
  }
  return {{"rank", found.event.rank},
          {"serial", found.event.serial},
          {"contents", contents},
          {"notes", notes}};
}

}  // namespace

ContentsAnswers::ContentsAnswers(session::DebugSession& session, DapClient& client)
    : m_session(session), m_client(client) {}

void ContentsAnswers::contents(const Request& request) {
  const std::int64_t rank = number(request.arguments, "rank", -1);
  const std::int64_t serial = number(request.arguments, "serial", 0);
  const auto& ranks = m_session.trace()->execution.ranks;
  if (rank < 0 || serial < 1 || static_cast<std::size_t>(rank) >= ranks.size() ||
      static_cast<std::size_t>(serial) > ranks[static_cast<std::size_t>(rank)].events.size()) {
    m_client.fail(
        request, "the recording has no such event",
        "'rank' and 'serial' name it, serials count from 1; 'photofinish events' lists them.");
    return;
  }
  const EventRef event{static_cast<Rank>(rank), static_cast<Serial>(serial)};
  auto* watcher = new QFutureWatcher<Read>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, request] {
    watcher->deleteLater();
    const Read read = watcher->result();
    if (!*read) {
      m_client.fail(request, read->error());
      return;
    }
    m_index = (*read)->index;
    m_client.succeed(request, bodyOf((*read)->found));
  });
  const bool known = m_index != nullptr && m_index->dataPtr() == m_session.trace();
  watcher->setFuture(
      session::inBackground([index = known ? m_index : nullptr, trace = m_session.trace(),
                             path = m_session.path().toStdString(), event] {
        return std::make_shared<Result<ReadContents>>(
            readContentsOf(index != nullptr ? index : views::makeIndex(trace), path, event));
      }));
}

}  // namespace pf::headless
