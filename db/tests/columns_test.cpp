// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of numbers, and streams over several chunks.
#include <sys/stat.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "db/columns/column_store.h"
#include "db/sql_tables/query.h"
#include "db/tests/sample.h"

namespace pf::db {
namespace {

TEST(Columns, keepEveryNumber) {
  ColumnEncoder encoder;
  std::vector<StoredSend> values;
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i) {
    StoredSend value;
    value.send.event = i % 7 == 0 ? random() >> 1U : static_cast<Serial>(i);
    value.send.comm = i % 3 == 0 ? kNone : static_cast<std::uint32_t>(random());
    value.send.dest = static_cast<Rank>(random() % 66) - 2;
    value.send.tag = static_cast<Tag>(random());
    value.send.synchronous = random() % 2 == 0;
    value.send.syncCompletion = i % 5 == 0 ? random() >> 1U : 0;
    value.post = i % 4 == 0 ? kNone : static_cast<std::uint32_t>(random());
    value.completion = i % 4 == 0 ? 0 : random() >> 1U;
    value.arrival = static_cast<std::uint32_t>(random());
    encoder.begin();
    fields(encoder, value);
    values.push_back(value);
  }
  const Result<Bytes> packed = encoder.finish();
  ASSERT_TRUE(packed.ok());
  ColumnDecoder decoder;
  ASSERT_TRUE(decoder.start(*packed, 5000, 64).ok());
  ASSERT_EQ(decoder.size(), values.size());
  for (const StoredSend& value : values) {
    StoredSend back;
    decoder.begin();
    fields(decoder, back);
    ASSERT_TRUE(decoder.ok());
    EXPECT_EQ(back.send.event, value.send.event);
    EXPECT_EQ(back.send.comm, value.send.comm);
    EXPECT_EQ(back.send.dest, value.send.dest);
    EXPECT_EQ(back.send.tag, value.send.tag);
    EXPECT_EQ(back.send.synchronous, value.send.synchronous);
    EXPECT_EQ(back.send.syncCompletion, value.send.syncCompletion);
    EXPECT_EQ(back.post, value.post);
    EXPECT_EQ(back.completion, value.completion);
    EXPECT_EQ(back.arrival, value.arrival);
  }
  StoredSend more;
  decoder.begin();
  fields(decoder, more);
  EXPECT_FALSE(decoder.ok());
}

TEST(Columns, ofEqualValuesTakeNoRoom) {
  ColumnEncoder encoder;
  for (int i = 0; i < 4096; ++i) {
    encoder.begin();
    const StoredEvent value{{}, 7};
    fields(encoder, value);
  }
  EXPECT_LT(encoder.finish()->size(), 60U);
}

TEST(Columns, thatAreBrokenAreRefused) {
  ColumnEncoder encoder;
  for (int i = 0; i < 100; ++i) {
    encoder.begin();
    const StoredEvent value{{}, static_cast<std::uint32_t>(i * i)};
    fields(encoder, value);
  }
  const Bytes whole = *encoder.finish();
  std::vector<std::uint8_t> raw(1000);
  raw.resize(ZSTD_decompress(raw.data(), raw.size(), whole.data(), whole.size()));
  ColumnDecoder decoder;
  for (std::size_t size = 0; size < raw.size(); ++size) {
    std::vector<std::uint8_t> packed(ZSTD_compressBound(size));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), size, 1));
    EXPECT_FALSE(decoder.start(packed, 100, 1).ok()) << size;
  }
  EXPECT_FALSE(decoder.start({}, 1, 1).ok());
}

TEST(Store, keepsManyChunks) {
  const Directory directory;
  Content content = smallContent();
  content.run.ranks = 3;
  content.execution = largeExecution(3, 60000);
  content.races.clear();
  content.raceClasses.clear();
  content.times.assign(3, {});
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t i = 0; i < content.execution.ranks[rank].events.size(); ++i) {
      content.times[rank].push_back(static_cast<std::uint32_t>(2 * i + rank));
    }
  }
  content.run.messages = 30000;
  content.run.wildcardReceives = 30000;
  content.run.racingReceives = 0;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  EXPECT_EQ(dump(*readContent(directory.file("a.pft"))), dump(content));
  Result<Database> database = Database::open(directory.file("a.pft"), Database::Access::Read);
  Result<ColumnReader> reader = ColumnReader::start(*database, 3);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->count(2, Stream::Event), 20000U);
  ASSERT_EQ(reader->chunks(2, Stream::Event).size(), 5U);
  const ChunkEntry& second = reader->chunks(2, Stream::Event)[1];
  EXPECT_EQ(second, (ChunkEntry{2, Stream::Event, 4096, 4097, 8192, 8194, 16384}));
  std::vector<StoredEvent> values;
  ASSERT_TRUE(reader->read(2, 1, values).ok());
  EXPECT_EQ(values.front().step, 8194U);
  std::int64_t found = 0;
  ASSERT_TRUE(queryTrace(
                  directory.file("a.pft"),
                  "SELECT count(*) FROM event AS e JOIN message AS m ON m.source = e.rank AND "
                  "m.send_serial = e.serial WHERE e.rank = 1 AND e.serial > 12000",
                  [](const std::vector<std::string>&) {},
                  [&](const QueryRow& row) { found = row[0].integer; })
                  .ok());
  EXPECT_EQ(found, 4000);
}

}  // namespace
}  // namespace pf::db
