// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_client_format.h"

#include <limits>

#include <QUrl>

namespace pf::headless {
namespace {

/// True unless the field says otherwise.
bool unlessDenied(const Json& arguments, const char* field) {
  return !arguments.contains(field) || flag(arguments, field);
}

}  // namespace

ClientFormat::ClientFormat(const Json& arguments)
    : m_linesFrom1(unlessDenied(arguments, "linesStartAt1")),
      m_columnsFrom1(unlessDenied(arguments, "columnsStartAt1")),
      m_pathsAreUris(word(arguments, "pathFormat") == "uri") {}

std::string ClientFormat::toClient(const QString& path) const {
  return (m_pathsAreUris ? QUrl::fromLocalFile(path).toString(QUrl::FullyEncoded) : path)
      .toStdString();
}

QString ClientFormat::fromClient(const std::string& path) const {
  const QString text = QString::fromStdString(path);
  return m_pathsAreUris ? QUrl(text).toLocalFile() : text;
}

QString ClientFormat::sourcePath(const Json& arguments) const {
  return fromClient(word(arguments.value("source", Json::object()), "path"));
}

Json ClientFormat::source(const QString& path) const {
  return {{"name", path.section(QLatin1Char('/'), -1).toStdString()}, {"path", toClient(path)}};
}

int ClientFormat::lineFromClient(std::int64_t line) const {
  const std::int64_t ours = line + (m_linesFrom1 ? 0 : 1);
  return line >= 0 && ours <= std::numeric_limits<int>::max() ? static_cast<int>(ours) : 0;
}

}  // namespace pf::headless
