// SPDX-License-Identifier: GPL-3.0-or-later
// What is opened is read on other threads: traces, core files, running jobs.
#pragma once

#include <functional>

#include <QObject>

#include "app/session/targets/unrecorded_ranks.h"
#include "app/trace_loading/trace_loader.h"
#include "views/trace/trace_index.h"

namespace pf::gui {

class Opening : public QObject {
  Q_OBJECT
 public:
  explicit Opening(QObject* parent) : QObject(parent) {}

  /// outlined() may come, then traceOpened() or traceFailed(); working() meanwhile. Neither, where
  /// what was asked for later is there before.
  void openTrace(const QString& absolute);
  /// coresFound() or failed() follows. `program`: empty, as the files say.
  void openCores(const QStringList& files, const QString& program);
  /// The job of this launcher or rank: jobFound() or failed() follows.
  void openJob(qint64 pid);

 Q_SIGNALS:
  void working(const QString& on);
  void outlined(const QString& path, const pf::views::TraceIndexPtr& outline);
  void traceOpened(const QString& path, const pf::session::LoadedTrace& trace,
                   const pf::views::TraceIndexPtr& index);
  void traceFailed(const QString& path, const pf::Error& error);
  void coresFound(const pf::session::UnrecordedRanks& cores);
  void jobFound(const pf::session::UnrecordedRanks& job);
  void failed(const pf::Error& error);

 private:
  using Found = void (Opening::*)(const session::UnrecordedRanks& ranks);
  void find(const std::function<Result<session::UnrecordedRanks>()>& look, Found found);
  [[nodiscard]] bool isWanted(int number) const;

  int m_asked = 0;
  int m_found = 0;  ///< the last one of them that was there
};

}  // namespace pf::gui
