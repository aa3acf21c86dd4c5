// SPDX-License-Identifier: GPL-3.0-or-later
// Judges of races: what each loaded one says of the races of a trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/api/plugin.h"
#include "plugins/host/registry.h"

namespace pf::app {

/// What a judge says of a race.
struct JudgeWord {
  std::string judge;    ///< its id
  std::string opinion;  ///< "benign" or "suspect"; empty: it failed
  std::string reason;   ///< or how it failed
};

class Judges {
 public:
  /// Of a registry that stays longer than this, as `trace` does.
  Judges(const plugins::Registry& registry, const photofinish::Trace& trace);

  /// What they say of a race, by its number. Nothing of those that have no opinion. One that fails
  /// says so, once.
  [[nodiscard]] std::vector<JudgeWord> of(std::size_t race);

 private:
  struct One {
    const plugins::Part* part;
    std::unique_ptr<photofinish::Judge> judge;  ///< null: it has failed
    std::string problem;                        ///< still to be said
  };
  void ask(One& one, std::size_t race, std::vector<JudgeWord>& words) const;

  std::vector<One> m_all;
};

}  // namespace pf::app
