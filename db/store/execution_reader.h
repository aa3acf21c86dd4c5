// SPDX-License-Identifier: GPL-3.0-or-later
// The execution of a trace, chunk by chunk, for those who do not want all of it in memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution_chunks.h"

namespace pf::db {

/// Has a connection of its own. Of one thread at a time.
class ExecutionReader {
 public:
  /// As TraceStore::open(). NotFound as well where chunks are not enough to go by: there are no
  /// logical times, or these fall along a rank.
  [[nodiscard]] static Result<ExecutionReader> open(const std::string& path);
  ExecutionReader(ExecutionReader&&) noexcept;
  ExecutionReader& operator=(ExecutionReader&&) noexcept;
  ExecutionReader(const ExecutionReader&) = delete;
  ExecutionReader& operator=(const ExecutionReader&) = delete;
  ~ExecutionReader();

  /// All but what the ranks did: their number, communicators, call sites, names of calls.
  [[nodiscard]] const Execution& rest() const;
  [[nodiscard]] std::span<const ChunkInfo> chunks(Rank rank, ChunkStream stream) const;
  /// All chunks of a stream but the last have 1 << shift() values.
  [[nodiscard]] unsigned shift(ChunkStream stream) const;

  /// From here to endReading() the file is locked against changes, which makes many reads quicker:
  /// for moments. Where it cannot be, each read locks it as always.
  void beginReading();
  void endReading();

  /// The values of a chunk, instead of what is in `values`. Damaged if it does not verify, or does
  /// not hold what chunks() says.
  Status read(Rank rank, std::size_t ordinal, std::vector<TimedEvent>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<ReceivedHere>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<ProbeHit>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<SentHere>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<CollectivePart>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<EventTime>& values);
  // Parts of their columns:
  Status read(Rank rank, std::size_t ordinal, std::vector<EventStep>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<SendEnds>& values);
  Status read(Rank rank, std::size_t ordinal, std::vector<ReceiveEnds>& values);

 private:
  struct State;
  explicit ExecutionReader(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

}  // namespace pf::db
