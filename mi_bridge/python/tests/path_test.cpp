// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/path.h"

#include <gtest/gtest.h>

namespace pf::mi::python {
namespace {

using Kind = Step::Kind;

TEST(PythonPath, ANameAndTheWayToAPart) {
  EXPECT_EQ(pathOf(" x "), (Path{"x", {}}));
  EXPECT_EQ(pathOf("w.items[-12]['a b'].größe"), (Path{"w",
                                                       {{Kind::Attribute, "items", 0},
                                                        {Kind::Index, "", -12},
                                                        {Kind::Key, "a b", 0},
                                                        {Kind::Attribute, "größe", 0}}}));
  EXPECT_EQ(pathOf("w [ 3 ]"), (Path{"w", {{Kind::Index, "", 3}}}));
  EXPECT_EQ(pathOf(R"(d["it's"])"), (Path{"d", {{Kind::Key, "it's", 0}}}));
  EXPECT_EQ(pathOf(R"(d['\'\\\n\x41\u20ac'])"), (Path{"d", {{Kind::Key, "'\\\nA€", 0}}}));
  EXPECT_EQ(pathOf("d['']"), (Path{"d", {{Kind::Key, "", 0}}}));
}

TEST(PythonPath, AllElseIsNone) {
  for (const std::string text : {"",         " ",         "1",
                                 "x y",      "x.",        ".x",
                                 "x.1",      "x..y",      "x[",
                                 "x[]",      "x[1",       "x[1:2]",
                                 "x[i]",     "x[+1]",     "x[1.5]",
                                 "x['a]",    "x['",       "x['a'",
                                 "x['\\q']", "x['\\x4']", "x['\\U00110000']",
                                 "x()",      "-x",        "x[99999999999999999999]",
                                 "x\n",      "x['\n']",   "x = 1",
                                 "x + 1"}) {
    EXPECT_FALSE(pathOf(text)) << text;
  }
  std::string deep = "x";
  for (int i = 0; i < 100; ++i) {
    deep += "[0]";
  }
  EXPECT_TRUE(pathOf(deep));
  EXPECT_FALSE(pathOf(deep + "[0]"));
}

}  // namespace
}  // namespace pf::mi::python
