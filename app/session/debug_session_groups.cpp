// SPDX-License-Identifier: GPL-3.0-or-later
// Named groups of ranks, kept in the trace as notes about the run; and how far an action that was
// asked of several ranks has come.
#include <algorithm>

#include <QRegularExpression>

#include "app/session/debug_session.h"

namespace pf::session {
namespace {

constexpr const char* kGroupKind = "group";
constexpr const char* kArrangementKind = "ranks shown";
constexpr int kGroupAnswersMs = 10000;  ///< that a line to several GDBs may take
constexpr int kFirstReportMs =
    250;  ///< an action that is done by then needs no word about stragglers

/// An answer without what each process has for itself: where its code and stack lie, and the
/// numbers of its threads. Of values only pointers in the argument list of a frame are taken out.
QString commonPart(const QString& words) {
  static const QRegularExpression kOwn(
      QStringLiteral("\\b0x[0-9a-f]+ in |(?<=Thread )0x[0-9a-f]+ \\(LWP [0-9]+\\) ?"));
  static const QRegularExpression kPointer(QStringLiteral("=0x[1-9a-f][0-9a-f]*"));
  QStringList lines = words.split(QLatin1Char('\n'));
  for (QString& line : lines) {
    line.remove(kOwn);
    if (line.startsWith(QLatin1Char('#'))) {
      line.replace(kPointer, QStringLiteral("=0x…"));
    }
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

bool DebugSession::isGroup(const db::Note& note) {
  return note.kind == kGroupKind;
}

bool DebugSession::isArrangement(const db::Note& note) {
  return note.kind == kArrangementKind;
}

void DebugSession::readArrangement(const db::Note& note) {
  m_arrangement = views::arrangementOf(QString::fromStdString(note.text),
                                       static_cast<int>(m_state.rankInfos.size()));
  m_arrangementId = note.id;
}

void DebugSession::setArrangement(const views::RankArrangement& arrangement) {
  if (arrangement == m_arrangement) {
    return;
  }
  m_arrangement = arrangement;
  if (m_store == nullptr) {
    return;
  }
  if (m_arrangementId != 0) {
    (void)m_store->session().remove<db::Note>(m_arrangementId);
    m_arrangementId = 0;
  }
  if (arrangement.isPlain()) {
    return;
  }
  db::Note note;
  note.kind = kArrangementKind;
  note.text = views::arrangementText(arrangement).toStdString();
  note.createdUtc = app::utcNow();
  if (const Result<std::int64_t> id = m_store->session().add(note)) {
    m_arrangementId = *id;
  }
}

void DebugSession::readGroup(const db::Note& note) {
  const QString text = QString::fromStdString(note.text);
  bool ok = false;
  const QList<int> ranks = views::parseRankSet(text.section(QLatin1Char('\n'), 0, 0), ok);
  const QString name = text.section(QLatin1Char('\n'), 1);
  if (ok && !ranks.isEmpty() && !name.isEmpty()) {
    m_groups.append({name, ranks});
    m_groupIds[name] = note.id;
  }
}

void DebugSession::addGroup(const QString& name, const QList<int>& ranks) {
  QList<int> known;
  for (const int rank : ranks) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < m_state.rankInfos.size()) {
      known.append(rank);
    }
  }
  const QString plain = name.simplified();
  if (plain.isEmpty() || known.isEmpty()) {
    Q_EMIT message(tr("A group needs a name and at least one rank."), false);
    return;
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  removeGroup(plain);
  m_groups.append({plain, known});
  db::Note note;
  note.kind = kGroupKind;
  note.text = (views::rankSetText(known) + QLatin1Char('\n') + plain).toStdString();
  note.createdUtc = app::utcNow();
  if (m_store != nullptr) {
    if (const Result<std::int64_t> id = m_store->session().add(note)) {
      m_groupIds[plain] = *id;
    }
  }
  Q_EMIT groupsChanged();
}

void DebugSession::removeGroup(const QString& name) {
  if (m_groups.removeIf([&](const views::RankGroup& group) { return group.name == name; }) == 0) {
    return;
  }
  if (const auto id = m_groupIds.find(name); id != m_groupIds.end()) {
    if (m_store != nullptr) {
      (void)m_store->session().remove<db::Note>(id->second);
    }
    m_groupIds.erase(id);
  }
  Q_EMIT groupsChanged();
}

QList<views::RankGroup> DebugSession::communicators() const {
  QList<views::RankGroup> out;
  if (m_state.trace == nullptr) {
    return out;
  }
  for (const Communicator& communicator : m_state.trace->execution.communicators) {
    const QString name = QString::fromStdString(communicator.name);
    const QList<int> ranks(communicator.group.begin(), communicator.group.end());
    const bool known = std::any_of(out.begin(), out.end(), [&](const views::RankGroup& group) {
      return group.ranks == ranks;
    });
    if (!ranks.isEmpty() && !known) {
      out.append({name.isEmpty() ? tr("communicator %1").arg(out.size()) : name, ranks});
    }
  }
  return out;
}

// -- one line to the GDBs of several ranks

void DebugSession::consoleOfGroup(const QList<int>& ranks, const QString& line, int shownAt) {
  GroupConsole asked;
  asked.number = m_groupConsole.number + 1;
  asked.shownAt = shownAt;
  std::vector<int> reached;
  for (const int rank : ranks) {
    const auto now = m_state.now.find(rank);
    if (now == m_state.now.end() || !now->second.attached || m_fleet.session(rank) == nullptr) {
      asked.texts[rank] = tr("no debugger\n");
    } else {
      asked.missing.insert(rank);
      asked.texts[rank] = QString();  // a command that says nothing is an answer as well
      reached.push_back(rank);
    }
  }
  m_groupConsole = std::move(asked);
  const quint64 number = m_groupConsole.number;
  for (const int rank : reached) {
    if (mi::GdbSession* gdb = m_fleet.session(rank); gdb != nullptr) {
      gdb->console(line.toStdString(), [this, rank, number](const Status& status) {
        groupConsoleAnswered(rank, number, status);
      });
    }
  }
  QTimer::singleShot(kGroupAnswersMs, this, [this, number] {
    if (number == m_groupConsole.number && !m_groupConsole.missing.isEmpty()) {
      for (const int rank : std::as_const(m_groupConsole.missing)) {
        m_groupConsole.texts[rank] += tr("no answer yet\n");
      }
      tellGroupConsole();
    }
  });
  if (reached.empty()) {
    tellGroupConsole();
  }
}

void DebugSession::groupConsoleAnswered(int rank, quint64 number, const Status& status) {
  if (number != m_groupConsole.number || !m_groupConsole.missing.contains(rank)) {
    return;
  }
  if (!status) {
    const QString words = QString::fromStdString(status.error().text());
    if (!m_groupConsole.texts[rank].contains(words)) {  // GDB says some errors itself
      m_groupConsole.texts[rank] += words + QLatin1Char('\n');
    }
  }
  m_groupConsole.missing.remove(rank);
  if (m_groupConsole.missing.isEmpty()) {
    tellGroupConsole();
  }
}

/// Ranks with the same answer together: those that differ only in what is each process' own are
/// one, shown without it.
void DebugSession::tellGroupConsole() {
  static const QRegularExpression kHistory(QStringLiteral("^\\$[0-9]+ = "));
  struct Answer {
    QString common;
    QString words;  ///< of all ranks; what is common to them where they differ
    QList<int> ranks;
  };
  QList<Answer> answers;
  for (auto& [rank, words] : m_groupConsole.texts) {
    words.remove(kHistory);
    const QString common = commonPart(words);
    const auto same = std::find_if(answers.begin(), answers.end(), [&common](const Answer& answer) {
      return answer.common == common;
    });
    if (same == answers.end()) {
      answers.append({common, words, {rank}});
      continue;
    }
    same->words = same->words == words ? words : common;
    same->ranks.append(rank);
  }
  m_groupConsole.missing.clear();
  for (const Answer& answer : std::as_const(answers)) {
    QString shown = answer.words.isEmpty() ? tr("done\n") : answer.words;
    shown += shown.endsWith(QLatin1Char('\n')) ? QString() : QStringLiteral("\n");
    Q_EMIT consoleText(m_groupConsole.shownAt,
                       QStringLiteral("[%1] %2").arg(views::rankSetText(answer.ranks), shown),
                       false);
  }
}

// -- how far an action has come

void DebugSession::beginGroupRun(const QString& action, const QString& who, const QList<int>& ranks,
                                 const QList<int>& debugless) {
  m_groupRun = {action, who, ranks, QSet<int>(ranks.begin(), ranks.end()), debugless};
  m_groupRunTold.clear();
  ++m_groupRunNumber;
  QTimer::singleShot(kFirstReportMs, this, [this, number = m_groupRunNumber] {
    if (number == m_groupRunNumber) {
      tellGroupRun();
    }
  });
}

void DebugSession::endGroupRun() {
  m_groupRun = {};
  ++m_groupRunNumber;
  m_groupRunTold.clear();
  Q_EMIT groupRunChanged({});
}

/// A rank of the action has stopped, or will not move any more.
void DebugSession::arrived(int rank) {
  if (m_groupRun.underWay.remove(rank)) {
    tellGroupRun();
  }
}

void DebugSession::tellGroupRun() {
  const bool alone = m_groupRun.ranks.size() < 2 && m_groupRun.debugless.isEmpty();
  if (m_groupRun.ranks.isEmpty() || (alone && m_groupRun.underWay.isEmpty())) {
    return;
  }
  const QString text = views::groupRunText(m_groupRun, m_state.rankStates());
  if (text != m_groupRunTold) {
    m_groupRunTold = text;
    Q_EMIT groupRunChanged(text);
  }
}

}  // namespace pf::session
