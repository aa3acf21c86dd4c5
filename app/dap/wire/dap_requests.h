// SPDX-License-Identifier: GPL-3.0-or-later
// The conversation with a client: its state, and the requests that there are, each with the states
// in which it makes sense, what it needs, and who answers it. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/dap/wire/dap_messages.h"

namespace pf::headless {

/// In this order; a launch that fails goes back to Initialized.
enum class DapState { Fresh, Initialized, Launching, Configuring, Live, Over, Finishing };

/// What the ranks have to come from for a request to make sense; who has a later one has those
/// before it, too.
enum class Needs {
  Nothing,
  Process,  ///< a recording or a running job, no core files
  Recording,
};

class Requests {
 public:
  using Handler = std::function<void(const Request&)>;

  /// `from`, `to`: first and last state in which the request makes sense.
  void add(const std::string& command, DapState from, DapState to, Needs needs, Handler handler);
  void enter(DapState state) { m_state = state; }
  [[nodiscard]] DapState state() const { return m_state; }
  /// Who answers a request. Usage: it is not known, does not fit now, or needs more than `there`.
  [[nodiscard]] Result<Handler> find(const Request& request, Needs there) const;

 private:
  struct Entry {
    DapState from;
    DapState to;
    Needs needs;
    Handler handler;
  };
  std::map<std::string, Entry> m_entries;
  DapState m_state = DapState::Fresh;
};

}  // namespace pf::headless
