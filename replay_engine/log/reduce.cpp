// SPDX-License-Identifier: GPL-3.0-or-later
// A log without what a replay can do without.
#include <algorithm>
#include <cstring>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/log/decoder.h"
#include "replay_engine/log/varint.h"

namespace pf {
namespace {

using Bytes = std::span<const unsigned char>;

/// Lays records out in blocks, as the interposer does (replay_engine/log_format/log_format.h).
class BlockWriter {
 public:
  explicit BlockWriter(Bytes header) : m_out(header.begin(), header.end()) {
    std::memcpy(&m_salt, m_out.data() + offsetof(LogHeader, salt), sizeof m_salt);
    m_out.resize(kLogHeaderSize);
  }
  void add(Bytes record) {
    if (m_used + kMaxRecord > kLogBlockData) {
      seal();
    }
    m_out.insert(m_out.end(), record.begin(), record.end());
    m_used += record.size();
  }
  std::vector<unsigned char> finish() {
    const std::uint64_t word = std::uint64_t{crc()} << 32 | (m_block & 0xFFFFU) << 16 | m_used;
    std::memcpy(m_out.data() + offsetof(LogHeader, commit), &word, sizeof word);
    return std::move(m_out);
  }

 private:
  [[nodiscard]] std::uint32_t crc() const {
    return crc32c(m_out.data() + m_out.size() - m_used, m_used, logBlockSeed(m_salt, m_block));
  }
  void seal() {
    const BlockTrailer trailer{static_cast<std::uint32_t>(m_used), crc()};
    m_out.resize(m_out.size() - m_used + kLogBlockSize);
    std::memcpy(m_out.data() + m_out.size() - sizeof trailer, &trailer, sizeof trailer);
    m_used = 0;
    ++m_block;
  }

  std::vector<unsigned char> m_out;
  std::uint64_t m_salt = 0;
  std::uint64_t m_block = 0;
  std::size_t m_used = 0;
};

/// Passes sources on, those that are kept in their shortest form.
class SourceFilter {
 public:
  SourceFilter(BlockWriter& out, const std::optional<NumberRuns>& keep)
      : m_out(out), m_keep(keep) {}
  void wild(std::uint32_t number, std::int32_t source) {
    m_nextRead = number + 1;
    if (m_keep && !(*m_keep)[number]) {
      return;
    }
    std::vector<unsigned char> record;
    if (number == m_nextWritten && source >= 0 && source < kNextWild) {
      record.push_back(static_cast<unsigned char>(kNextWild | static_cast<unsigned>(source)));
    } else {
      record = madeRecord<RecordKind::Wild>({number, source});
    }
    m_out.add(record);
    m_nextWritten = number + 1;
  }
  void nextWild(std::int32_t source) { wild(m_nextRead, source); }

 private:
  BlockWriter& m_out;
  const std::optional<NumberRuns>& m_keep;
  std::uint32_t m_nextRead = 0;
  std::uint32_t m_nextWritten = 0;
};

/// Passes on what is no source.
class RecordFilter {
 public:
  RecordFilter(BlockWriter& out, const LogReduction& reduction)
      : m_out(out), m_reduction(reduction) {}
  void pass(RecordKind kind, Bytes record) {
    if (kind == RecordKind::Traced && m_reduction.dropTraced) {
      return;
    }
    if (kind == RecordKind::Seen && m_reduction.keepSeen) {
      const std::size_t number = m_seen++;
      if (number >= m_reduction.keepSeen->size() || !(*m_reduction.keepSeen)[number]) {
        return;
      }
    }
    if (kind == RecordKind::End) {
      for (const std::vector<unsigned char>& added : m_reduction.added) {
        m_out.add(added);
      }
    }
    m_out.add(record);
  }

 private:
  BlockWriter& m_out;
  const LogReduction& m_reduction;
  std::size_t m_seen = 0;
};

}  // namespace

Result<std::vector<unsigned char>> reduceLog(Bytes file, const LogReduction& reduction) {
  Result<LogExtent> extent = checkLog(file);
  if (!extent) {
    return extent.error();
  }
  BlockWriter out(file.first(kLogHeaderSize));
  SourceFilter filter(out, reduction.keep);
  RecordFilter others(out, reduction);
  Decoder decoder(*reinterpret_cast<const LogHeader*>(file.data()),
                  extent->blocks);  // knows where a record ends
  for (const Bytes block : extent->blocks) {
    RecordReader in(block);
    while (!in.atEnd()) {
      const Bytes rest = in.rest();
      if (!decoder.record(in)) {
        return Error{ErrorCode::Damaged, decoder.refusal(), {}};
      }
      const Bytes record = rest.first(rest.size() - in.rest().size());
      if ((record[0] & kNextWild) != 0) {
        filter.nextWild(record[0] & (kNextWild - 1));
      } else if (static_cast<RecordKind>(record[0]) == RecordKind::Wild) {
        RecordReader wild(record.subspan(1));
        const auto [number, source] = fieldsOf<RecordKind::Wild>(wild);
        filter.wild(static_cast<std::uint32_t>(number), source);
      } else {
        others.pass(static_cast<RecordKind>(record[0]), record);
      }
    }
  }
  return out.finish();
}

}  // namespace pf
