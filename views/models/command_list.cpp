// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/command_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

int fuzzyScore(const QString& letters, const QString& text) {
  constexpr int kWordStart = 8;
  constexpr int kInARow = 5;
  int score = 1;
  qsizetype from = 0;
  qsizetype last = -2;
  for (const QChar letter : letters) {
    if (letter.isSpace()) {
      continue;
    }
    // The beginning of a word, if one has this letter; else the next such letter.
    qsizetype found = -1;
    for (qsizetype at = from; at < text.size(); ++at) {
      if (text[at].toCaseFolded() != letter.toCaseFolded()) {
        continue;
      }
      const bool start = at == 0 || !text[at - 1].isLetterOrNumber();
      if (at == last + 1 || start) {
        found = at;
        score += (at == last + 1 ? kInARow : 0) + (start ? kWordStart : 0);
        break;
      }
      found = found < 0 ? at : found;
    }
    if (found < 0) {
      return 0;
    }
    ++score;
    last = found;
    from = found + 1;
  }
  return score;
}

void CommandListModel::setCommands(const QList<Command>& commands) {
  beginResetModel();
  m_commands = commands;
  sortShown();
  endResetModel();
}

void CommandListModel::setLetters(const QString& letters) {
  beginResetModel();
  m_letters = letters;
  sortShown();
  endResetModel();
}

void CommandListModel::sortShown() {
  QList<std::pair<int, Command>> fitting;
  for (const Command& command : std::as_const(m_commands)) {
    const int inText = fuzzyScore(m_letters, command.text);
    const int inAll = fuzzyScore(m_letters, command.menu + QLatin1Char(' ') + command.text);
    if (inText > 0 || inAll > 0) {
      fitting.append({2 * std::max(2 * inText, inAll) + (command.enabled ? 1 : 0), command});
    }
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.first, a.second.text.size(), a.second.text) <
           std::tuple(-b.first, b.second.text.size(), b.second.text);
  });
  m_shown.clear();
  for (const auto& [score, command] : std::as_const(fitting)) {
    m_shown.append(command);
  }
}

const Command* CommandListModel::command(const QModelIndex& index) const {
  return index.isValid() && index.row() < rowCount() ? &m_shown[index.row()] : nullptr;
}

int CommandListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_shown.size());
}

int CommandListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant CommandListModel::data(const QModelIndex& index, int role) const {
  const Command* row = command(index);
  if (row == nullptr) {
    return {};
  }
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == TextColumn   ? row->text
             : index.column() == MenuColumn ? row->menu
                                            : row->keys;
    case ToneRole:
      return static_cast<int>(!row->enabled || index.column() == MenuColumn ? Tone::Muted
                                                                            : Tone::Normal);
    case KeyRole:
      return row->id;
    default:
      return {};
  }
}

QVariant CommandListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
      section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Command", "Menu", "Keys"};
  return QString::fromLatin1(kTitles[section]);
}

}  // namespace pf::views

#include "moc_command_list.cpp"
