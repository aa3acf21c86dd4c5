// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_client.h"

namespace pf::headless {
namespace {

const char* streamCategory(bool errors) {
  return errors ? "stderr" : "stdout";
}

}  // namespace

DapClient::DapClient(ByteChannel& channel, bool strict, QObject* parent)
    : QObject(parent), m_channel(channel), m_strict(strict) {
  connect(&channel, &ByteChannel::received, this, &DapClient::receive);
  connect(&channel, &ByteChannel::closed, this, &DapClient::left);
}

void DapClient::receive(const QByteArray& bytes) {
  m_frames.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
  while (m_listens) {
    const std::optional<Result<std::string>> next = m_frames.next();
    if (!next) {
      return;
    }
    if (next->ok()) {
      take(**next);
    } else {
      takeNoise(next->error());
    }
  }
}

void DapClient::take(const std::string& content) {
  std::int64_t seq = 0;
  const Result<Request> request = parseRequest(content, seq);
  if (request) {
    Q_EMIT requested(*request);
  } else {
    send(errorResponse(seq, "", request.error()));
  }
}

void DapClient::takeNoise(const Error& error) {
  send(errorResponse(0, "", error));
  if (m_strict) {
    Q_EMIT left();
  }
}

void DapClient::introduce(const Json& arguments) {
  m_format = ClientFormat(arguments);
  m_showsProgress = flag(arguments, "supportsProgressReporting");
  m_invalidates = flag(arguments, "supportsInvalidatedEvent");
}

void DapClient::send(Json message) {
  message["seq"] = ++m_seq;
  m_channel.write(frame(toText(message)));
}

void DapClient::succeed(const Request& request, Json body) {
  send(response(request, std::move(body)));
}

void DapClient::fail(const Request& request, const Error& error) {
  send(errorResponse(request.seq, request.command, error));
}

void DapClient::fail(const Request& request, const std::string& message,
                     const std::string& advice) {
  fail(request, {ErrorCode::Usage, message, advice});
}

void DapClient::failAsRunning(const Request& request, int rank) {
  send(notStopped(request, "rank " + std::to_string(rank) + " runs"));
}

void DapClient::tell(const std::string& event, Json body) {
  send(eventMessage(event, std::move(body)));
}

void DapClient::output(const std::string& text, const char* category) {
  tell("output", {{"category", category}, {"output", text}});
}

void DapClient::say(const QString& line, const char* category) {
  output(line.toStdString() + "\n", category);
}

void DapClient::rankOutput(int rank, bool errors, const QByteArray& bytes) {
  const std::string lines = m_rankOutput.feed(
      rank, errors ? 2 : 1, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
  if (!lines.empty()) {
    output(marked(lines, "[" + std::to_string(rank) + "] "), streamCategory(errors));
  }
}

void DapClient::endRankOutput() {
  for (const auto& [key, text] : m_rankOutput.takeRest()) {
    output(text, streamCategory(key.second == 2));
  }
}

void DapClient::showProgress(const QString& task) {
  if (!m_showsProgress) {
    return;
  }
  if (task.isEmpty()) {
    endProgress();
    return;
  }
  const bool begins = m_progress == 0;
  m_progress = begins ? ++m_progresses : m_progress;
  Json body = {{"progressId", std::to_string(m_progress)}, {"message", task.toStdString()}};
  if (begins) {
    body["title"] = "Photofinish";
  }
  tell(begins ? "progressStart" : "progressUpdate", std::move(body));
}

void DapClient::endProgress() {
  if (m_progress != 0) {
    tell("progressEnd", {{"progressId", std::to_string(m_progress)}});
    m_progress = 0;
  }
}

void DapClient::invalidateVariables() {
  if (m_invalidates) {
    tell("invalidated", {{"areas", {"variables"}}});
  }
}

}  // namespace pf::headless

#include "moc_dap_client.cpp"
