// SPDX-License-Identifier: MIT
#include "plugins/comm_matrix/comm_matrix.h"

#include <algorithm>
#include <set>

#include "plugins/comm_matrix/matrix_widget.h"

namespace pf::plugins {

CommMatrix::CommMatrix(const views::TraceIndex& trace)
    : m_ranks(static_cast<int>(trace.rankCount())), m_cells(trace.rankCount() * trace.rankCount()) {
  std::set<std::uint32_t> racing;
  for (const Race race : trace.data().races) {
    racing.insert(race.taken);
    racing.insert(race.alternatives.begin(), race.alternatives.end());
  }
  views::MessageSequence::Page messages;
  views::Sequence<Event>::Page sends;
  for (std::size_t m = 0; m < trace.messages().count(); ++m) {
    const Message message = trace.execution().messages.at(m, messages);
    const Rank from = message.send.rank;
    if (from < 0 || from >= m_ranks || message.dest < 0 || message.dest >= m_ranks) {
      continue;
    }
    MatrixCell& cell = m_cells[index(from) * index(m_ranks) + index(message.dest)];
    ++cell.messages;
    if (trace.contains(message.send)) {
      const auto& events = trace.execution().ranks[index(from)].events;
      cell.bytes += events.at(message.send.serial - 1, sends).bytes;
    }
    cell.racing += racing.count(static_cast<std::uint32_t>(m));
  }
}

const MatrixCell& CommMatrix::at(Rank source, Rank dest) const {
  static const MatrixCell kEmpty{};
  const bool inside = source >= 0 && source < m_ranks && dest >= 0 && dest < m_ranks;
  return inside ? m_cells[index(source) * index(m_ranks) + index(dest)] : kEmpty;
}

std::uint64_t CommMatrix::most(bool bytes) const {
  std::uint64_t most = 0;
  for (const MatrixCell& cell : m_cells) {
    most = std::max(most, bytes ? cell.bytes : cell.messages);
  }
  return most;
}

MatrixOrder::MatrixOrder(int ranks, const std::vector<std::vector<Rank>>& groups)
    : m_placeOf(static_cast<std::size_t>(std::max(0, ranks)), -1) {
  const auto place = [&](Rank rank) {
    if (rank < 0 || rank >= ranks || m_placeOf[index(rank)] >= 0) {
      return;
    }
    m_placeOf[index(rank)] = this->ranks();
    m_rankAt.push_back(rank);
  };
  for (const std::vector<Rank>& group : groups) {
    const int first = this->ranks();
    std::for_each(group.begin(), group.end(), place);
    if (this->ranks() - first > 1) {
      m_frames.push_back({first, this->ranks() - first});
    }
  }
  for (Rank rank = 0; rank < ranks; ++rank) {
    place(rank);
  }
}

std::vector<Rank> MatrixOrder::groupOf(Rank source, Rank dest) const {
  const int a = placeOf(source);
  const int b = placeOf(dest);
  for (const Frame& frame : m_frames) {
    const auto in = [&frame](int place) {
      return place >= frame.first && place < frame.first + frame.count;
    };
    if (in(a) && in(b)) {
      std::vector<Rank> ranks(m_rankAt.begin() + frame.first,
                              m_rankAt.begin() + frame.first + frame.count);
      std::sort(ranks.begin(), ranks.end());
      return ranks;
    }
  }
  return {};
}

const PhotofinishPlugin* commMatrixPlugin() {
  return bundledPane<kCommMatrix, MatrixWidget>();
}

}  // namespace pf::plugins
