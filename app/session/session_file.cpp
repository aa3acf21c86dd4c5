#include "session_file.h"

#include "breakpoint_text.h"

#include <algorithm>

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "app/private_file.h"

namespace pf::session {
namespace {

constexpr int kVersion = 1;
constexpr qint64 kMostBytes = qint64{16} << 20U;

QString key(const char* name) {
  return QString::fromLatin1(name);
}

QJsonArray numbers(const QList<int>& values) {
  QJsonArray out;
  for (const int value : values) {
    out.append(value);
  }
  return out;
}

QList<int> ranksOf(const QJsonValue& values) {
  QList<int> out;
  for (const QJsonValue& value : values.toArray()) {
    if (const int rank = value.toInt(-1); rank >= 0) {
      out.append(rank);
    }
  }
  return out;
}

QStringList wordsOf(const QJsonValue& values) {
  QStringList out;
  for (const QJsonValue& value : values.toArray()) {
    out.append(value.toString());
  }
  return out;
}

QJsonObject toJson(const views::Breakpoint& breakpoint) {
  QJsonObject out;
  out[key("at")] = breakpointText(breakpoint);
  if (!breakpoint.file.isEmpty()) {  // the whole path: the text has it, too, but may be ambiguous
    out[key("file")] = breakpoint.file;
    out[key("line")] = breakpoint.line;
    out[key("text")] = breakpoint.lineText;
  }
  out[key("enabled")] = breakpoint.enabled;
  out[key("condition")] = breakpoint.condition;
  out[key("ignore")] = breakpoint.ignoreCount;
  out[key("ranks")] = breakpoint.ranks;
  out[key("stops")] = static_cast<int>(breakpoint.stops);
  out[key("group")] = breakpoint.group;
  out[key("temporary")] = breakpoint.temporary;
  out[key("commands")] = QJsonArray::fromStringList(breakpoint.commands);
  out[key("log")] = breakpoint.log;
  return out;
}

Result<views::Breakpoint> breakpointOf(const QJsonObject& in) {
  Result<views::Breakpoint> parsed = parseBreakpoint(in[key("at")].toString());
  if (!parsed) {
    return parsed;
  }
  views::Breakpoint& out = *parsed;
  if (in.contains(key("file"))) {
    out.file = in[key("file")].toString();
    out.line = in[key("line")].toInt();
    out.lineText = in[key("text")].toString();
  }
  out.enabled = in[key("enabled")].toBool(true);
  out.condition = in[key("condition")].toString();
  out.ignoreCount = in[key("ignore")].toInt();
  out.ranks = in[key("ranks")].toString();
  const int stops = in[key("stops")].toInt();
  out.stops = stops == 1 ? views::StopsWho::Group : stops == 2 ? views::StopsWho::All : views::StopsWho::Alone;
  out.group = in[key("group")].toString();
  out.temporary = in[key("temporary")].toBool();
  out.commands = wordsOf(in[key("commands")]);
  out.log = in[key("log")].toString();
  return parsed;
}

Error notOne(const QString& path, const QString& why) {
  return {ErrorCode::Damaged, (path + QStringLiteral(" is no Photofinish session: ") + why).toStdString(),
          "File, Save session makes one; a trace is NAME.pft."};
}

}  // namespace

QString commandText(const QStringList& words) {
  QStringList quoted;
  for (QString word : words) {
    const bool blanks = std::any_of(word.begin(), word.end(), [](QChar c) { return c.isSpace(); });
    word.replace(QLatin1Char('"'), QLatin1String("\"\"\""));
    quoted << (blanks ? QLatin1Char('"') + word + QLatin1Char('"') : word);
  }
  return quoted.join(QLatin1Char(' '));
}

QString sessionFileFor(const QString& trace) {
  const QFileInfo info(trace);
  return info.dir().filePath(info.completeBaseName() + QStringLiteral(".pfs"));
}

Status writeSessionFile(const QString& path, const SessionFile& session) {
  const QDir here = QFileInfo(path).absoluteDir();
  const QString relative = here.relativeFilePath(session.trace);
  QJsonObject root;
  root[key("photofinishSession")] = kVersion;
  root[key("trace")] = relative.startsWith(QLatin1String("..")) ? session.trace : relative;
  root[key("command")] = QJsonArray::fromStringList(session.command);
  root[key("directory")] = session.directory;
  root[key("input")] = session.input;
  QJsonArray breakpoints;
  for (const views::Breakpoint& breakpoint : session.breakpoints) {
    breakpoints.append(toJson(breakpoint));
  }
  root[key("breakpoints")] = breakpoints;
  root[key("watches")] = QJsonArray::fromStringList(session.watches);
  QJsonArray groups;
  for (const views::RankGroup& group : session.groups) {
    groups.append(QJsonObject{{key("name"), group.name}, {key("ranks"), numbers(group.ranks)}});
  }
  root[key("groups")] = groups;
  root[key("focus")] = numbers(session.focus);
  root[key("currentRank")] = session.currentRank;
  root[key("expression")] = session.expression;
  root[key("ranksShown")] = session.ranksShown;
  root[key("geometry")] = QString::fromLatin1(session.geometry.toBase64());
  root[key("layout")] = QString::fromLatin1(session.layout.toBase64());
  root[key("centre")] = QString::fromLatin1(session.centre.toBase64());
  return app::writePrivateFile(path.toStdString(), QJsonDocument(root).toJson().toStdString(),
                               "Choose another name.");
}

Result<SessionFile> readSessionFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    return Error{ErrorCode::NotFound, "cannot read " + path.toStdString() + ": " + file.errorString().toStdString(),
                 "Check the name."};
  }
  QJsonParseError problem;
  const QJsonDocument document = QJsonDocument::fromJson(file.read(kMostBytes), &problem);
  const QJsonObject root = document.object();
  if (!root.contains(key("photofinishSession"))) {
    return notOne(path, problem.error == QJsonParseError::NoError
                            ? QStringLiteral("it does not say that it is one")
                            : QStringLiteral("%1 at byte %2").arg(problem.errorString()).arg(problem.offset));
  }
  if (const int version = root[key("photofinishSession")].toInt(); version != kVersion) {
    return Error{ErrorCode::Version,
                 (path + QStringLiteral(" is a session of version %1, and this is version %2")
                             .arg(version).arg(kVersion)).toStdString(),
                 "Use a newer Photofinish."};
  }
  SessionFile session;
  const QString trace = root[key("trace")].toString();
  session.trace = trace.isEmpty() ? QString() : QDir::cleanPath(QFileInfo(path).absoluteDir().absoluteFilePath(trace));
  session.command = wordsOf(root[key("command")]);
  session.directory = root[key("directory")].toString();
  session.input = root[key("input")].toString();
  for (const QJsonValue& each : root[key("breakpoints")].toArray()) {
    Result<views::Breakpoint> breakpoint = breakpointOf(each.toObject());
    if (!breakpoint) {
      return notOne(path, QString::fromStdString(breakpoint.error().message));
    }
    session.breakpoints.append(*breakpoint);
  }
  session.watches = wordsOf(root[key("watches")]);
  for (const QJsonValue& each : root[key("groups")].toArray()) {
    session.groups.append({each.toObject()[key("name")].toString(), ranksOf(each.toObject()[key("ranks")])});
  }
  session.focus = ranksOf(root[key("focus")]);
  session.currentRank = root[key("currentRank")].toInt();
  session.expression = root[key("expression")].toString();
  session.ranksShown = root[key("ranksShown")].toString();
  const auto bytesOf = [&root](const char* name) {
    return QByteArray::fromBase64(root[key(name)].toString().toLatin1());
  };
  session.geometry = bytesOf("geometry");
  session.layout = bytesOf("layout");
  session.centre = bytesOf("centre");
  if (session.trace.isEmpty() && session.command.isEmpty()) {
    return notOne(path, QStringLiteral("it names neither a trace nor a command"));
  }
  return session;
}

}  // namespace pf::session
