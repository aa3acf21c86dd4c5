// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_contents_answers.h"

#include <optional>

#include "app/dap/wire/dap_asked_event.h"
#include "app/session/debug_session.h"

namespace pf::headless {
namespace {

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
    : m_session(session), m_client(client), m_reader(session) {}

void ContentsAnswers::contents(const Request& request) {
  const std::optional<EventRef> event = askedEvent(m_client, request, m_session.trace()->execution);
  if (!event) {
    return;
  }
  m_reader.read(*event, [this, request](const Result<session::EventContents>& found) {
    if (found) {
      m_client.succeed(request, bodyOf(*found));
    } else {
      m_client.fail(request, found.error());
    }
  });
}

}  // namespace pf::headless
