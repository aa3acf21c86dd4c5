// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/payload_report.h"

#include "mpi_calls.h"
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iomanip>
#include <map>

#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "replay_engine/base/text_stream.h"

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

std::string callName(std::int32_t call) {
  return call >= 0 && static_cast<std::size_t>(call) < kCallCount ? kCallNames[call] : "?";
}

std::string whatText(const Contents& contents) {
  const PayloadEntry& head = contents.head;
  if (kindOf(head) == PayloadKind::Collective) {
    return callName(head.a);
  }
  return (kindOf(head) == PayloadKind::Probe ? "probe of a message from " : "message from ") +
         std::to_string(head.a) + " of its communicator, tag " + std::to_string(head.b);
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

nlohmann::json contentsJson(const Contents& contents, bool withBytes) {
  const PayloadEntry& head = contents.head;
  const bool collective = kindOf(head) == PayloadKind::Collective;
  nlohmann::json out{
      {"event", head.serial},
      {"kind", collective                           ? "collective"
               : kindOf(head) == PayloadKind::Probe ? "probe"
                                                    : "message"},
      {"call", collective ? nlohmann::json(callName(head.a)) : nlohmann::json(nullptr)},
      {"source", collective ? nlohmann::json(nullptr) : nlohmann::json(head.a)},
      {"tag", collective ? nlohmann::json(nullptr) : nlohmann::json(head.b)},
      {"bytes", head.size},
      {"type", contents.type ? nlohmann::json(typeText(*contents.type)) : nlohmann::json(nullptr)},
      {"typeName", contents.type ? nlohmann::json(contents.type->name) : nlohmann::json(nullptr)}};
  if (withBytes) {
    const std::string hex = hexText(contents.bytes.data(), contents.bytes.size());
    out["hex"] = hex.substr(2);
    out["values"] = valuesOf(contents);
    out["cut"] = contents.bytes.size() < head.size;
  }
  return out;
}

void putList(TextStream& out, const std::vector<Contents>& all) {
  out << "   event       bytes  what\n";
  for (const Contents& each : all) {
    out << std::setw(8) << each.head.serial << std::setw(12) << each.head.size << "  "
        << whatText(each) << (each.type ? ", " + typeText(*each.type) : std::string()) << "\n";
  }
}

}  // namespace

Result<std::vector<Contents>> contentsOf(db::TraceStore& store, Rank rank,
                                         std::optional<std::uint64_t> event, std::size_t most) {
  std::map<std::uint16_t, PayloadType> types;
  std::vector<Contents> found;
  const Status status = store.lookIntoPayload(
      rank,
      [&](const PayloadEntry& head) -> std::optional<std::size_t> {
        if (kindOf(head) == PayloadKind::Datatype) {
          return kMostPayloadType + 1;
        }
        const bool wanted = isContents(head) && (!event || head.serial == *event);
        return wanted ? std::optional<std::size_t>(most) : std::nullopt;
      },
      [&](const PayloadEntry& head, db::Bytes bytes) {
        if (kindOf(head) == PayloadKind::Datatype) {
          PayloadType type;
          if (head.a >= 1 && head.a <= kMostPayloadTypes &&
              readPayloadType(bytes.data(), bytes.size(), &type)) {
            types.emplace(static_cast<std::uint16_t>(head.a), type);
          }
          return;
        }
        Contents& contents = found.emplace_back();
        contents.head = head;
        contents.bytes.assign(bytes.begin(), bytes.end());
        if (const auto type = types.find(head.type); type != types.end()) {
          contents.type = type->second;
        }
      });
  return status ? Result<std::vector<Contents>>(std::move(found))
                : Result<std::vector<Contents>>(status.error());
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
  if (!contents.type || contents.type->head.runs == 0 ||
      (contents.type->head.runs == 1 && contents.type->runs[0].kind == BasicKind::Bytes) ||
      kindOf(contents.head) == PayloadKind::Probe) {
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

std::string hexDump(const std::vector<std::uint8_t>& bytes) {
  TextStream out;
  for (std::size_t at = 0; at < bytes.size(); at += kBytesInLine) {
    const std::size_t end = std::min(bytes.size(), at + kBytesInLine);
    out << "  " << std::hex << std::setfill('0') << std::setw(8) << at << " ";
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
  out << whatText(contents) << ": " << contents.head.size << " bytes";
  if (contents.type) {
    const std::string name = contents.type->name;
    out << " of " << typeText(*contents.type) << (name.empty() ? "" : " (" + name + ")");
  }
  out << "\n" << hexDump(contents.bytes);
  std::string line;
  for (const std::string& value : valuesOf(contents)) {
    if (!line.empty() && line.size() + value.size() + 1 > kLineWidth) {
      out << "  " << line << "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + value;
  }
  if (!line.empty()) {
    out << "  " << line << "\n";
  }
  if (contents.bytes.size() < contents.head.size) {
    out << "  … " << contents.head.size - contents.bytes.size() << " bytes more\n";
  }
  return out.str();
}

Result<std::string> payloadReport(const std::string& trace, const PayloadOptions& options) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (Status there = rankIsThere(*store, options.rank); !there) {
    return there.error();
  }
  Result<std::vector<Contents>> all =
      contentsOf(*store, options.rank, options.event, options.event ? options.most : 0);
  if (!all) {
    return all.error();
  }
  if (options.event && all->empty()) {
    return Error{ErrorCode::Usage,
                 "event " + std::to_string(*options.event) + " of rank " +
                     std::to_string(options.rank) + " received nothing from outside of its group",
                 "Leave out --event for a list of those that did."};
  }
  if (options.json) {
    nlohmann::json entries = nlohmann::json::array();
    for (const Contents& each : *all) {
      entries.push_back(contentsJson(each, options.event.has_value()));
    }
    return dump({{"rank", options.rank}, {"contents", entries}});
  }
  TextStream out;
  if (!options.event) {
    putList(out, *all);
  } else {
    for (const Contents& each : *all) {
      out << contentsText(each);
    }
  }
  return out.str();
}

}  // namespace pf::app
