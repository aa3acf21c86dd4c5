// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/log_prefix.h"

#include <algorithm>
#include <vector>

#include "replay_engine/log/decoder.h"

namespace pf {
namespace {

/// Records of the log up to the end of an event: what is chosen in the next one lies before its own record.
std::uint64_t recordsOf(const LogHeader& header, const LogExtent& extent, Serial events) {
  Decoder decoder(header, extent.blocks, true);
  std::uint64_t records = 0;
  for (const auto& block : extent.blocks) {
    RecordReader in(block);
    while (!in.atEnd()) {
      const bool full = decoder.log.history.events.size() >= events;
      if (full && static_cast<RecordKind>(in.rest()[0]) == RecordKind::Choice) {
        return records;
      }
      if (!decoder.record(in) || decoder.log.history.events.size() > events) {
        return records;
      }
      ++records;
    }
  }
  return records;
}

/// The header of a rank that ended there. `all`: where the log ends; then what its last call had taken when the rank ended inside of it stays.
std::vector<unsigned char> headerOfPrefix(std::span<const unsigned char> file, bool all) {
  std::vector<unsigned char> bytes(file.begin(), file.begin() + kLogHeaderSize);
  auto& header = *reinterpret_cast<LogHeader*>(bytes.data());
  header.clean.store(0);
  header.failed.store(0);
  header.inside.store(0);
  if (!all) {
    header.begun.check = 0;
    header.matched.count.store(0);
    header.matched.unseen.store(0);
  }
  return bytes;
}

void takeFailedPolls(RankLog& prefix, const RankLog& whole) {
  for (std::size_t k = 0; k < kChoiceKinds; ++k) {
    const std::size_t made = prefix.choices[k].size();
    prefix.finalFailedPolls[k] = made < whole.choices[k].size()
                                     ? static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                           whole.choices[k][made].failedPolls, kMostFailedPolls))
                                     : whole.finalFailedPolls[k];
  }
}

}  // namespace

Result<LogPrefix> readLogPrefix(std::span<const unsigned char> file, Serial events) {
  Result<LogExtent> extent = checkLog(file);
  if (!extent) {
    return extent.error();
  }
  Result<RankLog> whole = readLog(file);
  if (!whole) {
    return whole.error();
  }
  if (!whole->hasEvents) {
    return Error{ErrorCode::Usage, "the log has no events", {}};
  }
  if (!whole->lanes.empty()) {
    return Error{ErrorCode::Usage,
                 "rank " + std::to_string(whole->rank) + " called MPI from several threads",
                 "Other orders of a program whose threads call MPI cannot be run yet."};
  }
  const auto& header = *reinterpret_cast<const LogHeader*>(file.data());
  std::uint64_t left = recordsOf(header, *extent, events);
  const std::vector<unsigned char> bytes =
      headerOfPrefix(file, events >= whole->history.events.size());
  Decoder decoder(*reinterpret_cast<const LogHeader*>(bytes.data()), extent->blocks, true);
  for (const auto& block : extent->blocks) {
    for (RecordReader in(block); left > 0 && !in.atEnd(); --left) {
      if (!decoder.record(in)) {
        return Error{ErrorCode::Damaged, decoder.refusal(), {}};
      }
    }
  }
  decoder.finish();
  RankLog prefix = std::move(decoder.log);
  prefix.complete = false;
  prefix.insideLast = false;
  takeFailedPolls(prefix, *whole);
  for (std::size_t k = 0; k < kValueKinds; ++k) {
    prefix.values[k] = std::move(whole->values[k]);
    prefix.earlyValues[k] = whole->earlyValues[k];
  }
  return LogPrefix{std::move(prefix), std::move(*whole)};
}

}  // namespace pf
