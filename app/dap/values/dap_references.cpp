// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/values/dap_references.h"

#include <limits>

namespace pf::headless {
namespace {

template <typename Map>
typename Map::mapped_type* look(Map& map, std::int64_t id) {
  if (id < 0 || id > std::numeric_limits<int>::max()) {
    return nullptr;
  }
  const auto found = map.find(static_cast<int>(id));
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

int References::add(const FrameKey& frame) {
  m_frames[++m_last] = frame;
  return m_last;
}

int References::add(Container container) {
  m_containers[++m_last] = std::move(container);
  return m_last;
}

std::optional<FrameKey> References::frame(std::int64_t id) const {
  const auto found = id > 0 && id <= m_last ? m_frames.find(static_cast<int>(id)) : m_frames.end();
  return found == m_frames.end() ? std::nullopt : std::optional(found->second);
}

Container* References::container(std::int64_t id) {
  return look(m_containers, id);
}

FrameKey References::key(Rank rank, int thread, int level, std::uint64_t python) const {
  const auto stop = m_stops.find(rank);
  return {rank, thread, level, python, stop == m_stops.end() ? 0 : stop->second};
}

bool References::valid(const FrameKey& frame) const {
  return frame == key(frame.rank, frame.thread, frame.level, frame.python);
}

void References::run(Rank rank) {
  ++m_stops[rank];
  std::erase_if(m_frames, [rank](const auto& entry) { return entry.second.rank == rank; });
  std::erase_if(m_containers,
                [rank](const auto& entry) { return entry.second.frame.rank == rank; });
}

}  // namespace pf::headless
