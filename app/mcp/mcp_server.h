// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish mcp': a server of the Model Context Protocol for one client, over standard input and output. Requests wait for
// their turn, as tools act on one session; ping, lists and cancellations are answered at once.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include <QObject>

#include "app/front_end/byte_channel.h"
#include "app/mcp/tools.h"
#include "app/mcp/wire/json_rpc.h"
#include "app/mcp/wire/line_reader.h"

namespace pf::headless {

class McpServer : public QObject {
  Q_OBJECT
 public:
  McpServer(ByteChannel& channel, McpOptions options, const ToolDesk::Prepare& prepare = {});

  /// Ends the replay, and then the server: finished() follows.
  void finish();

 Q_SIGNALS:
  void finished();

 private:
  using Json = mcp::Json;
  /// Answers to the messages of a line that was an array.
  struct Batch {
    std::size_t missing = 0;
    Json answers = Json::array();
  };
  using BatchPtr = std::shared_ptr<Batch>;
  /// A call of a tool that waits for its turn, or goes on.
  struct Call {
    Json id;
    const mcp::Tool* tool = nullptr;
    mcp::Given given;
    Json progressToken = nullptr;
    BatchPtr batch;
    bool cancelled = false;
  };

  void receive(const QByteArray& bytes);
  void take(mcp::Received received);
  void handle(const mcp::Message& message, const BatchPtr& batch);
  void initialize(const mcp::Message& message, const BatchPtr& batch);
  void listTools(const mcp::Message& message, const BatchPtr& batch);
  void callTool(const mcp::Message& message, const BatchPtr& batch);
  void cancelled(const Json& id);
  void callNext();
  void callEnded(const ToolResult& result);
  void tellProgress(const QString& text);
  void answer(const Json& answer, const BatchPtr& batch);
  void noAnswer(const BatchPtr& batch);
  void refuse(const mcp::Message& message, const BatchPtr& batch, mcp::Code code, std::string what,
              std::string next);
  [[nodiscard]] Json resultOf(const ToolResult& result) const;
  [[nodiscard]] bool isUnderWay(const Json& id) const;

  ByteChannel& m_channel;
  LineReader m_lines;
  std::string_view m_version;  ///< empty: before 'initialize'
  std::deque<Call> m_waiting;
  std::optional<Call> m_present;
  std::int64_t m_progress = 0;  ///< of the present call
  bool m_finishing = false;
  ToolDesk m_desk;
};

/// Serves until the end of input, or of the process (SIGTERM, SIGINT, SIGHUP). Returns the exit status.
int serveMcp(const McpOptions& options);

}  // namespace pf::headless
