// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plugins/part_output.h"

namespace pf::app {

void PartOutput::write(photofinish::Text text) {
  if (m_text != nullptr) {
    m_text->write(text);
  } else {
    fail(Error{ErrorCode::Usage, "text was written for a directory",
               "Tell who has made the plugin."});
  }
}

void PartOutput::fail(photofinish::Text message, photofinish::Text advice) {
  fail(Error{ErrorCode::System, message.string(), advice.string()});
}

void PartOutput::fail(const Error& error) {
  if (m_status) {
    m_status = error;
  }
}

void failIfNot(const Status& status, photofinish::Output& output) {
  if (!status) {
    dynamic_cast<PartOutput&>(output).fail(status.error());
  }
}

std::string partName(const plugins::Plugin& plugin, const plugins::Part& part) {
  return std::string(plugins::nameOf(part.kind)) + " " + part.id +
         (plugin.path.empty() ? "" : " of plugin " + plugin.name);
}

}  // namespace pf::app
