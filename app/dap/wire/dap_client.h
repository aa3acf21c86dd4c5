// SPDX-License-Identifier: GPL-3.0-or-later
// The client as we talk with it: its requests come in, responses and events go out, in the form
// that it asked for. It knows nothing of what is debugged.
//
// Rules:
// - Every message that goes out has the next sequence number.
// - What is no request is answered with an error, and goes no further.
#pragma once

#include <QObject>

#include "app/dap/wire/dap_client_format.h"
#include "app/dap/wire/dap_framing.h"
#include "app/dap/wire/dap_messages.h"
#include "app/front_end/byte_channel.h"
#include "app/front_end/line_buffers.h"

namespace pf::headless {

class DapClient : public QObject {
  Q_OBJECT
 public:
  /// `strict`: noise instead of a frame ends the connection (a port that others can reach).
  DapClient(ByteChannel& channel, bool strict, QObject* parent = nullptr);

  /// What 'initialize' says of the client.
  void introduce(const Json& arguments);
  [[nodiscard]] const ClientFormat& format() const { return m_format; }

  // -- responses
  void succeed(const Request& request, Json body = nullptr);
  void fail(const Request& request, const Error& error);
  /// A Usage error.
  void fail(const Request& request, const std::string& message, const std::string& advice = {});
  void failAsRunning(const Request& request, int rank);

  // -- events
  void tell(const std::string& event, Json body = nullptr);
  /// 'output': text as it is, or a line of ours.
  void output(const std::string& text, const char* category);
  void say(const QString& line, const char* category);
  /// What a rank writes, line by line.
  void rankOutput(int rank, bool errors, const QByteArray& bytes);
  /// What has no line end yet.
  void endRankOutput();
  /// Of what we are at; empty: it is done.
  void showProgress(const QString& task);
  /// Values of variables have changed by our doing.
  void invalidateVariables();

  /// No more requests: those that are on their way are dropped.
  void stopListening() { m_listens = false; }
  /// Tries for `milliseconds` to write what is left.
  void drain(int milliseconds) { m_channel.drain(milliseconds); }

 Q_SIGNALS:
  void requested(const pf::headless::Request& request);
  void left();  ///< the connection is at its end

 private:
  void receive(const QByteArray& bytes);
  void take(const std::string& content);
  void takeNoise(const Error& error);
  void send(Json message);
  void endProgress();

  ByteChannel& m_channel;
  bool m_strict;
  bool m_listens = true;
  FrameReader m_frames;
  std::int64_t m_seq = 0;
  ClientFormat m_format;
  bool m_showsProgress = false;
  bool m_invalidates = false;
  int m_progress = 0;  ///< id of the progress on show; 0: none is
  int m_progresses = 0;
  LineBuffers m_rankOutput;
};

}  // namespace pf::headless
