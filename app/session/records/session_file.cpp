// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/session_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "app/files/private_file.h"
#include "app/session/records/breakpoint_text.h"

namespace pf::session {
namespace {

constexpr int kVersion = 1;
constexpr qint64 kMostBytes = qint64{16} << 20U;
constexpr qsizetype kMostObjects = 10000;  ///< in a list: nobody waits for more breakpoints

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

/// What is in an object, as what it has to be; what is not there is as if it were empty. Fields of
/// later versions are passed over.
class Fields {
 public:
  explicit Fields(QJsonObject object) : m_object(std::move(object)) {}

  [[nodiscard]] bool has(const char* name) const { return m_object.contains(key(name)); }
  QString text(const char* name) { return textOf(m_object[key(name)], name); }
  QStringList texts(const char* name) {
    QStringList out;
    for (const QJsonValue& value : array(name)) {
      out.append(value.isString() ? textOf(value, name) : failed(name, "words"));
    }
    return out;
  }
  bool flag(const char* name, bool otherwise) {
    const QJsonValue value = m_object[key(name)];
    if (!value.isBool() && !value.isUndefined()) {
      failed(name, "true or false");
    }
    return value.toBool(otherwise);
  }
  int number(const char* name, int least, int otherwise) {
    return has(name) ? numberOf(m_object[key(name)], name, least) : otherwise;
  }
  QList<int> ranks(const char* name) {
    QList<int> out;
    for (const QJsonValue& value : array(name)) {
      out.append(numberOf(value, name, 0));
    }
    return out;
  }
  /// "" or "0,2-4"
  QString rankSet(const char* name) {
    QString out = text(name);
    bool ok = true;
    (void)views::parseRankSet(out, ok);
    return ok ? out : failed(name, "ranks");
  }
  QByteArray bytes(const char* name) { return QByteArray::fromBase64(text(name).toLatin1()); }
  QList<QJsonObject> objects(const char* name) {
    QList<QJsonObject> out;
    const QJsonArray values = array(name);
    if (values.size() > kMostObjects) {
      failed(name, "a list of at most 10000");
      return out;
    }
    for (const QJsonValue& value : values) {
      if (!value.isObject()) {
        failed(name, "objects");
      }
      out.append(value.toObject());
    }
    return out;
  }
  /// The first field that is something else; empty: none.
  [[nodiscard]] const QString& problem() const { return m_problem; }

 private:
  QString failed(const char* name, const char* expected) {
    if (m_problem.isEmpty()) {
      m_problem = QStringLiteral("'%1' is not %2").arg(key(name), key(expected));
    }
    return {};
  }
  QJsonArray array(const char* name) {
    const QJsonValue value = m_object[key(name)];
    if (!value.isArray() && !value.isUndefined()) {
      failed(name, "a list");
    }
    return value.toArray();
  }
  QString textOf(const QJsonValue& value, const char* name) {
    const QString out = value.toString();
    // A zero would end it for whoever takes it as the name of a file or the word of a command.
    return (value.isString() || value.isUndefined()) && !out.contains(QChar(0)) &&
                   out.isValidUtf16()
               ? out
               : failed(name, "text");
  }
  int numberOf(const QJsonValue& value, const char* name, int least) {
    const qint64 number = value.toInteger(-2);
    if (!value.isDouble() || number < least || number > std::numeric_limits<int>::max()) {
      failed(name, "a number that it can be");
      return least;
    }
    return static_cast<int>(number);
  }

  const QJsonObject m_object;  // else to ask for what is not there would put it there
  QString m_problem;
};

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

Error noField(const Fields& fields) {
  return {ErrorCode::Damaged, fields.problem().toStdString(), {}};
}

Result<views::Breakpoint> breakpointOf(const QJsonObject& object) {
  Fields in(object);
  Result<views::Breakpoint> parsed = parseBreakpoint(in.text("at"));
  if (!in.problem().isEmpty() || !parsed) {
    return in.problem().isEmpty() ? parsed.error() : noField(in);
  }
  views::Breakpoint& out = *parsed;
  if (in.has("file")) {
    out.file = in.text("file");
    out.line = in.number("line", 1, 1);
    out.lineText = in.text("text");
    if (!out.file.isEmpty()) {
      out.function.clear();
    }
  }
  out.enabled = in.flag("enabled", true);
  out.condition = in.text("condition");
  out.ignoreCount = in.number("ignore", 0, out.ignoreCount);
  out.ranks = in.rankSet("ranks");
  const int stops = in.number("stops", 0, 0);
  out.stops = stops == 1   ? views::StopsWho::Group
              : stops == 2 ? views::StopsWho::All
                           : views::StopsWho::Alone;
  out.group = in.rankSet("group");
  out.temporary = in.flag("temporary", false);
  out.commands = in.texts("commands");
  out.log = in.text("log");
  if (!in.problem().isEmpty()) {
    return noField(in);
  }
  // What is read can be written and read again.
  const Result<views::Breakpoint> again = parseBreakpoint(breakpointText(out));
  return again ? parsed : again;
}

Result<views::RankGroup> groupOf(const QJsonObject& object) {
  Fields in(object);
  views::RankGroup group{in.text("name"), in.ranks("ranks")};
  return in.problem().isEmpty() ? Result<views::RankGroup>(group) : noField(in);
}

Error notOne(const QString& path, const QString& why) {
  return {ErrorCode::Damaged,
          (path + QStringLiteral(" is no Photofinish session: ") + why).toStdString(),
          "File, Save session makes one; a trace is NAME.pft."};
}

Result<SessionFile> sessionIn(const QString& path, const QJsonObject& root) {
  Fields in(root);
  SessionFile session;
  const QString trace = in.text("trace");
  session.trace = trace.isEmpty()
                      ? QString()
                      : QDir::cleanPath(QFileInfo(path).absoluteDir().absoluteFilePath(trace));
  session.command = in.texts("command");
  session.directory = in.text("directory");
  session.input = in.text("input");
  for (const QJsonObject& each : in.objects("breakpoints")) {
    Result<views::Breakpoint> breakpoint = breakpointOf(each);
    if (!breakpoint) {
      return notOne(path, QString::fromStdString(breakpoint.error().message));
    }
    session.breakpoints.append(*breakpoint);
  }
  session.watches = in.texts("watches");
  for (const QJsonObject& each : in.objects("groups")) {
    const Result<views::RankGroup> group = groupOf(each);
    if (!group) {
      return notOne(path, QString::fromStdString(group.error().message));
    }
    session.groups.append(*group);
  }
  session.focus = in.ranks("focus");
  session.currentRank = in.number("currentRank", -1, 0);
  session.expression = in.text("expression");
  session.ranksShown = in.text("ranksShown");
  session.geometry = in.bytes("geometry");
  session.layout = in.bytes("layout");
  session.centre = in.bytes("centre");
  if (!in.problem().isEmpty()) {
    return notOne(path, in.problem());
  }
  if (session.trace.isEmpty() && session.command.isEmpty()) {
    return notOne(path, QStringLiteral("it names neither a trace nor a command"));
  }
  return session;
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
  const bool readable = QFileInfo(path).isFile();  // a pipe would not even open
  if (!readable || !file.open(QIODevice::ReadOnly)) {
    const QString why =
        readable || !QFileInfo::exists(path) ? file.errorString() : QStringLiteral("it is no file");
    return Error{ErrorCode::NotFound,
                 "cannot read " + path.toStdString() + ": " + why.toStdString(), "Check the name."};
  }
  QJsonParseError problem;
  const QJsonDocument document = QJsonDocument::fromJson(file.read(kMostBytes), &problem);
  const QJsonObject root = document.object();
  if (!root.contains(key("photofinishSession"))) {
    return notOne(
        path, problem.error == QJsonParseError::NoError
                  ? QStringLiteral("it does not say that it is one")
                  : QStringLiteral("%1 at byte %2").arg(problem.errorString()).arg(problem.offset));
  }
  const int version = root[key("photofinishSession")].toInt();
  if (version < 1) {
    return notOne(path, QStringLiteral("its version is no number"));
  }
  if (version != kVersion) {
    return Error{ErrorCode::Version,
                 (path + QStringLiteral(" is a session of version %1, and this is version %2")
                             .arg(version)
                             .arg(kVersion))
                     .toStdString(),
                 "Use a newer Photofinish."};
  }
  return sessionIn(path, root);
}

std::string recordWords(const SessionFile& session) {
  QStringList words{QStringLiteral("record"), session.directory, session.input};
  words += session.command;
  const bool clear = std::none_of(words.begin(), words.end(), [](const QString& word) {
    return word.contains(QLatin1Char('\n'));
  });
  if (!clear) {  // no other command has this text
    for (QString& word : words) {
      word.prepend(QStringLiteral("%1:").arg(word.size()));
    }
  }
  return words.join(QLatin1Char('\n')).toStdString();
}

}  // namespace pf::session
