// SPDX-License-Identifier: GPL-3.0-or-later
// Bounded text: the ranks' program output as whole lines, and the history of a command line. QtCore
// only.
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "views/values/debug_values.h"
#include "views/values/namespaces.h"

namespace pf::values {

struct OutputLine {
  Rank rank = 0;
  OutputStream stream = OutputStream::Out;
  QString text;            ///< visibleText, no newline
  bool continued = false;  ///< goes on from a partial line shown before
};

/// Keeps the newest `limit` bytes of output; what is cut is counted, never silently lost.
class OutputBuffer {
 public:
  explicit OutputBuffer(std::size_t limitBytes = std::size_t{16} << 20U);

  /// Adds raw bytes of a rank; returns the lines that this completed.
  std::vector<OutputLine> append(Rank rank, OutputStream stream, const QByteArray& bytes);
  /// Ends partial lines (a prompt, or the end of the program); returns them.
  std::vector<OutputLine> flush();
  void clear();

  [[nodiscard]] const std::deque<OutputLine>& lines() const { return m_lines; }
  [[nodiscard]] std::size_t bytes() const { return m_bytes; }
  [[nodiscard]] std::size_t cutLines() const { return m_cutLines; }
  [[nodiscard]] std::size_t cutBytes() const { return m_cutBytes; }
  [[nodiscard]] bool hasPartial() const;

 private:
  struct Partial {
    QByteArray bytes;
    bool continued = false;
  };
  OutputLine take(std::pair<Rank, OutputStream> key, Partial& partial, const QByteArray& line);

  std::size_t m_limit;
  std::deque<OutputLine> m_lines;
  std::map<std::pair<Rank, OutputStream>, Partial> m_partial;
  std::size_t m_bytes = 0;
  std::size_t m_cutLines = 0;
  std::size_t m_cutBytes = 0;
};

/// Lines typed, newest last, without repeats of the line before.
class CommandHistory {
 public:
  void add(const QString& line);
  /// One step back or forward; at the end of the history the line that was being typed comes back.
  [[nodiscard]] QString previous(const QString& typed);
  [[nodiscard]] QString next();
  [[nodiscard]] const QStringList& lines() const { return m_lines; }
  void setLines(const QStringList& lines);

 private:
  static constexpr qsizetype kLimit = 1000;
  QStringList m_lines;
  qsizetype m_position = 0;
  QString m_typed;
};

}  // namespace pf::values
