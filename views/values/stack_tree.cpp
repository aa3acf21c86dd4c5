// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/stack_tree.h"

#include <algorithm>
#include <iterator>

#include <QMap>
#include <QRegularExpression>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::values {

namespace {

bool sameNode(const StackFrame& a, const StackFrame& b, bool byLine) {
  // GDB does not name the program as a module, the agent does.
  const bool sameModule =
      a.module.isEmpty() || b.module.isEmpty() || baseName(a.module) == baseName(b.module);
  return plainFunction(a.function) == plainFunction(b.function) && sameModule &&
         (!byLine || (a.line == b.line && baseName(a.file) == baseName(b.file)));
}

void addStack(std::vector<StackNode>& level, const RankStack& stack, bool byLine) {
  std::vector<StackNode>* at = &level;
  for (auto frame = stack.frames.crbegin(); frame != stack.frames.crend(); ++frame) {
    auto found = std::find_if(at->begin(), at->end(), [&](const StackNode& node) {
      return sameNode(node.frame, *frame, byLine);
    });
    if (found == at->end()) {
      StackNode node;
      node.frame = *frame;
      node.frame.function = plainFunction(frame->function);
      at->push_back(std::move(node));
      found = std::prev(at->end());
    } else if (found->frame.line != frame->line) {
      found->frame.line = 0;  // several
    }
    found->ranks.append(stack.rank);
    at = &found->children;
  }
}

void sortNodes(std::vector<StackNode>& nodes) {
  for (StackNode& node : nodes) {
    std::sort(node.ranks.begin(), node.ranks.end());
    sortNodes(node.children);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const StackNode& a, const StackNode& b) {
    return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size()
                                            : a.ranks.first() < b.ranks.first();
  });
}

}  // namespace

QString plainFunction(const QString& name) {
  static const QRegularExpression kClone(
      QStringLiteral(R"(( \[clone [^\]]*\])+$|(\.(isra|constprop|part|cold|lto_priv)(\.\d+)?)+$)"));
  static const QRegularExpression kTag(QStringLiteral(R"(\[abi:[^\]]*\])"));
  QString plain = name;
  plain.remove(kClone).remove(kTag);
  // The parameters are the last parentheses, which nothing but qualifiers follows. "operator()" has
  // a pair of its own before them.
  const qsizetype close = plain.lastIndexOf(QLatin1Char(')'));
  if (close < 0) {
    return plain;
  }
  const QStringView rest = QStringView(plain).mid(close + 1).trimmed();
  if (!rest.isEmpty() && !rest.startsWith(u"const") && !rest.startsWith(u"&") &&
      !rest.startsWith(u"volatile") && !rest.startsWith(u"noexcept")) {
    return plain;
  }
  int depth = 0;
  for (qsizetype i = close; i >= 0; --i) {
    depth += plain[i] == QLatin1Char(')') ? 1 : plain[i] == QLatin1Char('(') ? -1 : 0;
    if (depth == 0) {
      const QString before = plain.left(i);
      return before.isEmpty() || before.endsWith(u"operator"_s) || before.endsWith(QLatin1Char(':'))
                 ? plain
                 : before;
    }
  }
  return plain;
}

std::vector<StackNode> stackTree(const QList<RankStack>& stacks, bool byLine) {
  std::vector<StackNode> nodes;
  QMap<QString, QList<int>> without;
  for (const RankStack& stack : stacks) {
    if (stack.frames.isEmpty()) {
      without[stack.note.isEmpty() ? u"no stack"_s : stack.note].append(stack.rank);
    } else {
      addStack(nodes, stack, byLine);
    }
  }
  sortNodes(nodes);
  for (auto it = without.begin(); it != without.end(); ++it) {
    StackNode node;
    node.note = it.key();
    node.ranks = it.value();
    std::sort(node.ranks.begin(), node.ranks.end());
    nodes.push_back(std::move(node));
  }
  return nodes;
}

struct StackTreeModel::Item {
  StackNode node;  ///< its children are moved out, into items
  Item* parent = nullptr;
  int row = 0;
  std::vector<std::unique_ptr<Item>> children;
};

StackTreeModel::StackTreeModel(QObject* parent)
    : QAbstractItemModel(parent), m_root(std::make_unique<Item>()) {}

StackTreeModel::~StackTreeModel() = default;

void StackTreeModel::setStacks(const QList<RankStack>& stacks) {
  if (stacks != m_stacks) {
    m_stacks = stacks;
    rebuild();
  }
}

void StackTreeModel::setByLine(bool byLine) {
  if (byLine != m_byLine) {
    m_byLine = byLine;
    rebuild();
  }
}

void StackTreeModel::rebuild() {
  beginResetModel();
  m_root = std::make_unique<Item>();
  append(m_root.get(), stackTree(m_stacks, m_byLine));
  endResetModel();
}

void StackTreeModel::append(Item* parent, std::vector<StackNode> nodes) {
  for (StackNode& node : nodes) {
    auto made = std::make_unique<Item>();
    std::vector<StackNode> children = std::move(node.children);
    made->node = std::move(node);
    made->parent = parent;
    made->row = toInt(parent->children.size());
    append(made.get(), std::move(children));
    parent->children.push_back(std::move(made));
  }
}

StackTreeModel::Item* StackTreeModel::item(const QModelIndex& index) const {
  return index.isValid() ? static_cast<Item*>(index.internalPointer()) : m_root.get();
}

const StackNode* StackTreeModel::node(const QModelIndex& index) const {
  return index.isValid() ? &item(index)->node : nullptr;
}

QModelIndex StackTreeModel::index(int row, int column, const QModelIndex& parent) const {
  const Item* above = item(parent);
  if (row < 0 || column < 0 || column >= ColumnCount || parent.column() > 0 ||
      at(row) >= above->children.size()) {
    return {};
  }
  return createIndex(row, column, above->children[at(row)].get());
}

QModelIndex StackTreeModel::parent(const QModelIndex& child) const {
  Item* above = child.isValid() ? item(child)->parent : nullptr;
  return above == nullptr || above == m_root.get() ? QModelIndex()
                                                   : createIndex(above->row, 0, above);
}

int StackTreeModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : toInt(item(parent)->children.size());
}

int StackTreeModel::columnCount(const QModelIndex& /*parent*/) const {
  return ColumnCount;
}

QVariant StackTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const StackNode& node = item(index)->node;
  const StackFrame& frame = node.frame;
  const QString place = frame.file.isEmpty() ? QString()
                        : frame.line > 0     ? u"%1:%2"_s.arg(baseName(frame.file)).arg(frame.line)
                                             : baseName(frame.file);
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case FunctionColumn:
          return node.isNote()              ? oneLine(node.note)
                 : frame.function.isEmpty() ? u"??"_s
                                            : oneLine(frame.function);
        case CountColumn:
          return QString::number(node.ranks.size());
        case RanksColumn:
          return rankSetText(node.ranks);
        default:
          return oneLine(place.isEmpty() ? baseName(frame.module) : place);
      }
    case Qt::ToolTipRole:
      return frame.file.isEmpty()
                 ? u"%1\nranks %2"_s.arg(node.isNote() ? node.note : frame.function,
                                         rankSetText(node.ranks))
                 : u"%1 at %2:%3\nranks %4"_s.arg(frame.function, frame.file)
                       .arg(frame.line)
                       .arg(rankSetText(node.ranks));
    case Qt::TextAlignmentRole:
      return index.column() == CountColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                           : QVariant();
    case ToneRole:
      return static_cast<int>(
          node.isNote() || (frame.file.isEmpty() && index.column() == PlaceColumn) ? Tone::Muted
                                                                                   : Tone::Normal);
    case MonospaceRole:
      return index.column() == FunctionColumn && !node.isNote();
    case KeyRole:
      return rankSetText(node.ranks);
    default:
      return {};
  }
}

QVariant StackTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
      section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Function", "Count", "Ranks", "Place"};
  return QString::fromLatin1(kTitles[section]);
}

}  // namespace pf::values

#include "moc_stack_tree.cpp"
