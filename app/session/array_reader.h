// SPDX-License-Identifier: GPL-3.0-or-later
// Reads an array of the current rank at once, or one that lies in several: GDB's own Python says what it is and writes its
// memory into a file (mi_bridge/array_query.h). 10^7 elements take no longer than it takes to copy them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QObject>
#include <QTemporaryDir>

#include "app/session/c_array_reader.h"
#include "app/session/debug_session.h"
#include "app/session/state/latest.h"
#include "views/values/array_values.h"
#include "views/values/distributed_array.h"

namespace pf::session {

class ArrayReader : public QObject {
  Q_OBJECT
 public:
  explicit ArrayReader(DebugSession& session, QObject* parent = nullptr);

  /// Why not in a frame of Python.
  [[nodiscard]] static QString whyNotInPython();

  /// An array of any number of dimensions, POINTER@COUNT@COUNT, a container, a part of one; in the selected frame of the
  /// current rank. Of longer ones the first kMostArrayElements. With `lies.ranks` the parts of these, each in the rank's frame
  /// of the same function, as one. arrived() or failed() follows; of several questions the last one counts.
  void read(const QString& expression, const values::Distribution& lies = {});

  /// What a rank has of it.
  struct Part {
    int rank = 0;
    mi::FrameRef frame;
    std::shared_ptr<QTemporaryDir> directory;  ///< until the bytes are read
  };

 Q_SIGNALS:
  void arrived(const pf::values::ArraySummaryPtr& array);
  void failed(const QString& text);

 private:
  struct Question {
    QString expression;
    values::Distribution lies;
    std::string function;
    std::vector<Part> parts;
    std::size_t missing = 0;
  };

  [[nodiscard]] QString problemOf(int rank) const;
  void findFrame(std::size_t part);
  void ask(std::size_t part, mi::FrameRef frame);
  void answered(std::size_t part, const Result<mi::ArrayQueryEnd>& end);
  void load();
  void fail(const Error& error, int rank);
  void fail(const QString& text);

  DebugSession& m_session;
  CArrayReader m_byC;
  Latest<Question> m_question;
};

}  // namespace pf::session
