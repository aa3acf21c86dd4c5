// SPDX-License-Identifier: GPL-3.0-or-later
// A trace file as the views' chunks, and what of the execution is needed before any view asks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <QString>

#include "db/schema/trace_types.h"
#include "db/store/execution_reader.h"
#include "views/trace/chunks/trace_view_data.h"

namespace pf::session {

class FileChunks : public views::ExecutionChunks {
 public:
  explicit FileChunks(db::ExecutionReader reader) : m_reader(std::move(reader)) {}

  [[nodiscard]] std::span<const ChunkInfo> chunks(Rank rank, ChunkStream stream) const override {
    return m_reader.chunks(rank, stream);
  }
  [[nodiscard]] unsigned shift(ChunkStream stream) const override { return m_reader.shift(stream); }
  bool read(Rank rank, std::size_t ordinal, std::vector<TimedEvent>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<ReceivedHere>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<ProbeHit>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<SentHere>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<CollectivePart>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<EventTime>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<EventStep>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<SendEnds>& values) const override;
  bool read(Rank rank, std::size_t ordinal, std::vector<ReceiveEnds>& values) const override;
  [[nodiscard]] std::shared_ptr<const void> hold() const override;
  void whenItFails(const std::function<void(const QString&)>& tell) const override;

 private:
  template <typename T>
  bool readOne(Rank rank, std::size_t ordinal, std::vector<T>& values) const;

  mutable std::mutex m_mutex;
  mutable db::ExecutionReader m_reader;
  mutable std::size_t m_holds = 0;
  mutable std::function<void(const QString&)> m_tell;
  mutable QString m_problem;
};

/// Events of each rank.
[[nodiscard]] std::vector<Serial> eventCounts(const db::ExecutionReader& reader);

/// The last events of the ranks that did not end well, with the receives that they complete, as
/// serials from 1: `before` gets how many events of each rank are left out. As many chunks as it
/// takes to find a receive.
[[nodiscard]] Result<Execution> executionEnds(db::ExecutionReader& reader,
                                              const std::vector<db::RankInfo>& ranks,
                                              std::vector<Serial>& before);

}  // namespace pf::session
