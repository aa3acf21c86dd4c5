// SPDX-License-Identifier: GPL-3.0-or-later
// Where an exporter or a command of a plugin writes to, and how it is called.
#pragma once

#include <string>

#include "app/files/text_output.h"
#include "plugins/api/plugin.h"
#include "plugins/host/registry.h"
#include "replay_engine/base/result.h"

namespace pf::app {

class PartOutput final : public photofinish::Output {
 public:
  /// Text; `text` stays longer than this.
  explicit PartOutput(TextOutput& text) : m_text(&text) {}
  /// Of who makes a directory by itself.
  explicit PartOutput(std::string directory) : m_path(std::move(directory)) {}
  ~PartOutput() = default;
  PartOutput(const PartOutput&) = delete;
  PartOutput& operator=(const PartOutput&) = delete;

  void write(photofinish::Text text) override;
  void fail(photofinish::Text message, photofinish::Text advice) override;
  [[nodiscard]] photofinish::Text path() const override { return m_path; }
  /// The first error stays.
  void fail(const Error& error);

  /// Calls the part: what it says, or throws, to have failed.
  template <typename Call>
  Status run(const std::string& who, Call&& call) {
    if (Status status = plugins::guarded(who, call); !status) {
      return status;
    }
    return m_status;
  }

 private:
  TextOutput* m_text = nullptr;
  std::string m_path;
  Status m_status;
};

/// Of our own parts: with the code of its error.
void failIfNot(const Status& status, photofinish::Output& output);

/// "exporter rings of plugin example", for messages
[[nodiscard]] std::string partName(const plugins::Plugin& plugin, const plugins::Part& part);

}  // namespace pf::app
