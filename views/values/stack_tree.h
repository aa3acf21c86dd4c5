// SPDX-License-Identifier: GPL-3.0-or-later
// The stacks of all ranks as one prefix tree, outermost frames at the root. Pure functions and a
// model over them. QtCore only.
#pragma once

#include <memory>
#include <vector>

#include <QAbstractItemModel>

#include "views/values/debug_values.h"
#include "views/values/namespaces.h"

namespace pf::values {

struct StackNode {
  StackFrame frame;  ///< level, arguments and address mean nothing here
  QString note;      ///< instead of a frame: why these ranks show no stack
  QList<int> ranks;  ///< ascending
  std::vector<StackNode> children;

  [[nodiscard]] bool isNote() const { return !note.isEmpty(); }
};

/// A function's name as GDB and DWARF agree on it: without parameters, ABI tags and clones of the
/// compiler ("work(int) [clone .isra.0]" is "work").
[[nodiscard]] QString plainFunction(const QString& name);

/// The top level of the tree. Frames are one node if they have the same function, and with `byLine`
/// the same line. Nodes with more ranks come first, then those with lower ranks; ranks without
/// a stack are last.
[[nodiscard]] std::vector<StackNode> stackTree(const QList<RankStack>& stacks, bool byLine = true);

class StackTreeModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column { FunctionColumn, CountColumn, RanksColumn, PlaceColumn, ColumnCount };

  explicit StackTreeModel(QObject* parent = nullptr);
  ~StackTreeModel() override;
  Q_DISABLE_COPY_MOVE(StackTreeModel)

  void setStacks(const QList<RankStack>& stacks);
  void setByLine(bool byLine);
  [[nodiscard]] bool byLine() const { return m_byLine; }
  [[nodiscard]] const QList<RankStack>& stacks() const { return m_stacks; }
  [[nodiscard]] const StackNode* node(const QModelIndex& index) const;

  [[nodiscard]] QModelIndex index(int row, int column,
                                  const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  struct Item;
  void rebuild();
  void append(Item* parent, std::vector<StackNode> nodes);
  [[nodiscard]] Item* item(const QModelIndex& index) const;

  QList<RankStack> m_stacks;
  bool m_byLine = true;
  std::unique_ptr<Item> m_root;
};

}  // namespace pf::values
