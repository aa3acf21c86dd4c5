// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/output_buffer.h"

#include <algorithm>

#include "views/values/text.h"

namespace pf::values {

namespace {
constexpr qsizetype kLongestLine = 1
                                   << 16;  // a longer one is broken, so that no line freezes a view
}

OutputBuffer::OutputBuffer(std::size_t limitBytes) : m_limit(limitBytes) {}

OutputLine OutputBuffer::take(std::pair<Rank, OutputStream> key, Partial& partial,
                              const QByteArray& line) {
  OutputLine out{key.first, key.second, visibleText(QString::fromUtf8(line)), partial.continued};
  m_bytes += static_cast<std::size_t>(out.text.size()) + 1;
  m_lines.push_back(out);
  while (m_bytes > m_limit && m_lines.size() > 1) {
    const std::size_t size = static_cast<std::size_t>(m_lines.front().text.size()) + 1;
    m_bytes -= size;
    m_cutBytes += size;
    ++m_cutLines;
    m_lines.pop_front();
  }
  return out;
}

std::vector<OutputLine> OutputBuffer::append(Rank rank, OutputStream stream,
                                             const QByteArray& bytes) {
  std::vector<OutputLine> done;
  const std::pair key(rank, stream);
  Partial& partial = m_partial[key];
  partial.bytes += bytes;
  qsizetype from = 0;
  while (from < partial.bytes.size()) {
    qsizetype end = partial.bytes.indexOf('\n', from);
    const bool broken =
        end < 0 ? partial.bytes.size() - from > kLongestLine : end - from > kLongestLine;
    if (broken) {
      end = from + kLongestLine;
    } else if (end < 0) {
      break;
    }
    qsizetype length = end - from;
    if (!broken && length > 0 && partial.bytes[end - 1] == '\r') {
      --length;  // a pty writes CR LF
    }
    done.push_back(take(key, partial, partial.bytes.mid(from, length)));
    partial.continued = broken;
    from = broken ? end : end + 1;
  }
  partial.bytes.remove(0, from);
  return done;
}

std::vector<OutputLine> OutputBuffer::flush() {
  std::vector<OutputLine> done;
  for (auto& [key, partial] : m_partial) {
    if (!partial.bytes.isEmpty()) {
      done.push_back(take(key, partial, partial.bytes));
      partial.bytes.clear();
      partial.continued = true;
    }
  }
  return done;
}

bool OutputBuffer::hasPartial() const {
  return std::any_of(m_partial.begin(), m_partial.end(),
                     [](const auto& p) { return !p.second.bytes.isEmpty(); });
}

void OutputBuffer::clear() {
  m_lines.clear();
  m_partial.clear();
  m_bytes = 0;
  m_cutLines = 0;
  m_cutBytes = 0;
}

void CommandHistory::add(const QString& line) {
  if (!line.trimmed().isEmpty() && (m_lines.isEmpty() || m_lines.last() != line)) {
    m_lines << line;
  }
  if (m_lines.size() > kLimit) {
    m_lines.remove(0, m_lines.size() - kLimit);
  }
  m_position = m_lines.size();
  m_typed.clear();
}

QString CommandHistory::previous(const QString& typed) {
  if (m_position == m_lines.size()) {
    m_typed = typed;
  }
  m_position = std::max<qsizetype>(0, m_position - 1);
  return m_position < m_lines.size() ? m_lines[m_position] : m_typed;
}

QString CommandHistory::next() {
  m_position = std::min(m_lines.size(), m_position + 1);
  return m_position < m_lines.size() ? m_lines[m_position] : m_typed;
}

void CommandHistory::setLines(const QStringList& lines) {
  m_lines = lines.mid(std::max<qsizetype>(0, lines.size() - kLimit));
  m_position = m_lines.size();
}

}  // namespace pf::values
