// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/rank_output.h"

#include <string>

namespace pf::headless {
namespace {

constexpr qsizetype kMostOutput = qsizetype{64} << 10U;

}  // namespace

RankOutput::RankOutput(session::DebugSession& session, ScriptCycles& cycles,
                       const ScriptAnswer& answer)
    : m_answer(answer) {
  connect(&session, &session::DebugSession::output, this, &RankOutput::take);
  connect(&cycles, &ScriptCycles::begun, this, [this] { m_printed.clear(); });
}

void RankOutput::take(int rank, values::OutputStream stream, const QByteArray& bytes) {
  const std::string lines =
      m_lines.feed(rank, stream == values::OutputStream::Err ? 2 : 1,
                   {bytes.constData(), static_cast<std::size_t>(bytes.size())});
  QByteArray& printed = m_printed[rank];
  printed = (printed + QByteArray::fromStdString(lines)).right(kMostOutput);
  m_answer.besides().printed(marked(lines, "[rank " + std::to_string(rank) + "] "));
}

QString RankOutput::textOf(int rank) const {
  const auto printed = m_printed.find(rank);
  return printed == m_printed.end() ? QString() : QString::fromUtf8(printed->second);
}

}  // namespace pf::headless

#include "moc_rank_output.cpp"
