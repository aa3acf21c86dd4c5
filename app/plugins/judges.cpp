// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plugins/judges.h"

#include <utility>

#include "app/plugins/part_output.h"

namespace pf::app {

Judges::Judges(const plugins::Registry& registry, const photofinish::Trace& trace) {
  for (const plugins::Part* const part : registry.parts(plugins::PartKind::Judge)) {
    if (part->makeJudge == nullptr) {
      continue;
    }
    One one{part, nullptr, ""};
    const std::string name = partName(registry.pluginWith(*part), *part);
    const Status made = plugins::guarded(name, [&] { one.judge.reset(part->makeJudge(trace)); });
    one.problem = !made                  ? made.error().message
                  : one.judge == nullptr ? name + " failed: it made nothing"
                                         : "";
    m_all.push_back(std::move(one));
  }
}

std::vector<JudgeWord> Judges::of(std::size_t race) {
  std::vector<JudgeWord> words;
  for (One& one : m_all) {
    if (one.judge != nullptr) {
      ask(one, race, words);
    }
    if (!one.problem.empty()) {
      words.push_back({one.part->id, "", std::exchange(one.problem, "")});
    }
  }
  return words;
}

void Judges::ask(One& one, std::size_t race, std::vector<JudgeWord>& words) const {
  const Status asked = plugins::guarded("judge " + one.part->id, [&] {
    const photofinish::Verdict verdict = one.judge->judge(race);
    if (verdict.opinion == photofinish::Opinion::Benign ||
        verdict.opinion == photofinish::Opinion::Suspect) {
      words.push_back({one.part->id,
                       verdict.opinion == photofinish::Opinion::Benign ? "benign" : "suspect",
                       verdict.reason.string()});
    }
  });
  if (!asked) {
    one.judge.reset();
    one.problem = asked.error().message;
  }
}

}  // namespace pf::app
