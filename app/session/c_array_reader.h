// SPDX-License-Identifier: GPL-3.0-or-later
// Reads an array by C's own expressions and GDB's `dump`: of a GDB without Python. Rows that lie apart, and frames of other
// languages than C and C++, are refused in words.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <QObject>
#include <QTemporaryDir>

#include "app/session/debug_session.h"
#include "views/values/array_values.h"

namespace pf::session {

class CArrayReader : public QObject {
  Q_OBJECT
 public:
  explicit CArrayReader(DebugSession& session, QObject* parent = nullptr);

  /// An array of numbers, POINTER@COUNT, a std::vector or std::array, in a frame of a rank. Of longer ones the first
  /// kMostElements, as one dimension. arrived() or failed() follows; of several questions the last one counts.
  void read(int rank, mi::FrameRef frame, const QString& expression);
  /// Nobody waits for an answer any more.
  void drop() { ++m_question.number; }

  static constexpr qint64 kMostElements = 8'000'000;

 Q_SIGNALS:
  void arrived(const pf::values::ArraySummaryPtr& array);
  void failed(const QString& text);

 private:
  struct Question {
    quint64 number = 0;
    int rank = 0;
    mi::FrameRef frame;
    values::ArrayValues values;
  };
  using Values = std::function<void(const std::vector<std::string>&)>;

  void findContainer();
  void findElement(const QString& array, const QString& count, int dimensions);
  void found(const std::vector<std::string>& values);
  void dump(quint64 address);
  void load(const std::shared_ptr<QTemporaryDir>& directory);
  /// Evaluates one after another; the first failure ends it.
  void evaluate(std::vector<std::string> expressions, std::vector<std::string> values,
                const Values& done, const std::function<void(const Error&)>& failed);
  void fail(const Error& error);
  void failAsArray(const Error& error);
  [[nodiscard]] mi::GdbSession* gdb();

  DebugSession& m_session;
  Question m_question;
};

}  // namespace pf::session
