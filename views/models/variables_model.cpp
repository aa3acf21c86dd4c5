// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/variables_model.h"

#include <algorithm>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

struct VariablesModel::Node {
  Variable value;
  Node* parent = nullptr;
  int row = 0;
  bool changed = false;
  bool requested = false;
  bool answered = false;
  bool more = false;
  std::vector<std::unique_ptr<Node>> children;
};

VariablesModel::VariablesModel(QObject* parent)
    : QAbstractItemModel(parent), m_root(std::make_unique<Node>()) {}

VariablesModel::~VariablesModel() = default;

VariablesModel::Node* VariablesModel::node(const QModelIndex& index) const {
  return index.isValid() ? static_cast<Node*>(index.internalPointer()) : m_root.get();
}

QModelIndex VariablesModel::indexFor(const Node* node, int column) const {
  return node == m_root.get() || node == nullptr ? QModelIndex()
                                                 : createIndex(node->row, column, node);
}

const Variable* VariablesModel::variable(const QModelIndex& index) const {
  return index.isValid() ? &node(index)->value : nullptr;
}

QModelIndex VariablesModel::indexOf(const QString& path) const {
  const auto it = m_byPath.find(path);
  return it == m_byPath.end() ? QModelIndex() : indexFor(it->second);
}

void VariablesModel::forget(Node* node) {
  m_byPath.erase(node->value.path);
  for (const auto& child : node->children) {
    forget(child.get());
  }
}

void VariablesModel::clear() {
  setVariables({}, {});
}

/// Takes away the children from the `from`-th on.
void VariablesModel::cut(Node* parent, std::size_t from) {
  auto& children = parent->children;
  if (from >= children.size()) {
    return;
  }
  beginRemoveRows(indexFor(parent), toInt(from), toInt(children.size()) - 1);
  for (std::size_t i = from; i < children.size(); ++i) {
    forget(children[i].get());
  }
  children.resize(from);
  endRemoveRows();
}

void VariablesModel::replace(Node* parent, const QList<Variable>& variables) {
  cut(parent, 0);
  update(parent, variables, true);
}

/// Nothing is left open in what has no parts any more.
void VariablesModel::assign(Node* node, const Variable& variable) {
  if (!variable.hasChildren || variable.path != node->value.path) {
    cut(node, 0);
    node->requested = node->answered = node->more = false;
  }
  node->value = variable;
  Q_EMIT dataChanged(indexFor(node), indexFor(node, ColumnCount - 1));
}

void VariablesModel::update(Node* parent, const QList<Variable>& variables, bool append) {
  if (!append) {
    for (qsizetype i = 0; i < variables.size(); ++i) {
      Node* child = parent->children[static_cast<std::size_t>(i)].get();
      const bool changed = child->value.value != variables[i].value;
      if (changed || child->changed || !(child->value == variables[i])) {
        child->changed = changed;
        assign(child, variables[i]);
      }
    }
    return;
  }
  if (variables.isEmpty()) {
    return;
  }
  const int first = toInt(parent->children.size());
  beginInsertRows(indexFor(parent), first, first + toInt(variables.size()) - 1);
  for (const Variable& variable : variables) {
    auto child = std::make_unique<Node>();
    child->value = variable;
    child->parent = parent;
    child->row = toInt(parent->children.size());
    m_byPath[variable.path] = child.get();
    parent->children.push_back(std::move(child));
  }
  endInsertRows();
}

// After a stop in the same frame, what is open is asked for again so that its values are of this
// stop: one level at a time, as the next one is known by its answer.
void VariablesModel::askAgain(Node* node) {
  QStringList open;  // an answer may come at once
  for (const auto& child : node->children) {
    if (child->requested && child->value.hasChildren) {
      open << child->value.path;
    }
  }
  for (const QString& path : open) {
    Q_EMIT expandRequested(path, 0);
  }
}

void VariablesModel::setVariable(int row, const Variable& variable) {
  Node* const top = m_root->children[at(row)].get();
  m_byPath.erase(top->value.path);
  m_byPath[variable.path] = top;
  top->changed = false;
  assign(top, variable);
  if (top->requested) {
    Q_EMIT expandRequested(variable.path, 0);
  }
}

bool VariablesModel::isOpen(int row) const {
  return m_root->children[at(row)]->requested;
}

void VariablesModel::open(int row) {
  fetchMore(index(row, 0));
}

void VariablesModel::appendVariable(const Variable& variable) {
  update(m_root.get(), {variable}, true);
}

void VariablesModel::removeVariable(int row) {
  auto& tops = m_root->children;
  beginRemoveRows({}, row, row);
  forget(tops[at(row)].get());
  tops.erase(tops.begin() + row);
  for (std::size_t i = at(row); i < tops.size(); ++i) {
    tops[i]->row = toInt(i);
  }
  endRemoveRows();
}

void VariablesModel::setVariables(const QString& frameKey, const QList<Variable>& variables) {
  const bool same =
      frameKey == m_frameKey &&
      static_cast<std::size_t>(variables.size()) == m_root->children.size() &&
      std::equal(variables.begin(), variables.end(), m_root->children.begin(),
                 [](const Variable& v, const auto& n) { return v.path == n->value.path; });
  m_frameKey = frameKey;
  if (same) {
    update(m_root.get(), variables, false);
    askAgain(m_root.get());
  } else {
    replace(m_root.get(), variables);
  }
}

void VariablesModel::setChildren(const QString& path, const QList<Variable>& children, bool more) {
  const auto it = m_byPath.find(path);
  if (it == m_byPath.end()) {
    return;  // an answer that came too late
  }
  Node* parent = it->second;
  parent->requested = true;
  parent->answered = true;
  parent->more = more;
  const auto samePath = [](const Variable& v, const auto& n) { return v.path == n->value.path; };
  const auto count = static_cast<std::size_t>(children.size());
  if (count <= parent->children.size() && count > 0 &&
      std::equal(children.begin(), children.end(), parent->children.begin(), samePath)) {
    update(parent, children, false);
    cut(parent, count);  // it has become shorter, or these were further pages of the stop before
    askAgain(parent);
    return;
  }
  const bool next = !parent->children.empty() && !children.isEmpty() &&
                    m_byPath.count(children.first().path) == 0 &&
                    std::none_of(children.begin(), children.end(),
                                 [&](const Variable& v) { return m_byPath.count(v.path) != 0; }) &&
                    parent->value.hasChildren;
  if (next) {
    update(parent, children, true);
  } else {
    replace(parent, children);
  }
}

QModelIndex VariablesModel::index(int row, int column, const QModelIndex& parent) const {
  const Node* p = node(parent);
  if (row < 0 || column < 0 || column >= ColumnCount || at(row) >= p->children.size() ||
      parent.column() > 0) {
    return {};
  }
  return createIndex(row, column, p->children[at(row)].get());
}

QModelIndex VariablesModel::parent(const QModelIndex& child) const {
  return child.isValid() ? indexFor(node(child)->parent) : QModelIndex();
}

int VariablesModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : toInt(node(parent)->children.size());
}

int VariablesModel::columnCount(const QModelIndex& /*parent*/) const {
  return ColumnCount;
}

bool VariablesModel::hasChildren(const QModelIndex& parent) const {
  if (parent.column() > 0) {
    return false;
  }
  const Node* n = node(parent);
  return !n->children.empty() || (parent.isValid() && n->value.hasChildren && !n->answered);
}

bool VariablesModel::canFetchMore(const QModelIndex& parent) const {
  if (!parent.isValid() || parent.column() > 0) {
    return false;
  }
  const Node* n = node(parent);
  return n->value.hasChildren && (!n->requested || n->more);
}

void VariablesModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) {
    return;
  }
  Node* n = node(parent);
  n->requested = true;
  n->more = false;
  const QString path = n->value.path;  // the answer may come at once and replace children
  Q_EMIT expandRequested(path, toInt(n->children.size()));
}

QVariant VariablesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const Node* n = node(index);
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == NameColumn    ? oneLine(n->value.name)
             : index.column() == ValueColumn ? oneLine(n->value.value)
                                             : oneLine(n->value.type);
    case Qt::EditRole:
      return index.column() == ValueColumn ? QVariant(n->value.value) : QVariant();
    case Qt::ToolTipRole:
      return u"%1 %2 = %3"_s.arg(n->value.type, n->value.name, n->value.value.left(2000));
    case ToneRole:
      return static_cast<int>(index.column() == TypeColumn                  ? Tone::Muted
                              : index.column() == ValueColumn && n->changed ? Tone::Changed
                                                                            : Tone::Normal);
    case BoldRole:
      return index.column() == ValueColumn && n->changed;
    case MonospaceRole:
      return index.column() != TypeColumn;
    case KeyRole:
      return n->value.path;
    default:
      return {};
  }
}

bool VariablesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable) ||
      value.toString() == node(index)->value.value) {
    return false;
  }
  Q_EMIT editRequested(node(index)->value.path, value.toString());
  return true;  // the new value arrives from GDB
}

Qt::ItemFlags VariablesModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags base = QAbstractItemModel::flags(index);
  return index.isValid() && index.column() == ValueColumn && node(index)->value.editable
             ? base | Qt::ItemIsEditable
             : base;
}

QVariant VariablesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
      section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Name", "Value", "Type"};
  return QString::fromLatin1(kTitles[section]);
}

}  // namespace pf::views

#include "moc_variables_model.cpp"
