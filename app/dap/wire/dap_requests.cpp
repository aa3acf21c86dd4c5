// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_requests.h"

namespace pf::headless {
namespace {

Error refusal(std::string message, std::string advice = {}) {
  return {ErrorCode::Usage, std::move(message), std::move(advice)};
}

const char* nowText(DapState state) {
  switch (state) {
    case DapState::Fresh:
      return "before 'initialize'";
    case DapState::Initialized:
      return "before 'launch'";
    case DapState::Launching:
      return "while the launch is under way";
    case DapState::Configuring:
      return "before 'configurationDone'";
    case DapState::Live:
      return "in a session that has begun";
    case DapState::Over:
    case DapState::Finishing:
      break;
  }
  return "after the end of the session";
}

Error lacks(const std::string& command, Needs needs) {
  if (needs == Needs::Recording) {
    return refusal("'" + command + "' needs a recording, and there is none of this job",
                   "Record the program ('launch' with 'program') to step back and to see its "
                   "races.");
  }
  return refusal("core files can only be looked at: nothing runs",
                 "Record the program ('launch' with 'program') to run it.");
}

}  // namespace

void Requests::add(const std::string& command, DapState from, DapState to, Needs needs,
                   Handler handler) {
  m_entries[command] = {from, to, needs, std::move(handler)};
}

Result<Requests::Handler> Requests::find(const Request& request, Needs there) const {
  const auto found = m_entries.find(request.command);
  if (found == m_entries.end()) {
    return refusal("the request '" + request.command + "' is not known here",
                   "See the capabilities in the response to 'initialize'.");
  }
  const Entry& entry = found->second;
  if (m_state < entry.from || m_state > entry.to) {
    return refusal("the request '" + request.command + "' does not fit " + nowText(m_state));
  }
  if (entry.needs > there) {
    return lacks(request.command, entry.needs);
  }
  return entry.handler;
}

}  // namespace pf::headless
