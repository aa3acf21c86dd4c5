// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/gdb_consoles.h"

#include <algorithm>

#include <QRegularExpression>
#include <QTimer>

#include "app/session/state/frame_values.h"
#include "views/values/rank_groups.h"

namespace pf::session {
namespace {

constexpr int kAnswersMs = 10000;  ///< that a line to several GDBs may take

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

void GdbConsoles::send(int rank, const QString& line) {
  mi::GdbSession* gdb = m_state.fleet.session(rank);
  if (gdb == nullptr) {
    Q_EMIT consoleText(rank, tr("Rank %1 has no debugger now.\n").arg(rank), true);
    return;
  }
  gdb->console(line.toStdString(), [this, rank](const Status& status) {
    if (!status) {
      Q_EMIT consoleText(rank, toText(status.error().text()) + QLatin1Char('\n'), true);
    }
  });
}

void GdbConsoles::sendToAll(const QList<int>& ranks, const QString& line, int shownAt) {
  Question& question = m_question.begin();
  question.shownAt = shownAt;
  for (const int rank : ranks) {
    if (m_state.debugger(rank) == nullptr) {
      question.texts[rank] = tr("no debugger\n");
    } else {
      question.missing.insert(rank);
      question.texts[rank] = QString();  // a command that says nothing is an answer as well
    }
  }
  const QSet<int> reached = question.missing;
  for (const int rank : reached) {
    if (mi::GdbSession* gdb = m_state.debugger(rank); gdb != nullptr) {
      gdb->console(line.toStdString(),
                   [this, rank, asked = m_question.guard()](const Status& status) {
                     if (asked) {
                       answered(rank, status);
                     }
                   });
    }
  }
  QTimer::singleShot(kAnswersMs, this, [this, asked = m_question.guard()] {
    if (asked) {
      tellWhoIsMissing();
    }
  });
  if (reached.isEmpty()) {
    tell();
  }
}

void GdbConsoles::tellWhoIsMissing() {
  if (m_question->missing.isEmpty()) {
    return;
  }
  for (const int rank : std::as_const(m_question->missing)) {
    m_question->texts[rank] += tr("no answer yet\n");
  }
  tell();
}

bool GdbConsoles::takes(int rank, const QString& text) {
  if (!m_question->missing.contains(rank)) {
    return false;
  }
  m_question->texts[rank] += text;
  return true;
}

void GdbConsoles::answered(int rank, const Status& status) {
  if (!m_question->missing.contains(rank)) {
    return;
  }
  if (!status) {
    const QString words = QString::fromStdString(status.error().text());
    if (!m_question->texts[rank].contains(words)) {  // GDB says some errors itself
      m_question->texts[rank] += words + QLatin1Char('\n');
    }
  }
  m_question->missing.remove(rank);
  if (m_question->missing.isEmpty()) {
    tell();
  }
}

/// Ranks with the same answer together: those that differ only in what is each process' own are
/// one, shown without it.
void GdbConsoles::tell() {
  static const QRegularExpression kHistory(QStringLiteral("^\\$[0-9]+ = "));
  struct Answer {
    QString common;
    QString words;  ///< of all ranks; what is common to them where they differ
    QList<int> ranks;
  };
  QList<Answer> answers;
  for (auto& [rank, words] : m_question->texts) {
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
  m_question->missing.clear();
  for (const Answer& answer : std::as_const(answers)) {
    QString shown = answer.words.isEmpty() ? tr("done\n") : answer.words;
    shown += shown.endsWith(QLatin1Char('\n')) ? QString() : QStringLiteral("\n");
    Q_EMIT consoleText(m_question->shownAt,
                       QStringLiteral("[%1] %2").arg(values::rankSetText(answer.ranks), shown),
                       false);
  }
}

}  // namespace pf::session

#include "moc_gdb_consoles.cpp"
