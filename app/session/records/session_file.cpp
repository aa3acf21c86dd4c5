// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/session_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <QDir>
#include <QFileInfo>

#include "app/files/private_file.h"
#include "app/session/records/breakpoint_text.h"

namespace pf::session {
namespace {

constexpr int kVersion = 1;
constexpr qint64 kMostBytes = qint64{16} << 20U;
constexpr qsizetype kMostObjects = 10000;  ///< in a list: nobody waits for more breakpoints

using Json = nlohmann::json;

Json jsonOf(const QString& text) {
  return text.toStdString();
}

Json jsonOf(const QStringList& texts) {
  Json out = Json::array();
  for (const QString& text : texts) {
    out.push_back(jsonOf(text));
  }
  return out;
}

/// What is in an object, as what it has to be; what is not there is as if it were empty. Fields of
/// later versions are passed over.
class Fields {
 public:
  explicit Fields(const Json& object) : m_object(object) {}

  [[nodiscard]] bool has(const char* name) const { return m_object.contains(name); }
  QString text(const char* name) { return has(name) ? textOf(m_object.at(name), name) : QString(); }
  QStringList texts(const char* name) {
    QStringList out;
    for (const Json& value : array(name)) {
      out.append(textOf(value, name));
    }
    return out;
  }
  bool flag(const char* name, bool otherwise) {
    if (!has(name)) {
      return otherwise;
    }
    const Json& value = m_object.at(name);
    if (!value.is_boolean()) {
      failed(name, "true or false");
      return otherwise;
    }
    return value.get<bool>();
  }
  int number(const char* name, int least, int otherwise) {
    return has(name) ? numberOf(m_object.at(name), name, least) : otherwise;
  }
  QList<int> ranks(const char* name) {
    QList<int> out;
    for (const Json& value : array(name)) {
      out.append(numberOf(value, name, 0));
    }
    return out;
  }
  /// "" or "0,2-4"
  QString rankSet(const char* name) {
    QString out = text(name);
    bool ok = true;
    (void)values::parseRankSet(out, ok);
    return ok ? out : failed(name, "ranks");
  }
  QByteArray bytes(const char* name) { return QByteArray::fromBase64(text(name).toLatin1()); }
  const Json& objects(const char* name) {
    const Json& values = array(name);
    if (values.size() > kMostObjects) {
      failed(name, "a list of at most 10000");
      return noneOf();
    }
    if (!std::ranges::all_of(values, [](const Json& value) { return value.is_object(); })) {
      failed(name, "objects");
      return noneOf();
    }
    return values;
  }
  /// The first field that is something else; empty: none.
  [[nodiscard]] const QString& problem() const { return m_problem; }

 private:
  static const Json& noneOf() {
    static const Json kNone = Json::array();
    return kNone;
  }
  QString failed(const char* name, const char* expected) {
    if (m_problem.isEmpty()) {
      m_problem = QStringLiteral("'%1' is not %2")
                      .arg(QString::fromLatin1(name), QString::fromLatin1(expected));
    }
    return {};
  }
  const Json& array(const char* name) {
    if (!has(name)) {
      return noneOf();
    }
    const Json& value = m_object.at(name);
    if (!value.is_array()) {
      failed(name, "a list");
      return noneOf();
    }
    return value;
  }
  QString textOf(const Json& value, const char* name) {
    const std::string* const text = value.get_ptr<const std::string*>();
    // A zero would end it for whoever takes it as the name of a file or the word of a command.
    return text != nullptr && text->find('\0') == std::string::npos ? QString::fromStdString(*text)
                                                                    : failed(name, "text");
  }
  int numberOf(const Json& value, const char* name, int least) {
    // As a real number: what is too large for an integer is one, too.
    const double number = value.is_number() ? value.get<double>() : -2;
    if (number < least || number > std::numeric_limits<int>::max() ||
        number != std::floor(number)) {
      failed(name, "a number that it can be");
      return least;
    }
    return static_cast<int>(number);
  }

  const Json& m_object;
  QString m_problem;
};

Json toJson(const values::Breakpoint& breakpoint) {
  Json out = Json::object();
  out["at"] = jsonOf(breakpointText(breakpoint));
  if (!breakpoint.file.isEmpty()) {  // the whole path: the text has it, too, but may be ambiguous
    out["file"] = jsonOf(breakpoint.file);
    out["line"] = breakpoint.line;
    out["text"] = jsonOf(breakpoint.lineText);
  }
  out["enabled"] = breakpoint.enabled;
  out["condition"] = jsonOf(breakpoint.condition);
  out["ignore"] = breakpoint.ignoreCount;
  out["ranks"] = jsonOf(breakpoint.ranks);
  out["stops"] = static_cast<int>(breakpoint.stops);
  out["group"] = jsonOf(breakpoint.group);
  out["temporary"] = breakpoint.temporary;
  out["commands"] = jsonOf(breakpoint.commands);
  out["log"] = jsonOf(breakpoint.log);
  return out;
}

Error noField(const Fields& fields) {
  return {ErrorCode::Damaged, fields.problem().toStdString(), {}};
}

Result<values::Breakpoint> breakpointOf(const Json& object) {
  Fields in(object);
  Result<values::Breakpoint> parsed = parseBreakpoint(in.text("at"));
  if (!in.problem().isEmpty() || !parsed) {
    return in.problem().isEmpty() ? parsed.error() : noField(in);
  }
  values::Breakpoint& out = *parsed;
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
  out.stops = stops == 1   ? values::StopsWho::Group
              : stops == 2 ? values::StopsWho::All
                           : values::StopsWho::Alone;
  out.group = in.rankSet("group");
  out.temporary = in.flag("temporary", false);
  out.commands = in.texts("commands");
  out.log = in.text("log");
  if (!in.problem().isEmpty()) {
    return noField(in);
  }
  if (out.kind == values::BreakpointKind::Logical) {  // nothing of GDB's
    out.condition.clear();
    out.ignoreCount = 0;
    out.commands.clear();
    out.log.clear();
  }
  // What is read can be written and read again.
  const Result<values::Breakpoint> again = parseBreakpoint(breakpointText(out));
  return again ? parsed : again;
}

Result<values::RankGroup> groupOf(const Json& object) {
  Fields in(object);
  values::RankGroup group{in.text("name"), in.ranks("ranks")};
  return in.problem().isEmpty() ? Result<values::RankGroup>(group) : noField(in);
}

/// Where in bytes that are no JSON that shows, from 0.
class BrokenAt final : public nlohmann::json_sax<Json> {
 public:
  static std::size_t of(const QByteArray& bytes) {
    BrokenAt place;
    (void)Json::sax_parse(bytes.begin(), bytes.end(), &place);
    return place.m_at;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    m_at = position;
    return false;
  }

 private:
  std::size_t m_at = 0;
};

Error notOne(const QString& path, const QString& why) {
  return {ErrorCode::Damaged,
          (path + QStringLiteral(" is no Photofinish session: ") + why).toStdString(),
          "File, Save session makes one; a trace is NAME.pft."};
}

Result<SessionFile> sessionIn(const QString& path, const Json& root) {
  Fields in(root);
  SessionFile session;
  const QString trace = in.text("trace");
  session.trace = trace.isEmpty()
                      ? QString()
                      : QDir::cleanPath(QFileInfo(path).absoluteDir().absoluteFilePath(trace));
  session.command = in.texts("command");
  session.directory = in.text("directory");
  session.input = in.text("input");
  for (const Json& each : in.objects("breakpoints")) {
    Result<values::Breakpoint> breakpoint = breakpointOf(each);
    if (!breakpoint) {
      return notOne(path, QString::fromStdString(breakpoint.error().message));
    }
    session.breakpoints.append(*breakpoint);
  }
  session.watches = in.texts("watches");
  for (const Json& each : in.objects("groups")) {
    const Result<values::RankGroup> group = groupOf(each);
    if (!group) {
      return notOne(path, QString::fromStdString(group.error().message));
    }
    session.groups.append(*group);
  }
  session.focus = in.ranks("focus");
  session.currentRank = in.number("currentRank", -1, 0);
  if (in.has("part")) {
    session.part = in.ranks("part");
  }
  session.expression = in.text("expression");
  session.ranksShown = in.text("ranksShown");
  session.geometry = in.bytes("geometry");
  session.workspace = in.text("workspace");
  session.layout = in.bytes("layout");
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
  Json root = Json::object();
  root["photofinishSession"] = kVersion;
  root["trace"] = jsonOf(relative.startsWith(QLatin1String("..")) ? session.trace : relative);
  root["command"] = jsonOf(session.command);
  root["directory"] = jsonOf(session.directory);
  root["input"] = jsonOf(session.input);
  root["breakpoints"] = Json::array();
  for (const values::Breakpoint& breakpoint : session.breakpoints) {
    root["breakpoints"].push_back(toJson(breakpoint));
  }
  root["watches"] = jsonOf(session.watches);
  root["groups"] = Json::array();
  for (const values::RankGroup& group : session.groups) {
    root["groups"].push_back({{"name", jsonOf(group.name)}, {"ranks", group.ranks}});
  }
  root["focus"] = session.focus;
  root["currentRank"] = session.currentRank;
  if (session.part) {
    root["part"] = *session.part;
  }
  root["expression"] = jsonOf(session.expression);
  root["ranksShown"] = jsonOf(session.ranksShown);
  root["geometry"] = session.geometry.toBase64().toStdString();
  root["workspace"] = jsonOf(session.workspace);
  root["layout"] = session.layout.toBase64().toStdString();
  return app::writePrivateFile(path.toStdString(), root.dump(4) + "\n", "Choose another name.");
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
  const QByteArray bytes = file.read(kMostBytes);
  const Json root = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
  if (!root.is_object() || !root.contains("photofinishSession")) {
    return notOne(path, root.is_discarded()
                            ? QStringLiteral("it is no JSON at byte %1").arg(BrokenAt::of(bytes))
                            : QStringLiteral("it does not say that it is one"));
  }
  const Json& said = root["photofinishSession"];
  const int version = said.is_number_integer() ? said.get<int>() : 0;
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
