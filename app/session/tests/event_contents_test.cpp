// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace has of the messages of an event, and what is said where it has nothing.
#include "app/session/event_contents.h"

#include <gtest/gtest.h>

#include "db/store/origin.h"
#include "db/tests/sample.h"
#include "replay_engine/rank/payload/payload_writer.h"
#include "views/tests/sample_trace.h"

namespace pf::session {
namespace {

constexpr std::uint64_t kSalt = 0xDEADBEEFCAFEF00DU;  // as of smallContent()

struct Kept {
  PayloadKind kind = PayloadKind::Message;
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::uint64_t serial = 0;
  std::string bytes;
};

/// Three ranks, 0 and 1 of which are a group: a trace with what rank 0 got from rank 2.
class EventContentsTest : public testing::Test {
 protected:
  EventContentsTest() {
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
  }
  std::vector<std::uint8_t> payloadOf(Rank rank, const std::vector<Kept>& all, bool clean = true) {
    PayloadWriter writer;
    const std::string path = m_directory.file("payload-" + std::to_string(rank));
    EXPECT_TRUE(writer.open(path.c_str(), kSalt, rank, 3));
    for (const Kept& each : all) {
      writer.begin(each.kind, each.a, each.b, each.serial);
      writer.add(each.bytes.data(), each.bytes.size());
      writer.end();
    }
    writer.close(clean);
    return db::readFile(path);
  }

  EventContents read(const EventRef& event) {
    const Status written = db::writeContent(trace(), m_content);
    EXPECT_TRUE(written.ok()) << written.error().text();
    if (m_index == nullptr) {
      m_index = views::makeIndex(m_builder.build(QStringLiteral("t")));
    }
    Result<EventContents> found = readEventContents(trace(), askedContents(*m_index, event));
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().text());
    return found.ok() ? *found : EventContents{};
  }
  [[nodiscard]] std::string trace() const { return m_directory.file("t.pft"); }
  static std::string notesOf(const EventContents& found) {
    return QStringList(found.notes).join(QLatin1Char('\n')).toStdString();
  }
  static std::string textOf(const FoundContents& found) {
    return {found.contents.bytes.begin(), found.contents.bytes.end()};
  }

  db::Directory m_directory;
  db::Content m_content = [] {
    db::Content content = db::smallContent();
    content.run.groups = "0-1,2";
    return content;
  }();
  views::test::TraceBuilder m_builder{3};
  views::TraceIndexPtr m_index;
};

TEST_F(EventContentsTest, AReceiveAndItsSendHaveTheSameContents) {
  const std::uint32_t message = m_builder.send(2, 0, 7);
  m_builder.receive(0, kAnySource, 7, message);
  m_content.payloadFiles[0] = payloadOf(0, {{PayloadKind::Message, 2, 7, 1, "hello"}});
  for (const EventRef event : {EventRef{0, 1}, EventRef{2, 1}}) {
    const EventContents found = read(event);
    ASSERT_EQ(found.found.size(), 1U) << notesOf(found);
    EXPECT_EQ(textOf(found.found[0]), "hello");
    EXPECT_EQ(found.found[0].source, 2);
    EXPECT_EQ(found.found[0].receiver, (EventRef{0, 1}));
    EXPECT_EQ(notesOf(found), "");
  }
}

TEST_F(EventContentsTest, AMessageWithinTheGroupHasNone) {
  const std::uint32_t message = m_builder.send(1, 0, 7);
  m_builder.receive(0, 1, 7, message);
  m_content.payloadFiles[0] = payloadOf(0, {{PayloadKind::Message, 2, 7, 9, "another"}});
  const EventContents found = read({1, 1});
  EXPECT_TRUE(found.found.empty());
  EXPECT_EQ(notesOf(found).find("It was sent within the group 0-1: only its order was recorded."),
            0U)
      << notesOf(found);
  EXPECT_NE(notesOf(found).find("record --groups each"), std::string::npos);
}

TEST_F(EventContentsTest, OfSeveralOneIsToldFromTheOthers) {
  const std::uint32_t a = m_builder.send(2, 0, 7);
  const std::uint32_t b = m_builder.send(1, 0, 8);
  const std::uint32_t first = m_builder.post(0, 2, 7);
  const std::uint32_t second = m_builder.post(0, 1, 8);
  m_builder.wait(0, {{first, a}, {second, b}});
  m_content.payloadFiles[0] = payloadOf(
      0, {{PayloadKind::Message, 2, 6, 3, "other"}, {PayloadKind::Message, 2, 7, 3, "this"}});
  const EventContents sent = read({2, 1});
  ASSERT_EQ(sent.found.size(), 1U);
  EXPECT_EQ(textOf(sent.found[0]), "this");
  const EventContents posted = read({0, 1});
  ASSERT_EQ(posted.found.size(), 1U) << "the receive that this event posts";
  const EventContents whole = read({0, 3});
  EXPECT_EQ(whole.found.size(), 2U) << "all that the rank was told there";
  EXPECT_NE(notesOf(whole).find("1 of its 2 messages were sent within the group 0-1"),
            std::string::npos)
      << notesOf(whole);
}

TEST_F(EventContentsTest, TheSameStreamTwiceAtOneEventIsSaid) {
  const std::uint32_t a = m_builder.send(2, 0, 7);
  const std::uint32_t b = m_builder.send(2, 0, 7);
  const std::uint32_t first = m_builder.post(0, 2, 7);
  const std::uint32_t second = m_builder.post(0, 2, 7);
  m_builder.wait(0, {{first, a}, {second, b}});
  m_content.payloadFiles[0] = payloadOf(
      0, {{PayloadKind::Message, 2, 7, 3, "one"}, {PayloadKind::Message, 2, 7, 3, "two"}});
  const EventContents found = read({2, 1});
  EXPECT_EQ(found.found.size(), 2U);
  EXPECT_NE(notesOf(found).find("which of them is this one is not told"), std::string::npos)
      << notesOf(found);
}

TEST_F(EventContentsTest, WhatIsLongIsCutAndSaid) {
  const std::uint32_t message = m_builder.send(2, 0, 7);
  m_builder.receive(0, 2, 7, message);
  m_content.payloadFiles[0] =
      payloadOf(0, {{PayloadKind::Message, 2, 7, 1, std::string(kContentsShown + 5, 'x')},
                    {PayloadKind::Message, 2, 7, 1, std::string(10, 'y')}});
  const EventContents found = read({0, 1});
  ASSERT_EQ(found.found.size(), 2U);
  EXPECT_EQ(found.found[0].contents.bytes.size(), kContentsShown);
  EXPECT_TRUE(found.found[1].contents.bytes.empty()) << "the bound is for all together";
  EXPECT_EQ(found.found[1].contents.size, 10U);
  EXPECT_EQ(notesOf(found),
            "At most 64 KiB are shown. For more: photofinish payload FILE --rank 0 --event 1 "
            "--bytes 65541");
}

TEST_F(EventContentsTest, WhatEndsBeforeIsSaid) {
  const std::uint32_t message = m_builder.send(2, 0, 7);
  m_builder.receive(0, 2, 7, message);
  m_content.payloadFiles[0] = payloadOf(0, {}, false);
  const EventContents found = read({0, 1});
  EXPECT_TRUE(found.found.empty());
  EXPECT_NE(notesOf(found).find("The contents for rank 0 end before that"), std::string::npos)
      << notesOf(found);
}

TEST_F(EventContentsTest, WhatIsBeforeTheDamageIsShown) {
  const std::uint32_t message = m_builder.send(2, 0, 7);
  m_builder.receive(0, 2, 7, message);
  m_content.payloadFiles[0] = payloadOf(
      0, {{PayloadKind::Message, 2, 7, 1, "hello"}, {PayloadKind::Message, 2, 7, 2, "broken"}});
  m_content.payloadFiles[0].back() ^= 0x40;
  m_content.payloadFiles[0][m_content.payloadFiles[0].size() - 8] ^= 0x40;
  const EventContents found = read({0, 1});
  ASSERT_EQ(found.found.size(), 1U) << notesOf(found);
  EXPECT_EQ(textOf(found.found[0]), "hello");
}

TEST_F(EventContentsTest, NothingIsSaidToBeThereThatIsNot) {
  const std::uint32_t message = m_builder.send(2, 0, 7);
  m_builder.receive(0, 2, 7, message);
  m_builder.send(2, 0, 8);
  m_builder.local(1, "MPI_Init");
  m_content.payloadFiles[0] = payloadOf(0, {{PayloadKind::Message, 2, 9, 4, "another"}});
  EXPECT_NE(notesOf(read({0, 1})).find("'photofinish check' says whether"), std::string::npos);
  EXPECT_EQ(notesOf(read({2, 2})), "No rank has received the message, so nothing of it is kept.");
  EXPECT_EQ(notesOf(read({1, 1})), "This event neither sends nor receives anything.");
  EXPECT_EQ(notesOf(read({1, 99})), "The trace has no such event.");
}

TEST_F(EventContentsTest, ATraceWithoutContentsSaysHowToRecordThem) {
  const std::uint32_t message = m_builder.send(2, 0, 7);
  m_builder.receive(0, 2, 7, message);
  m_content.run.groups.reset();
  const EventContents found = read({0, 1});
  EXPECT_EQ(notesOf(found).find("The trace holds no contents of messages. Record with --groups"),
            0U);
  m_content.run.groups = "0-1,2";
  m_content.run.redacted = true;
  EXPECT_EQ(notesOf(read({0, 1})).find("The contents of messages were taken out of this trace"),
            0U);
}

}  // namespace
}  // namespace pf::session
