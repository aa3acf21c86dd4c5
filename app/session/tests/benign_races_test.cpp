// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a class of races: in the trace, and for later runs of the same program.
#include "app/session/records/benign_races.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSettings>
#include <QTemporaryDir>

#include "db/store/origin.h"
#include "db/tests/sample.h"

namespace pf::session {
namespace {

class BenignRacesTest : public testing::Test {
 protected:
  BenignRacesTest() {
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

TEST_F(BenignRacesTest, ComesBackWithTheTrace) {
  {
    db::TraceStore trace = store();
    BenignRaces races;
    races.open(&trace, kProgram);
    EXPECT_TRUE(races.set(kKey, QStringLiteral("first reason")));
    EXPECT_TRUE(races.set(kKey, QStringLiteral("the sum\ndoes not depend on it")));
  }
  QSettings().clear();
  db::TraceStore trace = store();
  BenignRaces races;
  races.open(&trace, QStringLiteral("/elsewhere/app"));
  ASSERT_EQ(races.notes().size(), 1);
  EXPECT_EQ(races.notes().value(kKey), QStringLiteral("the sum\ndoes not depend on it"));
  EXPECT_TRUE(races.clear(kKey));
  const auto rows = trace.session().all<db::BenignRace>();
  ASSERT_TRUE(rows.ok());
  for (const db::BenignRace& row : *rows) {
    EXPECT_NE(row.raceClass, kKey.toStdString());
  }
}

TEST_F(BenignRacesTest, HoldsForLaterRunsOfTheProgramOnly) {
  BenignRaces races;
  races.open(nullptr, kProgram);
  EXPECT_FALSE(races.set(kKey, QStringLiteral("because")));  // said, but no trace keeps it
  db::TraceStore trace = store();
  BenignRaces later;
  later.open(&trace, kProgram);
  EXPECT_EQ(later.notes().value(kKey), QStringLiteral("because"));
  later.open(&trace, QStringLiteral("/home/a b/other"));
  EXPECT_TRUE(later.notes().isEmpty());
}

}  // namespace
}  // namespace pf::session
