// SPDX-License-Identifier: GPL-3.0-or-later
// The lists of fields: what is written is read again, whatever the kind; and as text.
#include "replay_engine/log_format/record_kinds.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/log/record_reader.h"
#include "replay_engine/log/record_text.h"
#include "replay_engine/log/tests/made_log.h"
#include "replay_engine/log_format/record_writer.h"

namespace pf {
namespace {

/// Gives each field a value of its own; as text what they are.
struct Fill {
  std::uint64_t next;

  template <typename Field>
  void operator()(const char* /*name*/, Field& field) {
    field = static_cast<Field>(next *= 131);
  }
  void plus(const char* /*name*/, std::int32_t& field, std::int32_t shift) {
    field = static_cast<std::int32_t>(next % 2 == 0 ? next * 31 : next) % 4096 - shift;
    ++next;
  }
  void byte(const char* /*name*/, std::uint8_t& field) {
    field = static_cast<std::uint8_t>(next *= 7);
  }
  void fixed(const char* /*name*/, std::uint64_t& field) { field = next *= 0x9E3779B97F4A7C15U; }
  void rest(const char* /*name*/, RestForm /*form*/) {}
};
struct AsText {
  std::string text;

  template <typename Field>
  void operator()(const char* name, const Field& field) {
    text += name + std::to_string(field) + ' ';
  }
  void plus(const char* name, std::int32_t field, std::int32_t /*shift*/) { (*this)(name, field); }
  void byte(const char* name, std::uint8_t field) { (*this)(name, field); }
  void fixed(const char* name, std::uint64_t field) { (*this)(name, field); }
  void rest(const char* /*name*/, RestForm /*form*/) {}
};

template <typename Fields>
std::string textOf(const Fields& fields) {
  AsText text;
  Fields::fields(fields, text);
  return text.text;
}

template <RecordKind kind>
void comesBack() {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    FieldsOf<kind> fields;
    Fill fill{seed};
    FieldsOf<kind>::fields(fields, fill);
    unsigned char bytes[kMaxRecord];
    unsigned char* const end = putRecord<kind>(bytes, fields);
    RecordReader in({bytes, end});
    ASSERT_EQ(in.kind(), kind);
    const FieldsOf<kind> read = fieldsOf<kind>(in);
    EXPECT_EQ(textOf(read), textOf(fields)) << "kind " << static_cast<int>(kind);
    EXPECT_FALSE(in.bad());
    EXPECT_TRUE(in.rest().empty());
  }
}

TEST(RecordKinds, whatIsWrittenIsRead) {
#define PF_KIND(kind, structName, event, text) comesBack<RecordKind::kind>();
  PF_RECORD_KINDS(PF_KIND)
#undef PF_KIND
}

TEST(RecordKinds, asText) {
  LogBytes module = record(RecordKind::Module, {3});
  module.insert(module.end(), {'a', '/', 'b'});
  const LogBytes log =
      logOf({}, {module, record(RecordKind::Site, {7, 0, 4096}), record(RecordKind::Local, {0}),
                 record(RecordKind::Receive, {0, 0, 0, 0, 3, 8}),
                 record(RecordKind::Choice, {3, 2, 3, 4, 5}), record(RecordKind::End)});
  std::string text;
  const Status status = printRecords(log, [&](const std::string& line) { text += line + '\n'; });
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(text,
            "0\tModule length=3 \"a/b\"\n"
            "0\tSite call=7 module=0 address=4096\n"
            "1\tLocal site=0\n"
            "2\tReceive site=0 comm=0 wanted_source=-1 wanted_tag=-1 source=2 tag=7\n"
            "2\tChoice kind=Testsome failed_polls=2 3 4 5\n"
            "2\tEnd\n");
}

TEST(RecordKinds, aRecordThatIsNoneEndsTheText) {
  const LogBytes log = logOf({}, {record(RecordKind::Local, {0}), LogBytes{120}});
  std::size_t lines = 0;
  const Status status = printRecords(log, [&](const std::string&) { ++lines; });
  EXPECT_EQ(status.error().code, ErrorCode::Damaged);
  EXPECT_EQ(lines, 1U);
}

}  // namespace
}  // namespace pf
