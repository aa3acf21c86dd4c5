// SPDX-License-Identifier: GPL-3.0-or-later
// Which message filled a variable: the interposer of a rank with a GDB notes where each receive writes
// (replay_engine/base/noted_buffers.h), the trace knows what each receive took.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QObject>

#include "app/session/inspection/inspector.h"
#include "replay_engine/base/noted_buffers.h"

namespace pf::session {

struct WhichMessage {
  QString text;    ///< a sentence
  EventRef event;  ///< that filled it; invalid: none did, or it is not known
  bool problem = false;
};

class FilledBuffers : public QObject {
  Q_OBJECT
 public:
  using Done = std::function<void(const WhichMessage&)>;
  FilledBuffers(SessionState& state, const Inspector& inspector)
      : m_state(state), m_inspector(inspector) {}

  /// Which message wrote last, before now, to a variable, an expression with an address, or an address, of the current
  /// rank. Of receives that the rank posted while it had a GDB.
  void ask(const QString& expression, const Done& done);
  /// Other ranks: nothing is noted.
  void beginCycle() { m_noted.clear(); }

 private:
  struct MemoryRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  struct Filled {
    std::uint32_t post = kNoPost;
    Serial completion = 0;
  };
  using Values = std::vector<std::optional<std::uint64_t>>;

  [[nodiscard]] std::optional<Filled> lastFilled(int rank, const MemoryRange& range) const;
  [[nodiscard]] QString filledText(int rank, const QString& what, const Filled& filled) const;
  void askValues(std::vector<std::string> expressions, Values values,
                 const std::function<void(const Values&)>& done);
  void find(int rank, const QString& expression, const Values& values, const Done& done);
  [[nodiscard]] WhichMessage answer(int rank, const QString& expression, const Values& values,
                                    const Result<std::vector<NotedBuffer>>& more);

  SessionState& m_state;
  const Inspector& m_inspector;
  std::map<int, std::vector<NotedBuffer>> m_noted;  ///< of this cycle, by rank: read so far
};

}  // namespace pf::session
