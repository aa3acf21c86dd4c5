// SPDX-License-Identifier: GPL-3.0-or-later
// Any records as the logs of a run of one to three ranks, under checksums that are right: reads them, assembles
// them, collates what was traced, reduces them, and makes schedules. First byte: ranks, and what the headers say;
// then for each rank two bytes of length, its records, and what follows the last length is the changing part of
// the header. A first byte of 0xFF: the rest is a whole file.
#include <cstdlib>
#include <span>

#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/shadow_routes.h"
#include "replay_engine/log/tests/made_log.h"
#include "replay_engine/log_format/pins.h"

namespace {

using pf::LogBytes;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : m_rest(data, size) {}
  LogBytes take(std::size_t size) {
    const auto taken = m_rest.first(std::min(size, m_rest.size()));
    m_rest = m_rest.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }
  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    for (const unsigned char byte : take(bytes)) {
      value = value << 8U | byte;
    }
    return value;
  }

 private:
  std::span<const std::uint8_t> m_rest;
};

std::vector<LogBytes> logsOf(Input& input) {
  const std::size_t flags = input.number(1);
  std::vector<LogBytes> files;
  const auto ranks = static_cast<std::int32_t>(1 + flags % 3);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    std::vector<LogBytes> blocks;
    const LogBytes records = input.take(input.number(2));
    const std::size_t half = (flags & 0x80U) != 0 ? records.size() / 2 : 0;
    blocks.emplace_back(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(half));
    blocks.emplace_back(records.begin() + static_cast<std::ptrdiff_t>(half), records.end());
    if (half == 0) {
      blocks.erase(blocks.begin());
    }
    files.push_back(pf::makeLog({rank, ranks, (flags & 0x10U) != 0, (flags & 0x20U) != 0}, blocks));
    if ((flags & 0x40U) == 0) {
      continue;
    }
    const LogBytes changing =
        input.take(std::min<std::size_t>(input.number(2), sizeof(pf::LogHeader)));
    const std::size_t at = offsetof(pf::LogHeader, serial);
    std::copy_n(changing.begin(), std::min(changing.size(), sizeof(pf::LogHeader) - at),
                files.back().begin() + static_cast<std::ptrdiff_t>(at));
    pf::BegunCall& begun = pf::headerOf(files.back()).begun;
    begun.check = begun.kind == 0 ? pf::kBegunInside : pf::begunCheck(begun);
  }
  return files;
}

void useSchedule(const std::vector<unsigned char>& schedule) {
  const auto& header = *reinterpret_cast<const pf::ScheduleHeader*>(schedule.data());
  for (std::uint32_t wild = 0; wild < 300; ++wild) {
    const unsigned char* const at =
        pf::pinIn(schedule.data() + header.pins.offset, header.pins.size, wild * 0x100001U);
    if (at != nullptr && at + 4 > schedule.data() + schedule.size()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && data[0] == 0xFF) {
    static_cast<void>(pf::readLog({data + 1, size - 1}));
    return 0;
  }
  Input input(data, size);
  std::vector<pf::RankLog> logs;
  for (const LogBytes& file : logsOf(input)) {
    pf::Result<pf::RankLog> log = pf::readLog(file);
    if (!log) {
      std::abort();  // its header is right
    }
    pf::LogReduction reduction;
    reduction.dropTraced = true;
    if (log->races) {
      reduction.keep = log->races->kept;
    }
    static_cast<void>(pf::reduceLog(file, reduction));
    logs.push_back(std::move(*log));
  }
  const pf::Result<pf::ShadowRoutes> routes = pf::collatedRoutes(logs);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    useSchedule(pf::compileSchedule(logs[i], routes ? &routes->ranks[i] : nullptr,
                                    routes ? routes->lastPost : 0));
  }
  const pf::Result<pf::Execution> execution = pf::assemble(std::move(logs));
  return execution.ok() && execution->ranks.empty() ? 1 : 0;
}
