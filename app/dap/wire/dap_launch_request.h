// SPDX-License-Identifier: GPL-3.0-or-later
// A 'launch' or 'attach', which is answered once what it asks for is there.
#pragma once

#include <optional>

#include "app/dap/wire/dap_client.h"

namespace pf::headless {

class LaunchRequest {
 public:
  explicit LaunchRequest(DapClient& client) : m_client(client) {}

  void begin(const Request& request) { m_request = request; }
  /// Nobody waits for the answer any more.
  void abandon() { m_request.reset(); }
  [[nodiscard]] bool isPending() const { return m_request.has_value(); }
  [[nodiscard]] const Json& arguments() const { return m_request->arguments; }

  void succeed() { m_client.succeed(*std::exchange(m_request, std::nullopt)); }
  void fail(const Error& error) {
    m_client.showProgress({});
    m_client.fail(*std::exchange(m_request, std::nullopt), error);
  }

 private:
  DapClient& m_client;
  std::optional<Request> m_request;
};

}  // namespace pf::headless
