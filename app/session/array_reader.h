// SPDX-License-Identifier: GPL-3.0-or-later
// Reads an array of the current rank at once: GDB's own Python says what it is and writes its memory into a file
// (mi_bridge/array_query.h). 10^7 elements take no longer than it takes to copy them.
#pragma once

#include <memory>

#include <QObject>
#include <QTemporaryDir>

#include "app/session/c_array_reader.h"
#include "app/session/debug_session.h"
#include "views/values/array_values.h"

namespace pf::session {

class ArrayReader : public QObject {
  Q_OBJECT
 public:
  explicit ArrayReader(DebugSession& session, QObject* parent = nullptr);

  /// An array of any number of dimensions, POINTER@COUNT@COUNT, a container, a part of one; in the selected frame of the
  /// current rank. Of longer ones the first kMostArrayElements. arrived() or failed() follows; of several questions the
  /// last one counts.
  void read(const QString& expression);

 Q_SIGNALS:
  void arrived(const pf::values::ArraySummaryPtr& array);
  void failed(const QString& text);

 private:
  struct Question {
    quint64 number = 0;
    int rank = 0;
    mi::FrameRef frame;
    QString expression;
  };

  void ask(const std::shared_ptr<QTemporaryDir>& directory);
  void load(const std::shared_ptr<QTemporaryDir>& directory);
  void fail(const Error& error);

  DebugSession& m_session;
  CArrayReader m_byC;
  Question m_question;
};

}  // namespace pf::session
