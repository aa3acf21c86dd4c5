// SPDX-License-Identifier: GPL-3.0-or-later
// Locals and arguments of the selected frame as a tree whose children are fetched when opened.
// Data in: setVariables() at each stop, setChildren() as answer to expandRequested(). Out:
// expandRequested(path), editRequested(path, value). A stop in the same frame keeps the tree open
// and marks what changed. QtCore only.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <QAbstractItemModel>
#include <QHash>
#include <QList>

#include "views/values/debug_values.h"

namespace pf::views {

class VariablesModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column { NameColumn, ValueColumn, TypeColumn, ColumnCount };

  explicit VariablesModel(QObject* parent = nullptr);
  ~VariablesModel() override;
  Q_DISABLE_COPY_MOVE(VariablesModel)

  /// Variables of a frame. `frameKey` names it ("2:collect"): the same key keeps what is open.
  void setVariables(const QString& frameKey, const QList<Variable>& variables);
  /// Children of `path`; `more` when there are further ones (asked for again as
  /// expandRequested(path, from)).
  void setChildren(const QString& path, const QList<Variable>& children, bool more = false);
  void clear();
  /// The `row`-th variable of the frame is this one now; what is open in it is asked for again.
  void setVariable(int row, const Variable& variable);
  /// Whether the parts of the `row`-th variable are known or asked for; asks for them.
  [[nodiscard]] bool isOpen(int row) const;
  void open(int row);
  void appendVariable(const Variable& variable);
  void removeVariable(int row);
  [[nodiscard]] const Variable* variable(const QModelIndex& index) const;
  [[nodiscard]] QModelIndex indexOf(const QString& path) const;

  [[nodiscard]] QModelIndex index(int row, int column,
                                  const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] bool hasChildren(const QModelIndex& parent = {}) const override;
  [[nodiscard]] bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 Q_SIGNALS:
  void expandRequested(const QString& path, int from);
  void editRequested(const QString& path, const QString& value);

 private:
  struct Node;
  [[nodiscard]] Node* node(const QModelIndex& index) const;
  [[nodiscard]] QModelIndex indexFor(const Node* node, int column = 0) const;
  void update(Node* parent, const QList<Variable>& variables, bool append);
  void replace(Node* parent, const QList<Variable>& variables);
  void cut(Node* parent, std::size_t from);
  void assign(Node* node, const Variable& variable);
  void forget(Node* node);
  void askAgain(Node* node);

  std::unique_ptr<Node> m_root;
  QString m_frameKey;
  std::unordered_map<QString, Node*> m_byPath;
};

}  // namespace pf::views
