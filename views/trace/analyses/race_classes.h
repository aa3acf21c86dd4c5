// SPDX-License-Identifier: GPL-3.0-or-later
// Races grouped into classes: the receive's call site with the call sites of all the messages that
// it could have taken. What a person judges is a class, not each of its thousand races. Data in:
// setTrace(), setVerdicts(). Nothing out. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "replay_engine/races/race_baseline.h"
#include "views/trace/trace_index.h"

namespace pf::views {

struct RaceClass {
  /// The same in every run of the program, and after edits: className(). Of a trace that has no such names formerKey.
  QString key;
  /// By which former versions knew it: calls, functions, files' names and lines.
  /// "MPI_Recv collect harvest.c:88 < MPI_Send work worker.c:40".
  QString formerKey;
  QString receive;          ///< "MPI_Recv at harvest.c:88"
  QString senders;          ///< "worker.c:40, worker.c:52"
  QString call;             ///< of the receive: "MPI_Recv"
  QString site;             ///< likewise: "harvest.c:88"
  int first = 0;            ///< race, into TraceData::races
  int last = 0;             ///< likewise
  std::size_t count = 0;    ///< races
  std::vector<Rank> ranks;  ///< that receive, ascending
};

/// The classes of a trace's races, as classesOfRaces() (replay_engine/races/race_classes.h) has them.
class RaceClasses {
 public:
  RaceClasses() = default;
  /// By the numbers that the races have in their file, if they have; else by a look at all messages
  /// that they took or could have taken, which may take long.
  explicit RaceClasses(TraceIndexPtr trace);

  /// In the order of their first races.
  [[nodiscard]] const std::vector<RaceClass>& all() const { return m_all; }
  [[nodiscard]] std::size_t of(std::size_t race) const {
    return m_of.empty() ? m_byNumber[m_trace->data().races.raceClass(race)] : m_of[race];
  }
  [[nodiscard]] const RaceClass& classOf(std::size_t race) const { return m_all[of(race)]; }
  /// Races of class `number`, ascending.
  [[nodiscard]] std::vector<int> races(std::size_t number) const;

 private:
  void byNumber();
  void byPlaces();
  RaceClass& begin(std::size_t race);
  void add(RaceClass& one, std::size_t race) const;

  TraceIndexPtr m_trace;
  std::vector<RaceClass> m_all;
  std::vector<std::uint32_t> m_byNumber;  ///< class of each number in the file
  std::vector<std::uint32_t> m_of;        ///< of each race, where there are no numbers
};
using RaceClassesPtr = std::shared_ptr<const RaceClasses>;

class RaceClassModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Weight, Receive, Senders, Races, Ranks, First, Last, Note, ColumnCount };

  explicit RaceClassModel(QObject* parent = nullptr);
  /// Null for null. `severity`: what rateRaces() says of it.
  void setTrace(TraceIndexPtr trace, const std::vector<std::uint8_t>& severity,
                RaceClassesPtr classes);
  /// What somebody has said of classes, by key or formerKey.
  void setVerdicts(RaceBaseline verdicts);

  /// Row 0 stands for all races and has no class: null.
  [[nodiscard]] const RaceClass* classAt(int row) const;
  [[nodiscard]] std::vector<int> racesAt(int row) const;  ///< ascending; of row 0: none
  [[nodiscard]] int rowOf(int race) const;
  [[nodiscard]] bool isBenign(int row) const { return isJudged(row, RaceVerdict::Benign); }
  /// Nothing: nobody has said anything.
  [[nodiscard]] std::optional<Judged> judgedAt(int row) const;
  [[nodiscard]] int benignRaces() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QString text(const RaceClass& races, int row, int column) const;
  [[nodiscard]] int severity(int row) const;
  [[nodiscard]] bool isJudged(int row, RaceVerdict verdict) const;
  void judge();

  TraceIndexPtr m_trace;
  RaceClassesPtr m_classes;     ///< never null
  std::size_t m_races = 0;      ///< of all classes
  std::vector<int> m_severity;  ///< by class
  RaceBaseline m_verdicts;
  std::vector<std::optional<Judged>> m_judged;  ///< by class
};

}  // namespace pf::views
