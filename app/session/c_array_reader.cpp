// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/c_array_reader.h"

#include <algorithm>
#include <limits>

#include <QDir>
#include <QFile>
#include <QFutureWatcher>
#include <QRegularExpression>

#include "app/session/state/frame_values.h"
#include "app/session/state/in_background.h"

namespace pf::session {
namespace {

constexpr int kDimensions = 3;
constexpr quint64 kAddressable = quint64{1} << 47U;  ///< what a process can address

/// The first number of "(double *) 0x55aa", "1000", "true".
std::optional<quint64> numberIn(const std::string& value) {
  static const QRegularExpression kNumber(QStringLiteral("0x[0-9a-f]+|\\b[0-9]+\\b"));
  const auto found = kNumber.match(toText(value));
  bool ok = false;
  const quint64 number = found.captured().toULongLong(&ok, 0);
  return ok ? std::optional(number) : std::nullopt;
}

bool isTrue(const std::string& value) {
  return value == "true" || value == "1";
}

/// Whole numbers that fit into 64 bits; float, double, and the long double of this machine. `quad`: 1 and 1 + 1e-25
/// differ.
bool canBeRead(quint64 size, bool isFloat, bool quad) {
  if (!isFloat) {
    return size == 1 || size == 2 || size == 4 || size == 8;
  }
  constexpr bool kQuad = std::numeric_limits<long double>::digits > 64;
  return size == 4 || size == 8 || (size == sizeof(long double) && quad == kQuad);
}

}  // namespace

CArrayReader::CArrayReader(DebugSession& session, QObject* parent)
    : QObject(parent), m_session(session) {}

mi::GdbSession* CArrayReader::gdb() {
  mi::GdbSession* gdb = m_session.debugger(m_question.rank);
  return gdb != nullptr && gdb->state() == mi::SessionState::Stopped ? gdb : nullptr;
}

void CArrayReader::fail(const Error& error) {
  Q_EMIT failed(toText(error.text()).replace(QLatin1Char('\n'), QLatin1Char(' ')).simplified());
}

/// GDB has the casts and the subscripts of C in frames of C and C++ only.
void CArrayReader::failAsArray(const Error& error) {
  if (error.message.find("No symbol \"char\"") == std::string::npos &&
      error.message.find("near `[0])'") == std::string::npos) {
    fail(error);
    return;
  }
  fail({error.code,
        "'" + m_question.values.expression.toStdString() +
            "' is in a frame of Fortran or of another language than C and C++, and this GDB has no "
            "Python: arrays cannot be read there",
        "look at it in Variables, or put a GDB with Python first in PATH"});
}

void CArrayReader::read(int rank, mi::FrameRef frame, const QString& expression) {
  Question question;
  question.number = m_question.number + 1;
  question.rank = rank;
  question.frame = frame;
  question.values.expression = expression;
  question.values.rank = rank;
  question.values.note = tr("this GDB has no Python: one dimension, of C and C++ only");
  m_question = std::move(question);
  static const QRegularExpression kPointer(QStringLiteral("^\\*?([^@]+)@([^@]+)$"));
  if (const auto pointer = kPointer.match(expression); pointer.hasMatch()) {
    findElement(QStringLiteral("(%1)").arg(pointer.captured(1)),
                QStringLiteral("(%1)").arg(pointer.captured(2)), 1);
  } else {
    findContainer();
  }
}

void CArrayReader::evaluate(std::vector<std::string> expressions, std::vector<std::string> values,
                            const Values& done, const std::function<void(const Error&)>& failed) {
  if (values.size() == expressions.size()) {
    done(values);
    return;
  }
  if (gdb() == nullptr) {
    failed({ErrorCode::Usage, "the rank has gone on", "stop it again"});
    return;
  }
  const std::string next = expressions[values.size()];
  gdb()->inspect().evaluate(
      m_question.frame, next,
      [this, expressions = std::move(expressions), values = std::move(values), done, failed,
       number = m_question.number](const Result<std::string>& value) mutable {
        if (number != m_question.number) {
          return;
        }
        if (!value) {
          failed(value.error());
          return;
        }
        values.push_back(*value);
        evaluate(std::move(expressions), std::move(values), done, failed);
      });
}

/// A vector, a std::array, an array; a pointer alone does not say how many there are.
void CArrayReader::findContainer() {
  const std::string what = "(" + m_question.values.expression.toStdString() + ")";
  const auto asArray = [this, what](const Error&) {
    evaluate(
        {"(char*)&" + what + " == (char*)&(" + what + "[0])"}, {},
        [this, what](const std::vector<std::string>& values) {
          if (isTrue(values[0])) {
            findElement(toText(what), QString(), 1);
          } else {
            Q_EMIT failed(tr("%1 is a pointer: say how many elements, for example %1@100.")
                              .arg(m_question.values.expression));
          }
        },
        [this](const Error& error) { failAsArray(error); });
  };
  const auto asElements = [this, what, asArray](const Error&) {
    evaluate(
        {"sizeof(" + what + "._M_elems)"}, {},
        [this, what](const std::vector<std::string>&) {
          findElement(toText(what + "._M_elems"), QString(), 1);
        },
        asArray);
  };
  evaluate(
      {what + "._M_impl._M_finish - " + what + "._M_impl._M_start"}, {},
      [this, what](const std::vector<std::string>& values) {
        findElement(toText(what + "._M_impl._M_start"), toText(values[0]), 1);
      },
      asElements);
}

/// Numbers are known by what 1 of them, halved, and -1 are. `count`: empty for an array.
void CArrayReader::findElement(const QString& array, const QString& count, int dimensions) {
  const std::string element = (array + QStringLiteral("[0]").repeated(dimensions)).toStdString();
  const std::string type = "(__typeof__(" + element + "))";
  const std::string first = (array + QStringLiteral("[0]")).toStdString();
  const std::string bytes = count.isEmpty()
                                ? "sizeof(" + array.toStdString() + ")"
                                : "(" + count.toStdString() + ") * sizeof(" + first + ")";
  evaluate(
      {"((" + type + "1)/2) != 0", "(" + type + "-1) < 0", "sizeof(" + element + ")", bytes,
       "(unsigned long)&(" + element + ")", count.isEmpty() ? "1" : "(" + count.toStdString() + ")",
       "(" + type + "1 + " + type + "1e-25) != " + type + "1",
       "(char*)&(" + element + ") == (char*)&(" + first + ")"},
      {}, [this](const std::vector<std::string>& values) { found(values); },
      [this, array, count, dimensions](const Error& error) {
        if (dimensions < kDimensions) {
          findElement(array, count, dimensions + 1);
        } else {
          fail({error.code,
                "'" + m_question.values.expression.toStdString() + "' is no array of numbers",
                "write an array, POINTER@COUNT, a std::vector or std::array of numbers (GDB: " +
                    error.message + ")"});
        }
      });
}

void CArrayReader::found(const std::vector<std::string>& values) {
  values::ArrayValues& array = m_question.values;
  const auto size = numberIn(values[2]);
  const auto bytes = numberIn(values[3]);
  const auto address = numberIn(values[4]);
  if (!isTrue(values[7])) {
    fail({ErrorCode::Usage,
          "the elements of '" + array.expression.toStdString() +
              "' are pointers or containers: their numbers lie elsewhere, one row apart from "
              "another",
          "write one row of it, for example (" + array.expression.toStdString() + ")[0]"});
    return;
  }
  if (values[5].starts_with('-') || numberIn(values[5]).value_or(0) > kAddressable ||
      bytes.value_or(0) > kAddressable) {
    fail({ErrorCode::Usage, "no array has " + values[5] + " elements",
          "write POINTER@COUNT with a count that is set here"});
    return;
  }
  if (!size || *size == 0 || *size > 16 || !bytes || !address || values[3].starts_with('-')) {
    fail({ErrorCode::Peer, "GDB does not say where it lies, or how long it is", {}});
    return;
  }
  if (!canBeRead(*size, isTrue(values[0]), isTrue(values[6]))) {
    fail({ErrorCode::Usage,
          "numbers of this kind (" + std::to_string(*size) + " bytes each) cannot be shown",
          "cast the array to whole numbers of 1, 2, 4 or 8 bytes, or to float, double or long "
          "double"});
    return;
  }
  array.size = static_cast<int>(*size);
  const auto total = static_cast<qint64>(*bytes / *size);
  array.dims = {{0, 1, total, std::min(total, kMostElements)}};
  const int bits = array.size * 8;
  if (isTrue(values[0])) {
    array.kind = values::ElementKind::Float;
    array.type = bits == 32   ? QStringLiteral("float")
                 : bits == 64 ? QStringLiteral("double")
                              : QStringLiteral("long double");
  } else {
    array.kind = isTrue(values[1]) ? values::ElementKind::Signed : values::ElementKind::Unsigned;
    array.type =
        (isTrue(values[1]) ? QStringLiteral("int%1") : QStringLiteral("unsigned int%1")).arg(bits);
  }
  dump(*address);
}

void CArrayReader::dump(quint64 address) {
  values::ArrayValues& values = m_question.values;
  const qint64 count = values.dims.front().read;
  if (gdb() == nullptr || count == 0) {
    Q_EMIT failed(count == 0 ? tr("It has no elements.") : tr("The rank has gone on."));
    return;
  }
  const auto directory = std::make_shared<QTemporaryDir>();  // until the bytes are read
  if (!directory->isValid()) {
    Q_EMIT failed(
        tr("No directory can be made in %1: %2. Set TMPDIR to a place that can be written.")
            .arg(QDir::tempPath(), directory->errorString()));
    return;
  }
  const QString file = directory->filePath(QStringLiteral("array"));
  const QString command =
      QStringLiteral("dump binary memory %1 %2 %3")
          .arg(file)
          .arg(address)
          .arg(address + static_cast<quint64>(count) * static_cast<quint64>(values.size));
  gdb()->console(command.toStdString(),
                 [this, directory, number = m_question.number](const Status& status) {
                   if (number != m_question.number) {
                     return;
                   }
                   if (!status) {
                     fail(status.error());
                   } else {
                     load(directory);
                   }
                 });
}

void CArrayReader::load(const std::shared_ptr<QTemporaryDir>& directory) {
  struct Loaded {
    quint64 number = 0;
    values::ArraySummaryPtr array;  ///< null: `problem` says why
    QString problem;
  };
  auto* watcher = new QFutureWatcher<Loaded>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    const Loaded loaded = watcher->result();
    if (loaded.number != m_question.number) {
      return;
    }
    if (loaded.array == nullptr) {
      Q_EMIT failed(loaded.problem);
    } else {
      Q_EMIT arrived(loaded.array);
    }
  });
  watcher->setFuture(
      inBackground([directory, number = m_question.number, values = m_question.values]() mutable {
        QFile bytes(directory->filePath(QStringLiteral("array")));
        if (bytes.open(QIODevice::ReadOnly)) {
          values.bytes = bytes.readAll();
        }
        const qint64 wanted = values.dims.front().read * values.size;
        if (values.bytes.size() < wanted) {
          const QString why =
              bytes.error() == QFileDevice::NoError ? tr("it is too short") : bytes.errorString();
          return Loaded{number,
                        {},
                        tr("%1, into which GDB has written the array, cannot be read: %2.")
                            .arg(bytes.fileName(), why)};
        }
        return Loaded{number,
                      std::make_shared<values::ArraySummary>(
                          std::make_shared<values::ArrayValues>(std::move(values))),
                      {}};
      }));
}

}  // namespace pf::session

#include "moc_c_array_reader.cpp"
