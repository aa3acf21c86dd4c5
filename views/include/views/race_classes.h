// Races grouped into classes: the receive's call site with the call sites of all the messages that
// it could have taken. What a person judges is a class, not each of its thousand races. Data in:
// setTrace(), setBenign(). Nothing out. QtCore only.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QHash>

#include "views/trace_index.h"

namespace pf::views {

struct RaceClass {
  /// The same in every run of the program: calls, functions, files' names and lines.
  /// "MPI_Recv collect harvest.c:88 < MPI_Send work worker.c:40".
  QString key;
  QString receive;          ///< "MPI_Recv at harvest.c:88"
  QString senders;          ///< "worker.c:40, worker.c:52"
  std::vector<int> races;   ///< ascending, into TraceData::races
  std::vector<Rank> ranks;  ///< that receive, ascending
};

/// In the order of their first races.
[[nodiscard]] std::vector<RaceClass> classifyRaces(const TraceIndex& trace);

class RaceClassModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Weight, Receive, Senders, Races, Ranks, First, Last, Note, ColumnCount };

  explicit RaceClassModel(QObject* parent = nullptr);
  /// `severity` of each race, as RaceListModel has it.
  /// `classes`: what classifyRaces() says of it; `severity`: rateRaces().
  void setTrace(TraceIndexPtr trace, const std::vector<int>& severity,
                std::vector<RaceClass> classes);
  /// Class keys that somebody has judged to be benign, with the reason.
  void setBenign(QHash<QString, QString> notes);

  /// Row 0 stands for all races and has no class: null.
  [[nodiscard]] const RaceClass* classAt(int row) const;
  [[nodiscard]] int rowOf(int race) const;
  [[nodiscard]] bool isBenign(int row) const;
  [[nodiscard]] int benignRaces() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QString text(const RaceClass& races, int row, int column) const;
  [[nodiscard]] int severity(int row) const;

  TraceIndexPtr m_trace;
  std::vector<RaceClass> m_classes;
  std::vector<int> m_severity;  ///< by class
  std::vector<int> m_classOf;   ///< by race
  QHash<QString, QString> m_benign;
};

}  // namespace pf::views
