// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/value.h"

#include <gtest/gtest.h>

namespace pf::mi {
namespace {

Value sample() {
  return Value::tuple({{"a", Value::constant("1")},
                       {"a", Value::constant("2")},
                       {"t", Value::tuple({{"x", Value::constant("0xffffffffffffffff")}})},
                       {"", Value::list({{"", Value::constant("bare")}})}});
}

TEST(Value, LookupIsTotal) {
  const Value value = sample();
  EXPECT_EQ(value.str("a"), "1");
  EXPECT_EQ(value.at(1).text(), "2");
  EXPECT_EQ(value.str("t", "x"), "0xffffffffffffffff");
  EXPECT_FALSE(value["no"].valid());
  EXPECT_FALSE(value["no"]["deeper"].valid());
  EXPECT_EQ(value.str("a", "b", "c"), "");
  EXPECT_FALSE(value.at(99).valid());
  EXPECT_FALSE(Value()["x"].valid());
}

TEST(Value, Numbers) {
  EXPECT_EQ(Value::parseInteger("42"), 42);
  EXPECT_EQ(Value::parseInteger("-7"), -7);
  EXPECT_EQ(Value::parseInteger("0x1f"), 31);
  for (const char* bad : {"", "-", "4x", "0x", " 4", "99999999999999999999", "<PENDING>"}) {
    EXPECT_EQ(Value::parseInteger(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(sample()["t"].toAddress("x"), UINT64_MAX);
  EXPECT_EQ(sample().toInt32Or(5, "a"), 1);
  EXPECT_EQ(sample().toInt32Or(5, "none"), 5);
}

TEST(Value, TextAndEquality) {
  EXPECT_EQ(sample().toMi(), R"({a="1",a="2",t={x="0xffffffffffffffff"},["bare"]})");
  EXPECT_EQ(sample(), sample());
  EXPECT_NE(sample(), Value::constant("1"));
  EXPECT_NE(Value::tuple({}), Value::list({}));
  EXPECT_EQ(toMiString("\"\\\n\303\251\1"), R"("\"\\\n\303\251\001")");
}

}  // namespace
}  // namespace pf::mi
