// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/look_commands.h"

#include <QTimer>

#include "app/collation/collate.h"
#include "app/replaying/replay.h"
#include "app/script/ranks/rank_text.h"
#include "app/session/inspection/waits.h"

namespace pf::headless {
namespace {

constexpr int kOutputMs = 250;  ///< that printed words may be on their way

/// "race 1, event 2: MPI_Recv …; took rank 1 event 2, …; or could rank 3 event 2, …"
QString raceText(const Execution& execution, const Race& race, int number) {
  const EventRef receive = app::raceEvent(execution, race);
  QString text = QObject::tr("race %1, event %2: %3")
                     .arg(number)
                     .arg(receive.serial)
                     .arg(eventText(execution, receive));
  const auto add = [&](std::uint32_t message, const QString& how) {
    if (message < execution.messages.size()) {
      text += QObject::tr("; %1 %2").arg(
          how, eventOfRankText(execution, execution.messages[message].send));
    }
  };
  add(race.taken, QObject::tr("took"));
  for (const std::uint32_t other : race.alternatives) {
    add(other, QObject::tr("or could"));
  }
  return text;
}

}  // namespace

LookCommands::LookCommands(session::DebugSession& session, const ScriptRanks& ranks,
                           ScriptCycles& cycles, RankTeller& teller, AwaitedAnswers& awaited,
                           ScriptAnswer& answer)
    : m_session(session),
      m_ranks(ranks),
      m_cycles(cycles),
      m_teller(teller),
      m_awaited(awaited),
      m_answer(answer),
      m_output(session, cycles, answer),
      m_contents(session) {}

void LookCommands::addTo(CommandTable& table) {
  using L = LookCommands;
  table["rank"] = handlerOf(this, &L::rank);
  table["where"] = handlerOf(this, &L::where);
  table["group"] = handlerOf(this, &L::group);
  table["groups"] = handlerOf(this, &L::groups);
  table["which-message"] = handlerOf(this, &L::whichMessage);
  table["waits"] = handlerOf(this, &L::waits);
  table["contents"] = handlerOf(this, &L::contents);
  table["snapshots"] = handlerOf(this, &L::snapshots);
  table["races"] = handlerOf(this, &L::races);
  table["cycles"] = handlerOf(this, &L::cycles);
  table["output"] = handlerOf(this, &L::output);
}

void LookCommands::rank(const Command& command, const Ranks&) {
  if (command.number >= m_ranks.count()) {
    m_answer.fail(QObject::tr("the recording has ranks 0 to %1").arg(m_ranks.count() - 1));
    return;
  }
  m_session.setCurrentRank(command.number);
  m_teller.locate([this] {
    m_teller.tell({m_session.currentRank()}, false);
    m_answer.done();
  });
}

void LookCommands::where(const Command&, const Ranks& ranks) {
  m_teller.locate([this, ranks] {
    m_teller.tell(ranks, false);
    m_answer.done();
  });
}

void LookCommands::group(const Command& command, const Ranks&) {
  const QString text = QString::fromStdString(command.text).simplified();
  const QString name = text.section(QLatin1Char(' '), 0, 0);
  QString problem;
  const Ranks members = m_ranks.of(text.section(QLatin1Char(' '), 1).toStdString(), &problem);
  if (!problem.isEmpty()) {
    m_answer.fail(QObject::tr("%1. Write: group NAME RANKS").arg(problem));
    return;
  }
  m_session.groups().add(name, members);
  m_answer.say(members, name);
  m_answer.done();
}

void LookCommands::groups(const Command&, const Ranks&) {
  for (const values::RankGroup& group :
       m_session.groups().all() + m_session.groups().communicators()) {
    m_answer.say(group.ranks, group.name);
  }
  m_answer.done();
}

void LookCommands::whichMessage(const Command& command, const Ranks&) {
  m_awaited.begin();
  m_session.buffers().ask(
      QString::fromStdString(command.text),
      m_awaited.inTime([this, rank = m_session.currentRank()](const session::WhichMessage& answer) {
        if (answer.problem) {
          m_answer.fail(answer.text);
          return;
        }
        m_answer.say({rank}, answer.text);
        m_answer.done();
      }));
}

void LookCommands::waits(const Command&, const Ranks&) {
  m_awaited.begin();
  m_session.waits().ask(m_awaited.inTime([this](const Result<session::WaitsAnswer>& answer) {
    if (!answer) {
      m_answer.fail(QString::fromStdString(answer.error().message));
      return;
    }
    m_answer.sayForAll(answer->text.trimmed());
    m_answer.done();
  }));
}

void LookCommands::contents(const Command& command, const Ranks&) {
  if (const QString problem = eventProblem(m_session.trace()->execution, command.event);
      !problem.isEmpty()) {
    m_answer.fail(problem);
    return;
  }
  m_awaited.begin();
  m_contents.read(command.event,
                  m_awaited.inTime([this](const Result<session::EventContents>& found) {
                    if (!found) {
                      m_answer.fail(QString::fromStdString(found.error().text()));
                      return;
                    }
                    sayContents(*found);
                  }));
}

void LookCommands::sayContents(const session::EventContents& found) {
  for (const session::FoundContents& each : found.found) {
    const QString from = each.source >= 0 && !each.contents.isCollective()
                             ? QObject::tr(" (rank %1)").arg(each.source)
                             : QString();
    m_answer.say(
        {each.receiver.rank},
        QObject::tr("event %1%2: %3")
            .arg(each.receiver.serial)
            .arg(from, QString::fromStdString(app::contentsText(each.contents)).trimmed()));
  }
  for (const QString& note : found.notes) {
    m_answer.say({found.event.rank}, note);
  }
  m_answer.done();
}

void LookCommands::snapshots(const Command&, const Ranks&) {
  const QString text = m_session.snapshotsText();
  m_answer.sayPlain(text.isEmpty() ? QObject::tr("There are none: a rank that is replayed alone "
                                                 "has some.")
                                   : text);
  m_answer.done();
}

void LookCommands::races(const Command&, const Ranks&) {
  const views::TraceDataPtr trace = m_session.trace();
  int number = 0;
  for (const Race race : trace->races) {
    m_answer.say({race.rank}, raceText(trace->execution, race, ++number));
  }
  if (number == 0) {
    m_answer.sayForAll(QObject::tr("no receive could have taken another message"));
  }
  m_answer.done();
}

void LookCommands::cycles(const Command&, const Ranks&) {
  for (const QString& line : m_cycles.lines()) {
    m_answer.sayForAll(line);
  }
  m_answer.done();
}

void LookCommands::output(const Command&, const Ranks& ranks) {
  m_awaited.begin();
  const auto say = m_awaited.inTime([this, ranks] { sayOutput(ranks); });
  QTimer::singleShot(kOutputMs, &m_output, [say] { say(); });
}

void LookCommands::sayOutput(const Ranks& ranks) {
  for (const int rank : ranks) {
    const QString text = m_output.textOf(rank);
    if (!text.isEmpty()) {
      m_answer.say({rank}, text.endsWith(QLatin1Char('\n')) ? text.chopped(1) : text);
    }
  }
  m_answer.done();
}

}  // namespace pf::headless
