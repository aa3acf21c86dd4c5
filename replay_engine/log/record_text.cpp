// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/record_text.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <type_traits>

#include "replay_engine/base/shown_text.h"
#include "replay_engine/log/decoder.h"

namespace pf {
namespace {

struct KindInfo {
  const char* name;
  bool event;
  const char* text;
};

constexpr std::array kKinds{
#define PF_KIND(kind, fields, event, text) KindInfo{#kind, event, text},
    PF_RECORD_KINDS(PF_KIND)
#undef PF_KIND
};

constexpr std::array kChoiceNames{"Test",    "Testall",  "Testany",   "Testsome",
                                  "Waitany", "Waitsome", "Iprobe",    "Improbe",
                                  "Probe",   "Mprobe",   "GetStatus", "Lock"};
static_assert(kChoiceNames.size() == kChoiceKinds);

/// Whether a field is a ChoiceKind.
bool isChoiceKind(RecordKind kind, std::string_view field) {
  return kind == RecordKind::Choice && field == "kind";
}

/// Calls `visit` with the fields of `kind`.
template <typename Visit>
void visitFields(RecordKind kind, Visit& visit) {
  switch (kind) {
#define PF_KIND(kind, structName, event, text)       \
  case RecordKind::kind: {                           \
    FieldsOf<RecordKind::kind> none;                 \
    FieldsOf<RecordKind::kind>::fields(none, visit); \
    break;                                           \
  }
    PF_RECORD_KINDS(PF_KIND)
#undef PF_KIND
    case RecordKind::Count:
      break;
  }
}

/// A record whose end is known, which was found to be one.
class FieldPrinter {
 public:
  FieldPrinter(RecordKind kind, std::span<const unsigned char> record)
      : m_kind(kind), m_in(record) {}

  template <typename Field>
  void operator()(const char* name, const Field& /*field*/) {
    const std::uint64_t value = m_in.number();
    const bool named = isChoiceKind(m_kind, name) && value < kChoiceNames.size();
    add(name, named ? kChoiceNames[value] : std::to_string(static_cast<Field>(value)));
  }
  void plus(const char* name, std::int32_t /*field*/, std::int32_t shift) {
    add(name, std::to_string(m_in.shifted(static_cast<std::uint32_t>(shift))));
  }
  void byte(const char* name, std::uint8_t /*field*/) { add(name, std::to_string(m_in.byte())); }
  void fixed(const char* name, std::uint64_t /*field*/) { add(name, hex(m_in.fixed64())); }
  void rest(const char* /*name*/, RestForm form) {
    if (form == RestForm::Text) {
      m_text += " \"" + shown(m_in.text(m_in.rest().size())) + '"';
      return;
    }
    while (!m_in.atEnd()) {
      m_text += ' ' + (form == RestForm::Hex ? hex(m_in.byte()) : std::to_string(m_in.number()));
    }
  }
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  void add(const char* name, const std::string& value) {
    m_text += std::string(" ") + name + '=' + value;
  }
  static std::string hex(std::uint64_t value) {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "%02llx", static_cast<unsigned long long>(value));
    return text.data();
  }

  RecordKind m_kind;
  RecordReader m_in;
  std::string m_text;
};

std::string recordText(std::span<const unsigned char> record) {
  if ((record[0] & kNextWild) != 0) {
    return "(next wildcard) source=" + std::to_string(record[0] & (kNextWild - 1U));
  }
  const auto kind = static_cast<RecordKind>(record[0]);
  FieldPrinter printer(kind, record.subspan(1));
  visitFields(kind, printer);
  return kKinds[record[0]].name + printer.text();
}

/// "`site` `wanted_source`+1 …"
struct FieldNames {
  RecordKind kind;
  std::string text{};

  template <typename Field>
  void operator()(const char* name, const Field& /*field*/) {
    std::string numbers;
    for (std::size_t i = 0; isChoiceKind(kind, name) && i < kChoiceNames.size(); ++i) {
      numbers += (i == 0 ? " (" : ", ") + std::to_string(i) + ' ' + kChoiceNames[i];
    }
    add(name, numbers.empty() ? numbers : numbers + ')');
  }
  void plus(const char* name, std::int32_t /*field*/, std::int32_t shift) {
    add(name, " + " + std::to_string(shift));
  }
  void byte(const char* name, std::uint8_t /*field*/) { add(name, " (a byte)"); }
  void fixed(const char* name, std::uint64_t /*field*/) { add(name, " (8 bytes)"); }
  void rest(const char* name, RestForm /*form*/) {
    text += text.empty() ? name : std::string(", then ") + name;
  }

 private:
  void add(const char* name, const std::string& how) {
    text += (text.empty() ? "`" : ", `") + std::string(name) + '`' + how;
  }
};

}  // namespace

Status printRecords(std::span<const unsigned char> log,
                    const std::function<void(const std::string&)>& line) {
  Result<LogExtent> extent = checkLog(log);
  if (!extent) {
    return extent.error();
  }
  Decoder decoder(*reinterpret_cast<const LogHeader*>(log.data()), extent->blocks);
  std::uint64_t events = 0;
  for (const std::span<const unsigned char> block : extent->blocks) {
    RecordReader in(block);
    while (!in.atEnd()) {
      const std::span<const unsigned char> rest = in.rest();
      if (!decoder.record(in)) {  // knows where a record ends
        return Error{ErrorCode::Damaged, decoder.refusal(), {}};
      }
      const auto record = rest.first(rest.size() - in.rest().size());
      events += record[0] < kKinds.size() && kKinds[record[0]].event ? 1U : 0U;
      line(std::to_string(events) + '\t' + recordText(record));
    }
  }
  return extent->damaged ? Status(Error{ErrorCode::Damaged, extent->damage, {}}) : Status();
}

std::string recordPage() {
  std::string table =
      "# The records of a log\n\n"
      "A rank writes what it does into a log, and a trace holds the logs of its ranks. This page "
      "is made "
      "by `pf_log_dump --page`\nfrom `replay_engine/log_format/record_kinds.h`, and a test "
      "compares "
      "the two. How records lie in blocks is told "
      "in\n`replay_engine/log_format/log_format.h`, "
      "and\nwhat lies beside the log of a rank whose group is recorded in "
      "`replay_engine/log_format/payload_format.h`.\n\n"
      "`pf_log_dump TRACE RANK` prints the records of a rank, a line each, with the number of the "
      "event "
      "that each belongs to.\n\n"
      "A record is the number of its kind (a byte, from 0 in the order of the table), then its "
      "fields: "
      "unsigned varints (LEB128)\nwhere nothing else is said. `+ 1` and `+ 2` are added in the "
      "log, so that "
      "MPI_ANY_* (-1) and \"none\" fit. **E**: it starts\nan event, whose number is one more than "
      "the "
      "last one's. A byte from 128 on is a whole record: a wildcard receive's source.\n\n"
      "| record | fields | what it says |\n|---|---|---|\n";
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    FieldNames names{static_cast<RecordKind>(kind)};
    visitFields(names.kind, names);
    table += "| `" + std::string(kKinds[kind].name) + "`" + (kKinds[kind].event ? " **E**" : "") +
             " | " + names.text + " | " + kKinds[kind].text + " |\n";
  }
  return table;
}

}  // namespace pf
