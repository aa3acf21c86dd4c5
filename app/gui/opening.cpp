// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/opening.h"

#include <memory>

#include <QFileInfo>
#include <QFutureWatcher>
#include <QPromise>
#include <QtConcurrent>

#include "app/replaying/replay.h"
#include "app/session/state/in_background.h"
#include "replay_engine/base/caught.h"

namespace pf::gui {
namespace {

struct Opened {
  Result<session::LoadedTrace> trace;
  views::TraceIndexPtr index;  ///< until the trace is loaded: of its outline
  bool loaded = false;
};
using OpenedPtr = std::shared_ptr<Opened>;

Opened openWhole(const QString& path, const views::TraceDataPtr& outline) {
  try {
    Opened opened{session::loadTrace(path, outline, session::mostEventsInMemory()), nullptr, true};
    if (opened.trace.ok()) {
      opened.index = views::makeIndex(opened.trace->data);
    }
    return opened;
  } catch (...) {
    return Opened{caughtError(), nullptr, true};
  }
}

/// Even the look whether a survey is needed may have to make the trace of a recorder that was
/// killed: nothing of it on the window's thread.
void open(QPromise<OpenedPtr>& promise, const QString& path, const QString& surveying) {
  promise.setProgressRange(0, 1);
  const Result<bool> light = caught([&] { return app::needsSurvey(path.toStdString()); });
  if (light && *light) {
    promise.setProgressValueAndText(1, surveying);
  }
  const views::TraceDataPtr outline = caught([&] { return session::loadOutline(path); });
  if (outline) {
    promise.addResult(std::make_shared<Opened>(
        Opened{Error{ErrorCode::NotFound, {}, {}}, views::makeIndex(outline)}));
  }
  promise.addResult(std::make_shared<Opened>(openWhole(path, outline)));
}

}  // namespace

void Opening::openTrace(const QString& absolute) {
  const QString name = QFileInfo(absolute).fileName();
  Q_EMIT working(tr("Opening %1 …").arg(name));
  const int number = ++m_asked;
  auto* watcher = new QFutureWatcher<OpenedPtr>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, absolute, number] {
    watcher->deleteLater();
    if (!isWanted(number)) {
      return;
    }
    const OpenedPtr opened = watcher->resultAt(watcher->future().resultCount() - 1);
    if (opened->trace.ok()) {
      m_found = number;
      Q_EMIT traceOpened(absolute, *opened->trace, opened->index);
    } else {
      Q_EMIT traceFailed(absolute, opened->trace.error());
    }
  });
  connect(watcher, &QFutureWatcherBase::resultReadyAt, this,
          [this, watcher, absolute, number](int at) {
            if (const OpenedPtr ready = watcher->resultAt(at); !ready->loaded && isWanted(number)) {
              Q_EMIT outlined(absolute, ready->index);
            }
          });
  connect(watcher, &QFutureWatcherBase::progressTextChanged, this,
          [this, number](const QString& on) {
            if (isWanted(number)) {
              Q_EMIT working(on);
            }
          });
  const QString surveying =
      tr("%1 has MPI's choices only: running the program once more to see its events and races …")
          .arg(name);
  watcher->setFuture(QtConcurrent::run(
      [absolute, surveying](QPromise<OpenedPtr>& promise) { open(promise, absolute, surveying); }));
}

/// What took longer than what was asked for after it does not take its place.
bool Opening::isWanted(int number) const {
  return number > m_found;
}

void Opening::find(const std::function<Result<session::UnrecordedRanks>()>& look, Found found) {
  using Ranks = std::shared_ptr<Result<session::UnrecordedRanks>>;
  const int number = ++m_asked;
  auto* watcher = new QFutureWatcher<Ranks>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, found, number] {
    watcher->deleteLater();
    if (!isWanted(number)) {
      return;
    }
    if (const Ranks ranks = watcher->result(); ranks->ok()) {
      m_found = number;
      Q_EMIT(this->*found)(**ranks);
    } else {
      Q_EMIT failed(ranks->error());
    }
  });
  watcher->setFuture(session::inBackground(
      [look] { return std::make_shared<Result<session::UnrecordedRanks>>(look()); }));
}

void Opening::openCores(const QStringList& files, const QString& program) {
  find([files, program] { return session::ranksOfCores(files, program); }, &Opening::coresFound);
}

void Opening::openJob(qint64 pid) {
  find([pid] { return session::ranksOfJob(pid); }, &Opening::jobFound);
}

}  // namespace pf::gui

#include "moc_opening.cpp"
