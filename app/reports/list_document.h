// SPDX-License-Identifier: GPL-3.0-or-later
// A JSON document with one long list, given out an element a line: there may be millions. Private to app/reports.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "app/reports/report.h"

namespace pf::app {

class ListDocument {
 public:
  /// `before`: what the document has besides its `list`. `out` must outlive it.
  ListDocument(const TextSink& out, const nlohmann::json& before, const char* list) : m_out(out) {
    std::string head = line(before);
    head.pop_back();
    m_out(head + (before.empty() ? "" : ",") + "\"" + list + "\":[");
  }
  void add(const nlohmann::json& element) {
    m_out((m_any ? ",\n" : "\n") + line(element));
    m_any = true;
  }
  void finish() { m_out("]}\n"); }

 private:
  static std::string line(const nlohmann::json& value) {
    return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

  const TextSink& m_out;
  bool m_any = false;
};

}  // namespace pf::app
