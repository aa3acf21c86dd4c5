// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a class of races: in the trace, and for later runs of the same program.
#include "app/session/records/judged_races.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSettings>
#include <QTemporaryDir>

#include "app/reports/baseline_file.h"
#include "db/store/origin.h"
#include "db/tests/sample.h"

namespace pf::session {
namespace {

class JudgedRacesTest : public testing::Test {
 protected:
  JudgedRacesTest() {
    QCoreApplication::setOrganizationName(QStringLiteral("photofinish-test"));
    QCoreApplication::setApplicationName(QStringLiteral("benign"));
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
    db::Content content = db::smallContent();
    content.benign.clear();
    EXPECT_TRUE(db::writeContent(m_trace, content).ok());
  }
  db::TraceStore store() {
    Result<db::TraceStore> opened = db::TraceStore::open(m_trace, db::TraceStore::Mode::ReadWrite);
    return std::move(opened.value());
  }
  QTemporaryDir m_settings;
  db::Directory m_directory;
  std::string m_trace = m_directory.file("t.pft");
};

const QString kKey = QStringLiteral("MPI_Recv collect a.c:1 < MPI_Send work a.c:2");
const QString kProgram = QStringLiteral("/home/a b/app");

TEST_F(JudgedRacesTest, ComesBackWithTheTrace) {
  {
    db::TraceStore trace = store();
    JudgedRaces races;
    races.open(&trace, kProgram);
    EXPECT_TRUE(races.set(kKey, QStringLiteral("first reason")));
    EXPECT_TRUE(races.set(kKey, QStringLiteral("the sum\ndoes not depend on it")));
  }
  QSettings().clear();
  db::TraceStore trace = store();
  JudgedRaces races;
  races.open(&trace, QStringLiteral("/elsewhere/app"));
  ASSERT_EQ(races.notes().size(), 1);
  EXPECT_EQ(races.notes().value(kKey), QStringLiteral("the sum\ndoes not depend on it"));
  EXPECT_TRUE(races.clear(kKey));
  const auto judged = trace.session().all<db::JudgedRace>();
  ASSERT_TRUE(judged.ok());
  EXPECT_TRUE(judged->empty());
  const auto rows = trace.session().all<db::BenignRace>();
  ASSERT_TRUE(rows.ok());
  for (const db::BenignRace& row : *rows) {
    EXPECT_NE(row.raceClass, kKey.toStdString());
  }
}

TEST_F(JudgedRacesTest, HoldsForLaterRunsOfTheProgramOnly) {
  JudgedRaces races;
  races.open(nullptr, kProgram);
  EXPECT_FALSE(races.set(kKey, QStringLiteral("because")));  // said, but no trace keeps it
  db::TraceStore trace = store();
  JudgedRaces later;
  later.open(&trace, kProgram);
  EXPECT_EQ(later.notes().value(kKey), QStringLiteral("because"));
  later.open(&trace, QStringLiteral("/home/a b/other"));
  EXPECT_TRUE(later.notes().isEmpty());
}

/// Marks of former versions, by line numbers, are there and can be taken back.
TEST_F(JudgedRacesTest, ReadsMarksOfFormerVersions) {
  db::TraceStore trace = store();
  ASSERT_TRUE(trace.session().add(db::BenignRace{0, kKey.toStdString(), "as ever", "2026"}).ok());
  JudgedRaces races;
  races.open(&trace, kProgram);
  EXPECT_EQ(races.notes().value(kKey), QStringLiteral("as ever"));
  ASSERT_NE(races.verdicts().ofClass(kKey.toStdString()), nullptr);
  EXPECT_TRUE(races.clear(kKey));
  EXPECT_TRUE(trace.session().all<db::BenignRace>()->empty());
  EXPECT_EQ(races.verdicts().ofClass(kKey.toStdString()), nullptr);
}

/// What the window says is what the command line reads, and the other way round.
TEST_F(JudgedRacesTest, AFileHasThem) {
  const std::string one = className("MPI_Recv a: r();", {"MPI_Send a: s();", "MPI_Send a: t();"});
  const std::string smaller = className("MPI_Recv a: r();", {"MPI_Send a: s();"});
  const std::string other = className("MPI_Recv b: r();", {"MPI_Send b: s();"});
  const QString file = QString::fromStdString(m_directory.file("app.races"));
  db::TraceStore trace = store();
  JudgedRaces races;
  races.open(&trace, kProgram);
  EXPECT_TRUE(races.judge(QString::fromStdString(one), {RaceVerdict::Bug, "issue 12"}));
  QString said;
  QObject::connect(&races, &JudgedRaces::message, [&](const QString& text, bool) { said = text; });
  races.save(file, {smaller, one, other, kKey.toStdString()});
  EXPECT_TRUE(said.contains(QStringLiteral("2 classes of races added; 1 left out")))
      << said.toStdString();

  Result<RaceBaseline> known = app::readBaseline(file.toStdString());
  ASSERT_TRUE(known.ok()) << known.error().text();
  EXPECT_EQ(known->classes(), (std::vector<std::string>{one, other}));
  EXPECT_EQ(known->ofClass(one)->verdict, RaceVerdict::Bug);
  EXPECT_EQ(*known->ofClass(other), Judged{});
  known->setClass(other, {RaceVerdict::Benign, "so it is"});
  ASSERT_TRUE(app::writeBaseline(file.toStdString(), *known).ok());

  EXPECT_TRUE(races.clear(QString::fromStdString(smaller)));  // what stands for it, too
  EXPECT_EQ(races.verdicts().ofClass(one), nullptr);
  races.load(file, {smaller, other});
  EXPECT_EQ(races.verdicts().ofClass(smaller)->verdict, RaceVerdict::Bug);
  EXPECT_EQ(races.notes().value(QString::fromStdString(other)), QStringLiteral("so it is"));
  EXPECT_EQ(trace.session().all<db::JudgedRace>()->size(), 2U);

  races.load(file + QStringLiteral(".no"), {one});
  EXPECT_TRUE(said.contains(QStringLiteral("there is no file of known races")))
      << said.toStdString();
}

}  // namespace
}  // namespace pf::session
