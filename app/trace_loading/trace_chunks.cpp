// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/trace_loading/trace_chunks.h"

#include <algorithm>
#include <utility>

#include "app/collation/failure.h"

namespace pf::session {

template <typename T>
bool FileChunks::readOne(Rank rank, std::size_t ordinal, std::vector<T>& values) const {
  std::function<void(const QString&)> tell;
  QString problem;
  {
    const std::lock_guard lock(m_mutex);
    const Status status = m_reader.read(rank, ordinal, values);
    if (status.ok()) {
      return true;
    }
    if (!m_problem.isEmpty()) {
      return false;  // has been told
    }
    m_problem = problem = QString::fromStdString(status.error().text());
    tell = m_tell;
  }
  if (tell) {
    tell(problem);
  }
  return false;
}

bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<TimedEvent>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<ReceivedHere>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<ProbeHit>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<SentHere>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<CollectivePart>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<EventTime>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<EventStep>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<SendEnds>& values) const {
  return readOne(rank, ordinal, values);
}
bool FileChunks::read(Rank rank, std::size_t ordinal, std::vector<ReceiveEnds>& values) const {
  return readOne(rank, ordinal, values);
}

std::shared_ptr<const void> FileChunks::hold() const {
  const std::lock_guard lock(m_mutex);
  if (m_holds++ == 0) {
    m_reader.beginReading();
  }
  return {this, [](const FileChunks* chunks) {
            const std::lock_guard last(chunks->m_mutex);
            if (--chunks->m_holds == 0) {
              chunks->m_reader.endReading();
            }
          }};
}

void FileChunks::whenItFails(const std::function<void(const QString&)>& tell) const {
  QString problem;
  {
    const std::lock_guard lock(m_mutex);
    m_tell = tell;
    problem = m_problem;
  }
  if (tell && !problem.isEmpty()) {
    tell(problem);
  }
}

std::vector<Serial> eventCounts(const db::ExecutionReader& reader) {
  std::vector<Serial> counts;
  for (std::size_t rank = 0; rank < reader.rest().ranks.size(); ++rank) {
    const auto all = reader.chunks(static_cast<Rank>(rank), ChunkStream::Event);
    counts.push_back(all.empty() ? 0 : all.back().lastSerial);
  }
  return counts;
}

namespace {

/// The last `chunks` chunks of a rank's events; returns how many events are left out.
Result<Serial> readEnd(db::ExecutionReader& reader, Rank rank, std::size_t chunks,
                       RankHistory& history) {
  history = {};
  const auto events = reader.chunks(rank, ChunkStream::Event);
  const std::size_t first = events.size() - std::min(events.size(), chunks);
  const Serial before = Serial{first} << reader.shift(ChunkStream::Event);
  std::vector<TimedEvent> timed;
  for (std::size_t i = first; i < events.size(); ++i) {
    if (Status status = reader.read(rank, i, timed); !status) {
      return status.error();
    }
    for (const TimedEvent& each : timed) {
      history.events.push_back(each.event);
    }
  }
  const auto receives = reader.chunks(rank, ChunkStream::Receive);
  std::vector<ReceivedHere> values;
  for (std::size_t i = 0; i < receives.size(); ++i) {
    if (receives[i].lastCompletion <= before) {
      continue;
    }
    if (Status status = reader.read(rank, i, values); !status) {
      return status.error();
    }
    for (ReceivedHere& stored : values) {
      PostedReceive& receive = stored.receive;
      if (receive.completion > before) {
        receive.completion -= before;
        history.receives.push_back(receive);
      }
    }
  }
  return before;
}

bool hasReceive(const RankHistory& history) {
  for (Serial serial = history.events.size(); serial > 0; --serial) {
    if (app::receives(history, serial)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<Execution> executionEnds(db::ExecutionReader& reader, const std::vector<db::RankInfo>& ranks,
                                std::vector<Serial>& before) {
  Execution ends = reader.rest();
  before.assign(ends.ranks.size(), 0);
  for (const db::RankInfo& rank : ranks) {
    if (rank.complete) {
      continue;
    }
    RankHistory& history = ends.ranks[static_cast<std::size_t>(rank.rank)];
    Serial& out = before[static_cast<std::size_t>(rank.rank)];
    for (std::size_t chunks = 1;; chunks *= 4) {
      Result<Serial> left = readEnd(reader, rank.rank, chunks, history);
      if (!left) {
        return left.error();
      }
      out = *left;
      if (out == 0 || hasReceive(history)) {
        break;
      }
    }
  }
  return ends;
}

}  // namespace pf::session
