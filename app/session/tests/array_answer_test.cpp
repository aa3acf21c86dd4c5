// SPDX-License-Identifier: GPL-3.0-or-later
// What GDB's Python has written of an array: arrays of each kind, and answers that mean harm.
#include "app/session/array_answer.h"

#include <cmath>

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

namespace pf::session {
namespace {

using values::ArrayValues;
using values::ElementKind;

class ArrayAnswerTest : public testing::Test {
 protected:
  void write(const char* name, const QByteArray& bytes) {
    QFile file(m_directory.filePath(QLatin1String(name)));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }
  template <typename T>
  static QByteArray packed(std::initializer_list<T> values) {
    QByteArray out;
    for (const T& value : values) {
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return out;
  }
  Result<ArrayValues> read(const QByteArray& answer) {
    write("answer", answer);
    return readArrayAnswer(m_directory.path(), QStringLiteral("a"), 3);
  }
  static QByteArray answer(const char* kind, int size, const char* dims, const char* more) {
    return QByteArray("{\"kind\":\"") + kind + "\",\"size\":" + QByteArray::number(size) +
           ",\"unit\":1,\"type\":\"T\",\"quad\":false,\"fortran\":false,\"note\":\"\",\"dims\":" +
           dims + "," + more + "}";
  }
  static QStringList texts(const ArrayValues& array) {
    QStringList out;
    for (qint64 i = 0; i < array.count(); ++i) {
      out << array.nameAt(i) + QLatin1Char(' ') + array.textAt(i);
    }
    return out;
  }
  QString whyNot(const QByteArray& text) {
    const auto array = read(text);
    return array ? QStringLiteral("read") : QString::fromStdString(array.error().message);
  }

  QTemporaryDir m_directory;
};

TEST_F(ArrayAnswerTest, StridesForwardsAndBackwards) {
  write("bytes", packed<qint32>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const auto array = read(answer("signed", 4, "[[7,-3,3,3,-12],[0,1,1,1,0]]", "\"offset\":28"));
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(array->rank, 3);
  EXPECT_EQ(texts(*array), (QStringList{QStringLiteral("[7][0] 7"), QStringLiteral("[4][0] 4"),
                                        QStringLiteral("[1][0] 1")}));
}

TEST_F(ArrayAnswerTest, FortransFirstDimensionGoesFirst) {
  write("bytes", packed<double>({1, 2, 3, 4, 5, 6}));
  QByteArray text = answer("float", 8, "[[0,1,2,2,8],[1,1,3,3,16]]", "\"offset\":0");
  text.replace("\"fortran\":false", "\"fortran\":true");
  const auto array = read(text);
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(texts(*array)[1], QLatin1String("(1,1) 2"));
  EXPECT_EQ(texts(*array)[2], QLatin1String("(0,2) 3"));
  EXPECT_EQ(array->indexOf({1, 2}), 5);
}

TEST_F(ArrayAnswerTest, RowsOfSeveralLengths) {
  write("bytes", packed<float>({1, 2, 3}));
  write("rows", packed<quint64>({2, 0, 1}));
  const auto array = read(answer("float", 4, "[[0,1,3,3,0],[0,1,2,2,4]]", "\"rows\":3"));
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(texts(*array), (QStringList{QStringLiteral("[0][0] 1"), QStringLiteral("[0][1] 2"),
                                        QStringLiteral("[2][0] 3")}));
  EXPECT_EQ(array->indexOf({1, 0}), -1);
  EXPECT_EQ(array->indexOf({2, 1}), -1);
  EXPECT_EQ(values::ArraySummary(std::make_shared<ArrayValues>(*array)).text(),
            QStringLiteral("3 × up to 2 of T: least 1 at [0][0], most 3 at [2][0], mean 2"));
}

TEST_F(ArrayAnswerTest, EachKindInItsWords) {
  write("bytes", packed<double>({1.5, -2.0}));
  EXPECT_EQ(read(answer("complex", 16, "[[0,1,1,1,16]]", "\"offset\":0"))->textAt(0),
            QLatin1String("1.5 - 2i"));
  write("bytes", packed<quint32>({0, 1, 7}));
  EXPECT_EQ(texts(*read(answer("logical", 4, "[[0,1,3,3,4]]", "\"offset\":0"))),
            (QStringList{QStringLiteral("[0] .FALSE."), QStringLiteral("[1] .TRUE."),
                         QStringLiteral("[2] .TRUE. (7)")}));
  write("bytes",
        "ab  \xff\xff"
        "cd");
  EXPECT_EQ(texts(*read(answer("text", 4, "[[0,1,2,2,4]]", "\"offset\":0")))[0],
            QLatin1String("[0] ab"));
  EXPECT_EQ(read(answer("char", 1, "[[0,1,8,8,1]]", "\"offset\":0"))->textAt(0),
            QLatin1String("97 'a'"));
  write("bytes", packed<quint64>({~quint64{0}}));
  EXPECT_EQ(read(answer("unsigned", 8, "[[0,1,1,1,8]]", "\"offset\":0"))->textAt(0),
            QLatin1String("18446744073709551615"));
  EXPECT_EQ(read(answer("pointer", 8, "[[0,1,1,1,8]]", "\"offset\":0"))->textAt(0),
            QLatin1String("0xffffffffffffffff"));
}

#ifdef __SIZEOF_FLOAT128__
TEST_F(ArrayAnswerTest, RealsOf128BitsToTheLastDigit) {
  write("bytes", packed<__float128>({static_cast<__float128>(1) / 3}));
  QByteArray text = answer("float", 16, "[[0,1,1,1,16]]", "\"offset\":0");
  text.replace("\"quad\":false", "\"quad\":true");
  EXPECT_EQ(read(text)->textAt(0), QLatin1String("0.333333333333333333333333333333333317"));
}
#endif

TEST_F(ArrayAnswerTest, WordsOfStructures) {
  const auto array = read(answer("words", 0, "[[0,1,5,2,0]]", "\"texts\":[\"{x = 1}\",\"a\\nb\"]"));
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(array->textAt(1), QLatin1String("a b"));
  EXPECT_TRUE(std::isnan(array->at(0)));
  EXPECT_TRUE(values::ArraySummary(std::make_shared<ArrayValues>(*array))
                  .text()
                  .startsWith(QLatin1String("the first 2 of 5 elements of T")));
}

TEST_F(ArrayAnswerTest, WhatMeansHarmIsRefused) {
  write("bytes", QByteArray(64, 'x'));
  write("rows", packed<quint64>({2, ~quint64{0}}));
  const QByteArray good = answer("float", 8, "[[0,1,8,8,8]]", "\"offset\":0");
  ASSERT_EQ(whyNot(good), QLatin1String("read"));
  const struct {
    const char* dims;
    const char* more;
  } kBad[] = {
      {"[]", "\"offset\":0"},
      {"[[0,1,8,8]]", "\"offset\":0"},
      {"[[0,1,9,9,8]]", "\"offset\":0"},
      {"[[0,1,8,8,-8]]", "\"offset\":0"},
      {"[[0,1,8,8,8]]", "\"offset\":8"},
      {"[[0,1,8,8,8]]", "\"offset\":-8"},
      {"[[0,1,8,8,8]]", "\"nothing\":0"},
      {"[[0,1,8,9,8]]", "\"offset\":0"},
      {"[[0,0,8,8,8]]", "\"offset\":0"},
      {"[[0,1,-8,8,8]]", "\"offset\":0"},
      {"[[0,1,0,0,8]]", "\"offset\":0"},
      {"[[0,1,1e300,1,8]]", "\"offset\":0"},
      {"[[0,1,1.5,1,8]]", "\"offset\":0"},
      {"[[0,1,40000000,40000000,0],[0,1,40000000,40000000,0]]", "\"offset\":0"},
      {"[[0,1,4e15,1,0],[0,1,4e15,1,0]]", "\"offset\":0"},
      {"[[1e15,1e15,8,8,8]]", "\"offset\":0"},
      {"[[0,1,2,2,0],[0,1,8,8,8]]", "\"rows\":2"},
      {"[[0,1,3,3,0],[0,1,8,8,8]]", "\"rows\":3"},
      {"\"many\"", "\"offset\":0"},
  };
  for (const auto& bad : kBad) {
    EXPECT_NE(whyNot(answer("float", 8, bad.dims, bad.more)), QLatin1String("read"))
        << bad.dims << bad.more;
  }
  for (const int size : {0, 2, 3, 17, 1 << 30}) {
    EXPECT_TRUE(whyNot(answer("float", size, "[[0,1,1,1,8]]", "\"offset\":0"))
                    .contains(QLatin1String("cannot be shown")))
        << size;
  }
  EXPECT_NE(whyNot(answer("words", 0, "[[0,1,3,3,0]]", "\"texts\":[\"x\"]")),
            QLatin1String("read"));
  EXPECT_NE(whyNot(answer("nothing", 8, "[[0,1,8,8,8]]", "\"offset\":0")), QLatin1String("read"));
  EXPECT_NE(whyNot("[]"), QLatin1String("read"));
  EXPECT_NE(whyNot(""), QLatin1String("read"));
  QFile::remove(m_directory.filePath(QStringLiteral("bytes")));
  EXPECT_TRUE(whyNot(good).contains(QLatin1String("cannot be read")));
}

TEST_F(ArrayAnswerTest, ALongTextIsCut) {
  const QByteArray text = "{\"error\":\"" + QByteArray(100000, 'x') + "\\u0007\"}";
  EXPECT_EQ(whyNot(text).size(), 1000);
}

}  // namespace
}  // namespace pf::session
