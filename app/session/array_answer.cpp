// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/array_answer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace pf::session {
namespace {

using values::ArrayDimension;
using values::ArrayValues;
using values::ElementKind;

constexpr qint64 kMostAnswer = qint64{16} << 20U;
constexpr qint64 kMostRows = 1'000'000;
constexpr qsizetype kMostDimensions = 31;
constexpr qsizetype kMostText = 1000;
constexpr qint64 kMostIndex = qint64{1} << 52U;  ///< exact in JSON
constexpr int kMostElementSize = 1 << 16;

struct Strided {
  std::vector<qint64> strides;
  qint64 offset = 0;
};

Error wrong(const QString& why) {
  return {ErrorCode::Peer, "what GDB has written of the array cannot be used: " + why.toStdString(),
          "look at it in Variables"};
}

/// A whole number that JSON has exactly.
std::optional<qint64> whole(const QJsonValue& value, qint64 least, qint64 most) {
  if (!value.isDouble()) {
    return std::nullopt;
  }
  const double number = value.toDouble();
  if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most))) {
    return std::nullopt;
  }
  const auto out = static_cast<qint64>(number);
  return static_cast<double>(out) == number ? std::optional(out) : std::nullopt;
}

/// One line, of no more than so many letters.
QString shortText(const QJsonValue& value) {
  QString text = value.toString().left(kMostText);
  std::replace_if(
      text.begin(), text.end(), [](QChar c) { return !c.isPrint(); }, QLatin1Char(' '));
  return text;
}

Result<QByteArray> readFile(const QString& directory, const char* name, qint64 most) {
  QFile file(QDir(directory).filePath(QLatin1String(name)));
  if (!file.open(QIODevice::ReadOnly)) {
    return Error{ErrorCode::System,
                 file.fileName().toStdString() + ", into which GDB has written the array, cannot " +
                     "be read: " + file.errorString().toStdString(),
                 "free some space there, or set TMPDIR to another place"};
  }
  if (file.size() > most) {
    return wrong(QStringLiteral("%1 has %2 bytes").arg(file.fileName()).arg(file.size()));
  }
  return file.readAll();
}

std::optional<ElementKind> kindOf(const QString& name) {
  static const QHash<QString, ElementKind> kKinds{
      {QStringLiteral("float"), ElementKind::Float},
      {QStringLiteral("signed"), ElementKind::Signed},
      {QStringLiteral("unsigned"), ElementKind::Unsigned},
      {QStringLiteral("complex"), ElementKind::Complex},
      {QStringLiteral("logical"), ElementKind::Logical},
      {QStringLiteral("bool"), ElementKind::Bool},
      {QStringLiteral("char"), ElementKind::Char},
      {QStringLiteral("text"), ElementKind::Text},
      {QStringLiteral("pointer"), ElementKind::Pointer},
      {QStringLiteral("words"), ElementKind::Words}};
  const auto found = kKinds.find(name);
  return found == kKinds.end() ? std::nullopt : std::optional(*found);
}

bool isFloatSize(qint64 size, bool quad) {
  constexpr bool kQuad = std::numeric_limits<long double>::digits > 64;
#ifdef __SIZEOF_FLOAT128__
  constexpr bool kBoth = true;
#else
  constexpr bool kBoth = false;
#endif
  return size == 4 || size == 8 || (size == 16 && (kBoth || quad == kQuad));
}

bool isWholeSize(qint64 size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

/// An element of this kind can be shown.
bool canBeShown(const ArrayValues& array) {
  switch (array.kind) {
    case ElementKind::Float:
      return isFloatSize(array.size, array.quad);
    case ElementKind::Complex:
      return array.size % 2 == 0 && isFloatSize(array.size / 2, array.quad);
    case ElementKind::Text:
      return array.size > 0 && array.size <= kMostElementSize && array.size % array.unit == 0;
    case ElementKind::Words:
      return true;
    case ElementKind::Signed:
    case ElementKind::Unsigned:
    case ElementKind::Logical:
    case ElementKind::Bool:
    case ElementKind::Char:
    case ElementKind::Pointer:
      break;
  }
  return isWholeSize(array.size);
}

/// [lower, step, count, read, stride]
bool takeDimension(const QJsonValue& value, ArrayValues& array, Strided& strided) {
  const QJsonArray fields = value.toArray();
  const auto lower = whole(fields.at(0), -kMostIndex, kMostIndex);
  const auto step = whole(fields.at(1), -kMostIndex, kMostIndex);
  const auto count = whole(fields.at(2), 1, kMostIndex);
  const auto read = whole(fields.at(3), 1, kMostArrayElements);
  const auto stride = whole(fields.at(4), -kMostIndex, kMostIndex);
  if (!lower || !step || !count || !read || !stride || *read > *count || *step == 0) {
    return false;
  }
  if (std::abs(static_cast<double>(*step)) * static_cast<double>(*count) >
      static_cast<double>(kMostIndex)) {
    return false;
  }
  array.dims.push_back({*lower, *step, *count, *read});
  strided.strides.push_back(*stride);
  return true;
}

/// Of what was read; more than may be read: nothing.
std::optional<qint64> product(const std::vector<ArrayDimension>& dims, std::size_t end) {
  qint64 out = 1;
  for (std::size_t i = 0; i < end; ++i) {
    if (dims[i].read > kMostArrayElements / out) {
      return std::nullopt;
    }
    out *= dims[i].read;
  }
  return out;
}

/// All that is there counted, though not read, has a number.
bool isCountable(const std::vector<ArrayDimension>& dims) {
  double out = 1.0;
  for (const ArrayDimension& dim : dims) {
    out *= static_cast<double>(dim.count);
  }
  return out < 9e18;
}

Result<ArrayValues> describe(const QJsonObject& answer, Strided& strided) {
  ArrayValues array;
  const auto kind = kindOf(answer[QStringLiteral("kind")].toString());
  const auto size = whole(answer[QStringLiteral("size")], 0, std::numeric_limits<int>::max());
  const auto unit = whole(answer[QStringLiteral("unit")], 1, 4);
  if (!kind || !size || !unit || *unit == 3) {
    return wrong(QStringLiteral("it does not say what an element is"));
  }
  array.kind = *kind;
  array.size = static_cast<int>(*size);
  array.unit = static_cast<int>(*unit);
  array.quad = answer[QStringLiteral("quad")].toBool();
  array.fortran = answer[QStringLiteral("fortran")].toBool();
  array.type = shortText(answer[QStringLiteral("type")]);
  array.note = shortText(answer[QStringLiteral("note")]);
  if (!canBeShown(array)) {
    return Error{ErrorCode::Usage,
                 "numbers of this kind (" + array.type.toStdString() + ", " +
                     std::to_string(array.size) + " bytes each) cannot be shown",
                 "cast the array to whole numbers of 1, 2, 4 or 8 bytes, or to float, double or "
                 "long double"};
  }
  const QJsonArray dims = answer[QStringLiteral("dims")].toArray();
  if (dims.isEmpty() || dims.size() > kMostDimensions ||
      !std::all_of(dims.begin(), dims.end(),
                   [&](const QJsonValue& each) { return takeDimension(each, array, strided); })) {
    return wrong(QStringLiteral("its bounds are no bounds"));
  }
  const bool apart = answer.contains(QStringLiteral("rows"));  // most of the box may be empty
  if (!isCountable(array.dims) || !product(array.dims, array.dims.size() - (apart ? 1 : 0))) {
    return wrong(QStringLiteral("it has more elements than were asked for"));
  }
  return array;
}

Result<ArrayValues> withWords(ArrayValues array, const QJsonObject& answer) {
  const QJsonArray texts = answer[QStringLiteral("texts")].toArray();
  if (texts.size() != product(array.dims, array.dims.size())) {
    return wrong(QStringLiteral("it has %1 elements").arg(texts.size()));
  }
  for (const auto& text : texts) {
    array.words << shortText(text);
  }
  return array;
}

/// Rows one behind the other. Rows of one length are a box.
Result<ArrayValues> withRows(ArrayValues array, const QString& directory) {
  const auto rows = product(array.dims, array.dims.size() - 1);
  const auto lengths = readFile(directory, "rows", kMostRows * 8);
  auto bytes = readFile(directory, "bytes", kMostArrayBytes);
  if (!lengths || !bytes) {
    return lengths ? bytes.error() : lengths.error();
  }
  if (!rows || lengths->size() != *rows * 8) {
    return wrong(QStringLiteral("it has not the rows that it says"));
  }
  const qint64 width = array.dims.back().read;
  const qint64 elements = bytes->size() / array.size;
  bool box = true;
  array.rows = {0};
  for (qint64 i = 0; i < *rows; ++i) {
    quint64 length = 0;
    std::memcpy(&length, lengths->constData() + i * 8, sizeof length);
    if (length > static_cast<quint64>(width) ||
        array.rows.back() + static_cast<qint64>(length) > elements) {
      return wrong(QStringLiteral("row %1 is longer than what was read").arg(i));
    }
    box = box && length == static_cast<quint64>(width);
    array.rows.push_back(array.rows.back() + static_cast<qint64>(length));
  }
  if (array.rows.back() == 0) {
    return Error{ErrorCode::Usage, "it has no elements", "go on to where it has"};
  }
  bytes->truncate(array.rows.back() * array.size);
  array.bytes = std::move(*bytes);
  if (box) {
    array.rows.clear();
  }
  return array;
}

/// Where elements lie as they are shown, one behind the other.
bool isInOrder(const ArrayValues& array, const Strided& strided) {
  qint64 expected = array.size;
  const std::size_t rank = array.dims.size();
  for (std::size_t n = 0; n < rank; ++n) {
    const std::size_t i = array.columnMajor ? n : rank - 1 - n;
    if (array.dims[i].read > 1 && strided.strides[i] != expected) {
      return false;
    }
    expected *= array.dims[i].read;
  }
  return strided.offset == 0;
}

/// No element lies outside of what was read.
bool liesWithin(const ArrayValues& array, const Strided& strided, qint64 size) {
  double least = static_cast<double>(strided.offset);
  double most = least + array.size;
  for (std::size_t i = 0; i < array.dims.size(); ++i) {
    const double far =
        static_cast<double>(strided.strides[i]) * static_cast<double>(array.dims[i].read - 1);
    (far < 0 ? least : most) += far;
  }
  return least >= 0 && most <= static_cast<double>(size);
}

/// Copies elements `dim` and further in from one place to the next ones.
void gather(const ArrayValues& array, const Strided& strided, const char* from, std::size_t n,
            char*& to) {
  const std::size_t rank = array.dims.size();
  const std::size_t i = array.columnMajor ? rank - 1 - n : n;
  const qint64 stride = strided.strides[i];
  const qint64 count = array.dims[i].read;
  const auto size = static_cast<std::size_t>(array.size);
  if (n + 1 == rank && stride == array.size) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * size);
    to += count * array.size;
    return;
  }
  for (qint64 place = 0; place < count; ++place) {
    if (n + 1 == rank) {
      std::memcpy(to, from + place * stride, size);
      to += array.size;
    } else {
      gather(array, strided, from + place * stride, n + 1, to);
    }
  }
}

Result<ArrayValues> withMemory(ArrayValues array, const Strided& strided,
                               const QString& directory) {
  array.columnMajor = array.fortran;
  auto bytes = readFile(directory, "bytes", kMostArrayBytes);
  if (!bytes) {
    return bytes.error();
  }
  if (!liesWithin(array, strided, bytes->size())) {
    return wrong(
        QStringLiteral("the file has only %1 bytes of it: it is too short").arg(bytes->size()));
  }
  const qint64 size = product(array.dims, array.dims.size()).value_or(0) * array.size;
  if (size > kMostArrayBytes) {
    return wrong(QStringLiteral("it has more bytes than were asked for"));
  }
  if (isInOrder(array, strided)) {
    bytes->truncate(size);
    array.bytes = std::move(*bytes);
    return array;
  }
  array.bytes = QByteArray(size, Qt::Uninitialized);
  char* to = array.bytes.data();
  gather(array, strided, bytes->constData() + strided.offset, 0, to);
  return array;
}

}  // namespace

Result<ArrayValues> readArrayAnswer(const QString& directory, const QString& expression, int rank) {
  const auto text = readFile(directory, "answer", kMostAnswer);
  if (!text) {
    return text.error();
  }
  const QJsonObject answer = QJsonDocument::fromJson(*text).object();
  if (answer.contains(QStringLiteral("error"))) {
    return Error{ErrorCode::Peer, shortText(answer[QStringLiteral("error")]).toStdString(),
                 shortText(answer[QStringLiteral("advice")]).toStdString()};
  }
  Strided strided;
  Result<ArrayValues> array = describe(answer, strided);
  if (!array) {
    return array;
  }
  if (array->kind == ElementKind::Words) {
    array = withWords(std::move(*array), answer);
  } else if (answer.contains(QStringLiteral("rows"))) {
    array = withRows(std::move(*array), directory);
  } else {
    const auto offset = whole(answer[QStringLiteral("offset")], 0, kMostIndex);
    if (!offset) {
      return wrong(QStringLiteral("it does not say where it begins"));
    }
    strided.offset = *offset;
    array = withMemory(std::move(*array), strided, directory);
  }
  if (array) {
    array->expression = expression;
    array->rank = rank;
  }
  return array;
}

}  // namespace pf::session
