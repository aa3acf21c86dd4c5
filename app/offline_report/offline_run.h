// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish debug --offline': replays a trace to where it failed, without anybody at the
// keyboard, and writes down what a person would have looked at.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QList>
#include <QObject>
#include <QTimer>

#include "app/offline_report/offline_report.h"
#include "app/offline_report/offline_snapshots.h"
#include "app/session/debug_session.h"

namespace pf::headless {

struct OfflineOptions {
  std::string trace;
  std::string output;               ///< .html, .htm or .txt
  std::optional<int> exitStatus;    ///< of the program, if it has just been recorded
  std::vector<std::string> breaks;  ///< FILE:LINE
  std::vector<std::string> logs;    ///< FILE:LINE EXPRESSION
  std::string transcripts;          ///< directory for the GDBs' transcripts, or empty
  double snapshotEvery = 0.0;       ///< seconds; 0: when asked for by SIGUSR1 only
  bool trusted = false;             ///< the trace is taken over
  app::PartOfJob part;              ///< which ranks run
};

/// Writes the report. Returns the exit status of the program as it was recorded, or ours if there
/// is no report.
int runOffline(const OfflineOptions& options);

/// What one replay of the trace gives for the report.
class OfflineRun : public QObject {
  Q_OBJECT
 public:
  OfflineRun(const OfflineOptions& options, session::LoadedTrace trace, OfflineReport& report);

  /// Before start(): options.part runs, without the others. Errors: as app::ranksOfPart().
  [[nodiscard]] Status debugOnlyPart();
  void start();
  /// Ends the replay; finished() follows, with what there is.
  void stop();
  /// All stacks as they are now, into the report (offline_snapshots.h).
  void snapshot(const std::string& why) { m_snapshots.take(why); }
  /// What it replays in: a test gives it replays.
  [[nodiscard]] session::DebugSession& session() { return m_session; }

 Q_SIGNALS:
  void finished();

 private:
  struct Wanted {
    std::string text;        ///< as it was asked for
    std::string expression;  ///< empty: the hit only
  };
  struct Place {
    std::vector<Wanted> wanted;
    std::uint64_t hits = 0;
  };

  [[nodiscard]] QList<int> ranksThatRun() const;
  void focus();
  void placeBreakpoints();
  bool onHit(int rank, int breakpoint);
  void noteNext(int rank, int breakpoint, std::size_t index);
  void noteHit(int rank, int breakpoint, std::size_t index, const mi::Frame& frame);
  void onSettled();
  void look();
  void askStack(int rank);
  void askValues(int rank, const mi::Frame& frame);
  void answered();
  void leave();
  [[nodiscard]] bool failureIsHere();
  [[nodiscard]] bool rests(const values::RankState& state);

  const OfflineOptions& m_options;
  OfflineReport& m_report;
  QString m_trace;
  views::TraceDataPtr m_data;
  std::map<int, Place> m_places;  ///< by breakpoint
  std::vector<int> m_order;       ///< of the breakpoints, as asked
  std::string m_stalled;
  bool m_looking = false;
  bool m_leaving = false;
  int m_failed = -1;   ///< rank, -1: none of those that run failed
  int m_valuesOf = 0;  ///< rank whose values are listed
  int m_waits = 0;
  std::size_t m_pending = 0;
  QTimer m_patience;
  session::DebugSession m_session;  ///< behind these: its end completes what is asked of GDBs
  Snapshots m_snapshots;
};

}  // namespace pf::headless
