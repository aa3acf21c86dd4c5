// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/array_reader.h"

#include <QDir>
#include <QFutureWatcher>

#include "app/session/array_answer.h"
#include "app/session/state/frame_values.h"
#include "app/session/state/in_background.h"

namespace pf::session {

ArrayReader::ArrayReader(DebugSession& session, QObject* parent)
    : QObject(parent), m_session(session), m_byC(session) {
  connect(&m_byC, &CArrayReader::arrived, this, &ArrayReader::arrived);
  connect(&m_byC, &CArrayReader::failed, this, &ArrayReader::failed);
}

void ArrayReader::fail(const Error& error) {
  Q_EMIT failed(toText(error.text()).replace(QLatin1Char('\n'), QLatin1Char(' ')).simplified());
}

void ArrayReader::read(const QString& expression) {
  m_byC.drop();
  m_question = {m_question.number + 1, m_session.currentRank(), {}, expression.trimmed()};
  const mi::GdbSession* gdb = m_session.debugger(m_question.rank);
  if (gdb == nullptr || gdb->state() != mi::SessionState::Stopped) {
    Q_EMIT failed(
        tr("Rank %1 is not stopped under a debugger: tick it in the ranks' list, or pause it.")
            .arg(m_question.rank));
    return;
  }
  const mi::FrameRef frame = m_session.inspector().valueRef();
  if (frame.python != 0) {
    Q_EMIT failed(
        tr("The selected frame is one of Python: arrays are read in frames of C, C++ and "
           "Fortran. Its variables are in Variables."));
    return;
  }
  m_question.frame = frame;
  const auto directory = std::make_shared<QTemporaryDir>();  // until the bytes are read
  if (!directory->isValid()) {
    Q_EMIT failed(
        tr("No directory can be made in %1: %2. Set TMPDIR to a place that can be written.")
            .arg(QDir::tempPath(), directory->errorString()));
    return;
  }
  ask(directory);
}

void ArrayReader::ask(const std::shared_ptr<QTemporaryDir>& directory) {
  const mi::ArrayRequest request{m_question.expression.toStdString(),
                                 directory->path().toStdString(), kMostArrayElements,
                                 kMostArrayBytes};
  m_session.debugger(m_question.rank)
      ->inspect()
      .taught()
      .readArray(
          m_question.frame, request,
          [this, directory, number = m_question.number](const Result<mi::ArrayQueryEnd>& end) {
            if (number != m_question.number) {
              return;
            }
            if (!end) {
              fail(end.error());
            } else if (*end == mi::ArrayQueryEnd::NoPython) {
              m_byC.read(m_question.rank, m_question.frame, m_question.expression);
            } else {
              load(directory);
            }
          });
}

void ArrayReader::load(const std::shared_ptr<QTemporaryDir>& directory) {
  using Loaded = Result<values::ArraySummaryPtr>;
  auto* watcher = new QFutureWatcher<std::shared_ptr<Loaded>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, number = m_question.number] {
            watcher->deleteLater();
            const std::shared_ptr<Loaded> loaded = watcher->result();
            if (number != m_question.number) {
              return;
            }
            if (!*loaded) {
              fail(loaded->error());
            } else {
              Q_EMIT arrived(**loaded);
            }
          });
  watcher->setFuture(
      inBackground([directory, expression = m_question.expression, rank = m_question.rank] {
        auto values = readArrayAnswer(directory->path(), expression, rank);
        return values ? std::make_shared<Loaded>(std::make_shared<const values::ArraySummary>(
                            std::make_shared<const values::ArrayValues>(std::move(*values))))
                      : std::make_shared<Loaded>(values.error());
      }));
}

}  // namespace pf::session

#include "moc_array_reader.cpp"
