// SPDX-License-Identifier: MIT
// A judge of races: messages of the same tag are taken to mean the same.
#include "example.h"

using namespace photofinish;

namespace {

class SameTag : public Judge {
 public:
  explicit SameTag(const Trace& trace) : m_trace(trace) {}
  Verdict judge(std::uint64_t number) override {
    const Race race = m_trace.race(number);
    const std::int32_t tag = m_trace.message(race.taken).tag;
    for (std::uint64_t i = 0; i < race.alternatives; ++i) {
      const std::int32_t other = m_trace.message(m_trace.alternative(number, i)).tag;
      if (other != tag) {
        m_reason = "it took tag " + std::to_string(tag) + " and could have taken tag " +
                   std::to_string(other);
        return {Opinion::Suspect, m_reason};
      }
    }
    m_reason = "all that it could have taken has tag " + std::to_string(tag);
    return {Opinion::Benign, m_reason};
  }

 private:
  const Trace& m_trace;
  std::string m_reason;
};

}  // namespace

Judge* makeSameTag(const Trace& trace) {
  return new SameTag(trace);
}
