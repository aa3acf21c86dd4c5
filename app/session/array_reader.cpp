// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/array_reader.h"

#include <utility>

#include <QDir>
#include <QFutureWatcher>

#include "app/session/array_answer.h"
#include "app/session/inspection/across_ranks.h"
#include "app/session/state/frame_values.h"
#include "app/session/state/in_background.h"

namespace pf::session {
namespace {

using Loaded = Result<values::ArraySummaryPtr>;

/// Not by the thread of the session.
Loaded loadParts(const std::vector<ArrayReader::Part>& answers, const QString& expression,
                 const values::Distribution& lies) {
  std::vector<values::ArrayValues> parts;
  for (const ArrayReader::Part& answer : answers) {
    auto part = readArrayAnswer(answer.directory->path(), expression, answer.rank);
    if (!part) {
      return lies.ranks.isEmpty()
                 ? part.error()
                 : Error{part.error().code,
                         "rank " + std::to_string(answer.rank) + ": " + part.error().message,
                         part.error().advice};
    }
    parts.push_back(std::move(*part));
  }
  auto whole = lies.ranks.isEmpty() ? Result<values::ArrayValues>(std::move(parts.front()))
                                    : values::joinParts(parts, lies.along, lies.halo, lies.columns);
  if (!whole) {
    return whole.error();
  }
  return std::make_shared<const values::ArraySummary>(
      std::make_shared<const values::ArrayValues>(std::move(*whole)));
}

}  // namespace

ArrayReader::ArrayReader(DebugSession& session, QObject* parent)
    : QObject(parent), m_session(session), m_byC(session) {
  connect(&m_byC, &CArrayReader::arrived, this, &ArrayReader::arrived);
  connect(&m_byC, &CArrayReader::failed, this, &ArrayReader::failed);
}

QString ArrayReader::whyNotInPython() {
  return tr(
      "The selected frame is one of Python: arrays are read in frames of C, C++ and Fortran. Its "
      "variables are in Variables.");
}

void ArrayReader::fail(const QString& text) {
  m_question.drop();  // ranks that have not answered yet are not waited for
  Q_EMIT failed(text);
}

void ArrayReader::fail(const Error& error, int rank) {
  const QString text =
      toText(error.text()).replace(QLatin1Char('\n'), QLatin1Char(' ')).simplified();
  fail(m_question->lies.ranks.isEmpty() || rank < 0 ? text : tr("Rank %1: %2").arg(rank).arg(text));
}

/// Why this rank cannot be asked; empty: it can.
QString ArrayReader::problemOf(int rank) const {
  const mi::GdbSession* gdb = m_session.debugger(rank);
  return gdb != nullptr && gdb->state() == mi::SessionState::Stopped
             ? QString()
             : tr("Rank %1 is not stopped under a debugger: tick it in the ranks' list, or pause "
                  "it.")
                   .arg(rank);
}

void ArrayReader::read(const QString& expression, const values::Distribution& lies) {
  m_byC.drop();
  Question& question = m_question.begin();
  question.expression = expression.trimmed();
  question.lies = lies;
  const values::StackFrame* frame = m_session.inspector().selected();
  question.function = frame != nullptr ? frame->function.toStdString() : std::string();
  for (const int rank : lies.ranks.isEmpty() ? QList<int>{m_session.currentRank()} : lies.ranks) {
    if (const QString problem = problemOf(rank); !problem.isEmpty()) {
      fail(problem);
      return;
    }
    question.parts.push_back({rank, {}, std::make_shared<QTemporaryDir>()});
    if (const QTemporaryDir& directory = *question.parts.back().directory; !directory.isValid()) {
      fail(tr("No directory can be made in %1: %2. Set TMPDIR to a place that can be written.")
               .arg(QDir::tempPath(), directory.errorString()));
      return;
    }
  }
  question.missing = question.parts.size();
  const auto latest = m_question.guard();
  for (std::size_t part = 0; latest && part < m_question->parts.size(); ++part) {
    // Just after a stop it is not known yet which frame is selected.
    frame != nullptr && m_question->parts[part].rank == m_session.currentRank()
        ? ask(part, m_session.inspector().valueRef())
        : findFrame(part);
  }
}

void ArrayReader::findFrame(std::size_t part) {
  const int rank = m_question->parts[part].rank;
  mi::GdbSession* const gdb = m_session.debugger(rank);
  const int thread = gdb->stop().thread;
  gdb->inspect().frames(
      thread, 0, kMostFrames - 1,
      [this, part, rank, thread,
       latest = m_question.guard()](const Result<std::vector<mi::Frame>>& frames) {
        if (!latest) {
          return;
        }
        if (!frames || m_session.debugger(rank) == nullptr) {
          fail(frames ? Error{ErrorCode::Peer, "its debugger is gone", {}} : frames.error(), rank);
          return;
        }
        ask(part, frameFor(thread, *frames, m_question->function));
      });
}

void ArrayReader::ask(std::size_t part, mi::FrameRef frame) {
  const int rank = m_question->parts[part].rank;
  if (frame.python != 0) {
    fail(whyNotInPython());
    return;
  }
  m_question->parts[part].frame = frame;
  const auto count = static_cast<qint64>(m_question->parts.size());
  const mi::ArrayRequest request{m_question->expression.toStdString(),
                                 m_question->parts[part].directory->path().toStdString(),
                                 kMostArrayElements / count, kMostArrayBytes / count};
  m_session.debugger(rank)->inspect().taught().readArray(
      frame, request,
      [this, part, latest = m_question.guard()](const Result<mi::ArrayQueryEnd>& end) {
        if (latest) {
          answered(part, end);
        }
      });
}

void ArrayReader::answered(std::size_t part, const Result<mi::ArrayQueryEnd>& end) {
  const Part& asked = m_question->parts[part];
  if (!end) {
    fail(end.error(), asked.rank);
  } else if (*end == mi::ArrayQueryEnd::NoPython && m_question->lies.ranks.isEmpty()) {
    m_byC.read(asked.rank, asked.frame, m_question->expression);
  } else if (*end == mi::ArrayQueryEnd::NoPython) {
    fail(
        tr("An array that lies in several ranks is read by GDB's own Python, and this GDB has "
           "none: choose another one with --gdb."));
  } else if (--m_question->missing == 0) {
    load();
  }
}

void ArrayReader::load() {
  auto* watcher = new QFutureWatcher<std::shared_ptr<Loaded>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, latest = m_question.guard()] {
            watcher->deleteLater();
            const std::shared_ptr<Loaded> loaded = watcher->result();
            if (!latest) {
              return;
            }
            if (!*loaded) {
              fail(loaded->error(), -1);
            } else {
              Q_EMIT arrived(**loaded);
            }
          });
  watcher->setFuture(inBackground([answers = std::exchange(m_question->parts, {}),
                                   expression = m_question->expression, lies = m_question->lies] {
    return std::make_shared<Loaded>(loadParts(answers, expression, lies));
  }));
}

}  // namespace pf::session

#include "moc_array_reader.cpp"
