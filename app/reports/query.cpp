// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/query.h"

#include <nlohmann/json.hpp>

#include "app/files/text_output.h"
#include "app/replaying/replay.h"
#include "db/sql_tables/query.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

using Value = db::Statement::Value;
using Type = db::Statement::Type;

std::string hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 0xFU];
  }
  return text;
}

/// Empty for NULL; tabs, line ends and backslashes in a text are written as \t, \n, \r, \\, what
/// would steer the terminal as shown() has it.
std::string plain(const Value& value) {
  switch (value.type) {
    case Type::Null:
      return {};
    case Type::Integer:
      return std::to_string(value.integer);
    case Type::Real:
      return nlohmann::json(value.real).dump();
    case Type::Blob:
      return hex(value.text());
    case Type::Text:
      break;
  }
  std::string text;
  for (const char c : value.text()) {
    switch (c) {
      case '\t':
        text += "\\t";
        break;
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\\':
        text += "\\\\";
        break;
      default:
        text += c;
    }
  }
  return shown(text);
}

nlohmann::json asJson(const Value& value) {
  switch (value.type) {
    case Type::Null:
      return nullptr;
    case Type::Integer:
      return value.integer;
    case Type::Real:
      return value.real;
    case Type::Blob:
      return hex(value.text());
    case Type::Text:
      return std::string(value.text());
  }
  return nullptr;
}

}  // namespace

Status printQuery(const std::string& trace, const std::string& sql, bool inJson) {
  if (Status status = surveyIfNeeded(trace); !status) {
    return status;
  }
  Result<TextOutput> out = TextOutput::open("");
  if (!out) {
    return out.error();
  }
  std::vector<std::string> names;
  std::size_t rows = 0;
  const auto onColumns = [&](const std::vector<std::string>& columns) {
    names = columns;
    for (std::size_t i = 0; !inJson && i < names.size(); ++i) {
      out->write(shown(names[i]) + (i + 1 < names.size() ? "\t" : "\n"));
    }
  };
  const auto onRow = [&](const db::QueryRow& row) {
    if (inJson) {
      nlohmann::ordered_json object = nlohmann::ordered_json::object();
      for (std::size_t i = 0; i < row.size(); ++i) {
        object[names[i]] = asJson(row[i]);
      }
      out->write((rows == 0 ? "[" : ",\n ") +
                 object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    } else {
      for (std::size_t i = 0; i < row.size(); ++i) {
        out->write(plain(row[i]) + (i + 1 < row.size() ? "\t" : "\n"));
      }
    }
    ++rows;
  };
  const Status status = db::queryTrace(trace, sql, onColumns, onRow);
  if (inJson && (status.ok() || rows > 0)) {  // what was begun is ended, whatever came between
    out->write(rows == 0 ? "[]\n" : "]\n");
  }
  const Status written = out->finish();
  return status.ok() ? written : status;
}

}  // namespace pf::app
