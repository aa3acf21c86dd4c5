// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/message_contents.h"

#include "mpi_calls.h"
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iomanip>
#include <map>

#include "replay_engine/base/text_stream.h"
#include "replay_engine/python_text/pickle.h"

namespace pf::app {
namespace {

constexpr std::size_t kBytesInLine = 16;
constexpr std::size_t kLineWidth = 100;

PayloadKind kindOf(const PayloadEntry& head) {
  return static_cast<PayloadKind>(head.kind);
}

bool isContents(const PayloadEntry& head) {
  return kindOf(head) == PayloadKind::Message || kindOf(head) == PayloadKind::Probe ||
         kindOf(head) == PayloadKind::Collective;
}

std::string basicName(const PayloadRun& run) {
  const std::string bits = std::to_string(run.size * 8);
  switch (run.kind) {
    case BasicKind::Bytes:
      return "byte";
    case BasicKind::Char:
      return "char";
    case BasicKind::Signed:
      return "int" + bits;
    case BasicKind::Unsigned:
      return "uint" + bits;
    case BasicKind::Float:
      return "float" + bits;
    case BasicKind::Complex:
      return "complex" + bits;
    case BasicKind::Logical:
      return "logical" + bits;
  }
  return "?";
}

template <typename Number>
Number read(const std::uint8_t* at) {
  Number number{};
  std::memcpy(&number, at, sizeof number);
  return number;
}

template <typename Number>
std::string numberText(const std::uint8_t* at) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, read<Number>(at));
  return error == std::errc() ? std::string(text, end) : "?";
}

std::string hexText(const std::uint8_t* at, std::size_t size) {
  std::string text = "0x";
  for (std::size_t i = 0; i < size; ++i) {
    text += "0123456789abcdef"[at[i] >> 4];
    text += "0123456789abcdef"[at[i] & 15U];
  }
  return text;
}

std::string integerText(const std::uint8_t* at, std::size_t size, bool isSigned) {
  switch (size) {
    case 1:
      return std::to_string(isSigned ? read<std::int8_t>(at) : read<std::uint8_t>(at));
    case 2:
      return isSigned ? numberText<std::int16_t>(at) : numberText<std::uint16_t>(at);
    case 4:
      return isSigned ? numberText<std::int32_t>(at) : numberText<std::uint32_t>(at);
    case 8:
      return isSigned ? numberText<std::int64_t>(at) : numberText<std::uint64_t>(at);
    default:
      return hexText(at, size);
  }
}

std::string floatText(const std::uint8_t* at, std::size_t size) {
  switch (size) {
    case 4:
      return numberText<float>(at);
    case 8:
      return numberText<double>(at);
    case sizeof(long double):
      return numberText<long double>(at);
    default:
      return hexText(at, size);
  }
}

std::string valueText(const PayloadRun& run, const std::uint8_t* at) {
  switch (run.kind) {
    case BasicKind::Char:
      if (run.size == 1) {
        return *at >= ' ' && *at < 0x7F ? std::string("'") + static_cast<char>(*at) + "'"
                                        : hexText(at, 1);
      }
      break;
    case BasicKind::Signed:
    case BasicKind::Unsigned:
    case BasicKind::Logical:
      return integerText(at, run.size, run.kind == BasicKind::Signed);
    case BasicKind::Float:
      return floatText(at, run.size);
    case BasicKind::Complex:
      return floatText(at, run.size / 2U) + " + " + floatText(at + run.size / 2, run.size / 2U) +
             "i";
    case BasicKind::Bytes:
      break;
  }
  return hexText(at, run.size);
}

/// What mpi4py has pickled, if it is that.
std::optional<std::string> pickled(const Contents& contents) {
  return contents.bytes.size() == contents.size
             ? python_text::pickleText(
                   {reinterpret_cast<const char*>(contents.bytes.data()), contents.bytes.size()})
             : std::nullopt;
}

/// Takes what is wanted of the entries that come by.
class ContentsTaker {
 public:
  ContentsTaker(const ContentsWanted& wanted, std::vector<Contents>& to)
      : m_wanted(wanted), m_to(to), m_left(wanted.all) {}

  std::optional<std::size_t> wants(const PayloadEntry& head) {
    if (kindOf(head) == PayloadKind::Datatype) {
      return kMostPayloadType + 1;
    }
    const auto& events = m_wanted.events;
    if (!isContents(head) ||
        (!events.empty() && std::ranges::find(events, head.serial) == events.end())) {
      return std::nullopt;
    }
    if (kindOf(head) == PayloadKind::Probe) {
      return sizeof(std::uint64_t) + 1;  // one more: whether it is that
    }
    const std::size_t bytes = std::min<std::size_t>({m_wanted.each, m_left, head.size});
    m_left -= bytes;
    return bytes;
  }

  void take(const PayloadEntry& head, db::Bytes bytes) {
    if (kindOf(head) == PayloadKind::Datatype) {
      PayloadType type;
      if (head.a >= 1 && head.a <= kMostPayloadTypes &&
          readPayloadType(bytes.data(), bytes.size(), &type)) {
        m_types.emplace(static_cast<std::uint16_t>(head.a), type);
      }
      return;
    }
    Contents& contents = m_to.emplace_back();
    contents.head = head;
    contents.size = head.size;
    if (kindOf(head) == PayloadKind::Probe) {
      m_wrongProbe = m_wrongProbe || bytes.size() != sizeof(std::uint64_t);
      contents.size = m_wrongProbe ? 0 : read<std::uint64_t>(bytes.data());
      return;
    }
    contents.bytes.assign(bytes.begin(), bytes.end());
    if (const auto type = m_types.find(head.type); type != m_types.end()) {
      contents.type = type->second;
    }
  }

  [[nodiscard]] bool wrongProbe() const { return m_wrongProbe; }

 private:
  const ContentsWanted& m_wanted;
  std::vector<Contents>& m_to;
  std::size_t m_left;
  std::map<std::uint16_t, PayloadType> m_types;
  bool m_wrongProbe = false;
};

}  // namespace

Status readContents(db::TraceStore& store, Rank rank, const ContentsWanted& wanted,
                    std::vector<Contents>& to) {
  ContentsTaker taker(wanted, to);
  Status read = store.lookIntoPayload(
      rank, [&taker](const PayloadEntry& head) { return taker.wants(head); },
      [&taker](const PayloadEntry& head, db::Bytes bytes) { taker.take(head, bytes); });
  if (read && taker.wrongProbe()) {
    return Error{ErrorCode::Damaged,
                 "a probe of rank " + std::to_string(rank) + " does not say of how many bytes",
                 "Record the run again."};
  }
  return read;
}

std::string callName(const Contents& contents) {
  const std::int32_t call = contents.head.a;
  return call >= 0 && static_cast<std::size_t>(call) < kCallCount ? kCallNames[call] : "?";
}

std::string whatText(const Contents& contents) {
  const PayloadEntry& head = contents.head;
  if (kindOf(head) == PayloadKind::Collective) {
    return callName(contents);
  }
  return (kindOf(head) == PayloadKind::Probe ? "probe of a message from rank "
                                             : "message from rank ") +
         std::to_string(head.a) + " of its communicator, tag " + std::to_string(head.b);
}

std::string typeText(const PayloadType& type) {
  if (type.head.runs == 0) {
    return "too complex";
  }
  std::string text;
  for (std::size_t i = 0; i < type.head.runs; ++i) {
    const PayloadRun& run = type.runs[i];
    text += (i == 0 ? "" : ", ") + (run.count == 1 ? "" : std::to_string(run.count) + " ") +
            basicName(run);
  }
  return text;
}

std::vector<std::string> valuesOf(const Contents& contents) {
  std::vector<std::string> values;
  if (!contents.type || contents.type->head.runs == 0) {
    return values;
  }
  if (contents.type->head.runs == 1 && contents.type->runs[0].kind == BasicKind::Bytes) {
    if (std::optional<std::string> value = pickled(contents)) {
      values.push_back(std::move(*value));
    }
    return values;
  }
  const PayloadType& type = *contents.type;
  for (std::size_t at = 0, run = 0;; run = (run + 1) % type.head.runs) {
    const PayloadRun& each = type.runs[run];
    for (std::uint32_t i = 0; i < each.count; ++i) {
      if (contents.bytes.size() - at < each.size) {
        return values;
      }
      values.push_back(valueText(each, contents.bytes.data() + at));
      at += each.size;
    }
  }
}

std::string valuesText(const Contents& contents, const std::string& indent) {
  std::string text;
  std::string line;
  for (const std::string& value : valuesOf(contents)) {
    if (!line.empty() && line.size() + value.size() + 1 > kLineWidth) {
      text += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + value;
  }
  return line.empty() ? text : text + indent + line + "\n";
}

std::string hexDump(const std::vector<std::uint8_t>& bytes, const std::string& indent) {
  TextStream out;
  for (std::size_t at = 0; at < bytes.size(); at += kBytesInLine) {
    const std::size_t end = std::min(bytes.size(), at + kBytesInLine);
    out << indent << std::hex << std::setfill('0') << std::setw(8) << at << " ";
    std::string characters;
    for (std::size_t i = at; i < at + kBytesInLine; ++i) {
      out << (i == at + kBytesInLine / 2 ? "  " : " ");
      if (i < end) {
        out << std::setw(2) << static_cast<unsigned>(bytes[i]);
        characters += bytes[i] >= ' ' && bytes[i] < 0x7F ? static_cast<char>(bytes[i]) : '.';
      } else {
        out << "  ";
      }
    }
    out << "  " << characters << "\n";
  }
  return out.str();
}

std::string contentsText(const Contents& contents) {
  TextStream out;
  out << whatText(contents) << ": " << contents.size << " bytes";
  if (contents.type) {
    const std::string name = contents.type->name;
    out << " of " << typeText(*contents.type) << (name.empty() ? "" : " (" + name + ")");
  }
  out << "\n" << hexDump(contents.bytes, "  ") << valuesText(contents, "  ");
  if (!contents.isProbe() && contents.bytes.size() < contents.size) {
    out << "  … " << contents.size - contents.bytes.size() << " bytes more\n";
  }
  return out.str();
}

nlohmann::json contentsJson(const Contents& contents, bool withBytes) {
  const PayloadEntry& head = contents.head;
  const bool collective = kindOf(head) == PayloadKind::Collective;
  nlohmann::json out{
      {"event", head.serial},
      {"kind", collective                           ? "collective"
               : kindOf(head) == PayloadKind::Probe ? "probe"
                                                    : "message"},
      {"call", collective ? nlohmann::json(callName(contents)) : nlohmann::json(nullptr)},
      {"source", collective ? nlohmann::json(nullptr) : nlohmann::json(head.a)},
      {"tag", collective ? nlohmann::json(nullptr) : nlohmann::json(head.b)},
      {"bytes", contents.size},
      {"type", contents.type ? nlohmann::json(typeText(*contents.type)) : nlohmann::json(nullptr)},
      {"typeName", contents.type ? nlohmann::json(contents.type->name) : nlohmann::json(nullptr)}};
  if (withBytes) {
    const std::string hex = hexText(contents.bytes.data(), contents.bytes.size());
    out["hex"] = hex.substr(2);
    out["values"] = valuesOf(contents);
    out["cut"] = !contents.isProbe() && contents.bytes.size() < contents.size;
  }
  return out;
}

}  // namespace pf::app
