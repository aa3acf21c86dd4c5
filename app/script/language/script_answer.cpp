// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/language/script_answer.h"

#include <algorithm>
#include <cstdio>

#include "views/values/debug_values.h"

namespace pf::headless {

ScriptAnswer::Besides ScriptAnswer::standardError() {
  return {[](const QString& text) {
            std::fprintf(stderr, "photofinish: %s\n", text.toUtf8().constData());
          },
          [](const std::string& lines) { std::fputs(lines.c_str(), stderr); }};
}

void ScriptAnswer::begin() {
  m_lines.clear();
  m_open = true;
  m_keepsLast = true;
}

void ScriptAnswer::say(const QList<int>& ranks, const QString& text) {
  const QString mark = QStringLiteral("[%1] ").arg(values::rankSetText(ranks));
  for (const QString& line : text.split(QLatin1Char('\n'))) {
    m_lines << mark + line;
  }
}

void ScriptAnswer::sayForAll(const QString& text) {
  for (const QString& line : text.split(QLatin1Char('\n'))) {
    m_lines << QStringLiteral("[all] ") + line;
  }
}

void ScriptAnswer::sayEqualOnes(const std::map<int, QString>& texts) {
  QList<std::pair<QString, QList<int>>> groups;
  for (const auto& [rank, text] : texts) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&text = text](const auto& group) {
      return group.first == text;
    });
    same == groups.end() ? groups.append({text, {rank}}) : same->second.append(rank);
  }
  for (const auto& [text, ranks] : groups) {
    say(ranks, text);
  }
}

void ScriptAnswer::end(const std::optional<QString>& failure) {
  if (!m_open) {
    return;
  }
  m_open = false;
  if (!m_keepsLast) {
    m_last = m_lines;
  }
  m_ended(failure);
}

}  // namespace pf::headless
