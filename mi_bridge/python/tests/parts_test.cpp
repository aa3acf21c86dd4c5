// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/parts.h"

#include <array>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "mi_bridge/python/frames.h"
#include "mi_bridge/python/tests/fake_interpreter.h"
#include "replay_engine/python_text/text.h"

namespace pf::mi::python {
namespace {

using Texts = std::vector<std::string>;
using Kept = FakeInterpreter::Kept;

class PythonParts : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] PartPage page(const Place& place, std::size_t from = 0, std::size_t count = 100) {
    return readParts(m_python.memory, m_python.layout, place, from, count);
  }
  /// "name step = value", and " {n}" behind what has n parts; "…" at the end where there are more.
  Texts parts(const Place& place, std::size_t from = 0, std::size_t count = 100) {
    Texts out;
    const PartPage found = page(place, from, count);
    for (const Part& each : found.parts) {
      const std::string opened =
          each.value.parts > 0 ? " {" + std::to_string(each.value.parts) + "}" : "";
      out.push_back(each.name + " " + each.step + " = " + each.value.text + opened);
    }
    if (found.more) {
      out.push_back("…");
    }
    return out;
  }
  Texts parts(std::uint64_t object, std::size_t from = 0, std::size_t count = 100) {
    return parts(Place{object, 0, 0}, from, count);
  }
  /// What `w` is, at a path that begins with it; or the sentence why not.
  std::string at(std::uint64_t object, const std::string& path) {
    const std::uint64_t frame = m_python.push("f", "/src/a.py", 1, true, {{"w", object}});
    const auto value = readPath(m_python.memory, m_python.layout, frame, *pathOf(path));
    return value ? value->text : value.error().message;
  }
  std::uint64_t number(std::uint32_t value) { return m_python.makeInt(value); }

  FakeInterpreter m_python{GetParam()};
};

TEST_P(PythonParts, ListsAndTuplesByPages) {
  const std::uint64_t list =
      m_python.makeList({number(1), m_python.makeTuple({number(2), number(3)}), number(4)});
  EXPECT_EQ(parts(list), (Texts{"[0] [0] = 1", "[1] [1] = (2, 3) {2}", "[2] [2] = 4"}));
  EXPECT_EQ(parts(list, 1, 1), (Texts{"[1] [1] = (2, 3) {2}", "…"}));
  EXPECT_EQ(parts(list, 2, 10), (Texts{"[2] [2] = 4"}));
  EXPECT_EQ(parts(list, 3, 10), Texts());
  EXPECT_EQ(at(list, "w[-1]"), "4");
  EXPECT_EQ(at(list, "w[1][0]"), "2");
  EXPECT_EQ(at(list, "w[3]"), "w has no part [3]: it has 3");
  EXPECT_EQ(at(list, "w[-4]"), "w has no part [-4]: it has 3");
}

TEST_P(PythonParts, AListThatContainsItselfIsOpenedOnDemand) {
  const std::uint64_t list = m_python.makeList({0, number(7)});
  m_python.memory.set(readPointer(m_python.memory, list + 24), list);
  EXPECT_EQ(parts(list), (Texts{"[0] [0] = [[…], 7] {2}", "[1] [1] = 7"}));
  EXPECT_EQ(at(list, "w[0][0][0][1]"), "7");
}

TEST_P(PythonParts, DictionariesByKeysOfTextAndNumbers) {
  const std::uint64_t dict = m_python.makeDict(
      {{"grid", m_python.makeList({number(1)})}, {"it's", number(2)}, {"c", number(3)}});
  EXPECT_EQ(parts(dict),
            (Texts{"['grid'] ['grid'] = [1] {1}", "[\"it's\"] [\"it's\"] = 2", "['c'] ['c'] = 3"}));
  EXPECT_EQ(parts(dict, 1, 1), (Texts{"[\"it's\"] [\"it's\"] = 2", "…"}));
  EXPECT_EQ(at(dict, "w['grid'][0]"), "1");
  EXPECT_EQ(at(dict, "w[\"it's\"]"), "2");
  EXPECT_EQ(at(dict, "w['d']"), "['d'] is no key of w");
  EXPECT_EQ(at(dict, "w[0]"), "[0] is no key of w");
  // A number, and a tuple, in place of the first two texts.
  const std::uint64_t keys = readPointer(m_python.memory, dict + 32);
  m_python.memory.set(keys + 40, number(12));
  m_python.memory.set(keys + 56, m_python.makeTuple({number(1)}));
  EXPECT_EQ(parts(dict), (Texts{"[12] [12] = [1] {1}", "[(1,)]  = 2", "['c'] ['c'] = 3"}));
  EXPECT_EQ(at(dict, "w[12][0]"), "1");
}

TEST_P(PythonParts, ElementsOfSetsHaveNoWayToThem) {
  const std::uint64_t set = m_python.makeSet("set", {number(5), number(6)});
  EXPECT_EQ(at(set, "w"), "{5, 6}");
  EXPECT_EQ(parts(set), (Texts{"[0]  = 5", "[1]  = 6"}));
  EXPECT_EQ(parts(set, 1, 1), (Texts{"[1]  = 6"}));
  EXPECT_EQ(at(m_python.makeSet("frozenset", {number(5)}), "w"), "frozenset({5})");
  EXPECT_EQ(at(m_python.makeSet("set", {}), "w"), "set()");
  EXPECT_NE(at(set, "w[0]").find("(it is set)"), std::string::npos);
}

TEST_P(PythonParts, ComplexNumbersAsPythonWritesThem) {
  EXPECT_EQ(at(m_python.makeComplex(1, 2), "w"), "(1+2j)");
  EXPECT_EQ(at(m_python.makeComplex(0, -0.5), "w"), "-0.5j");
  EXPECT_EQ(at(m_python.makeComplex(-0.0, 0), "w"), "(-0+0j)");
  EXPECT_EQ(at(m_python.makeComplex(1e16, std::numeric_limits<double>::infinity()), "w"),
            "(1e+16+infj)");
  EXPECT_EQ(python_text::complexText(0.1F, 1.0F), "(0.1+1j)");
}

TEST_P(PythonParts, AttributesWhereverTheyAreKept) {
  for (const Kept kept : {Kept::Values, Kept::Dictionary, Kept::Classic, Kept::Slots}) {
    const std::uint64_t type = m_python.makeClass("Box", kept, {"size", "parts", "unset"}, {});
    const std::uint64_t box = m_python.makeInstance(
        type, kept, {{"size", number(3)}, {"parts", m_python.makeList({number(4)})}, {"unset", 0}});
    SCOPED_TRACE(static_cast<int>(kept));
    EXPECT_EQ(at(box, "w"), "<Box>");
    EXPECT_EQ(parts(box), (Texts{"size .size = 3", "parts .parts = [4] {1}"}));
    EXPECT_EQ(parts(box, 1, 1), (Texts{"parts .parts = [4] {1}"}));
    EXPECT_EQ(at(box, "w.parts[0]"), "4");
    EXPECT_NE(at(box, "w.unset").find("no property and no __getattr__ is called"),
              std::string::npos);
    EXPECT_NE(at(box, "w.size.real").find("w.size has no attribute 'real'"), std::string::npos);
    EXPECT_TRUE(hasParts(m_python.memory, m_python.layout, box));
  }
}

TEST_P(PythonParts, WhatTheClassHasIsReadAndPropertiesAreNotCalled) {
  const std::uint64_t property = m_python.makeObject(64, "property", 0);
  const std::uint64_t type = m_python.makeClass("Box", Kept::Values, {"size"},
                                                {{"unit", m_python.makeStr("kg")},
                                                 {"area", property},
                                                 {"__doc__", m_python.makeStr("a box")}});
  const std::uint64_t box = m_python.makeInstance(type, Kept::Values, {{"size", number(3)}});
  EXPECT_EQ(at(box, "w.unit"), "'kg'");
  EXPECT_EQ(at(box, "w.area"),
            "w.area is a property of its class, and nothing is called for it: only what lies in "
            "memory is read");
  EXPECT_EQ(at(type, "w.unit"), "'kg'");
}

TEST_P(PythonParts, ArraysByRowsThenNumbers) {
  const std::array<double, 6> data{0, 0.5, 1, 1.5, 2, 2.5};
  const std::uint64_t at0 = m_python.memory.make(sizeof data);
  m_python.memory.put(at0, data.data(), sizeof data);
  const std::uint64_t array = m_python.makeArray({}, {2, 3}, {24, 8}, at0);
  EXPECT_EQ(at(array, "w"), "ndarray float64 (2, 3)");
  EXPECT_EQ(parts(array), (Texts{"[0] [0] = float64 (3,) {3}", "[1] [1] = float64 (3,) {3}"}));
  EXPECT_EQ(parts(page({array, 0, 0}).parts[1].value.place),
            (Texts{"[0] [0] = 1.5", "[1] [1] = 2.0", "[2] [2] = 2.5"}));
  EXPECT_EQ(at(array, "w[-1][-1]"), "2.5");
  EXPECT_EQ(at(array, "w[1]"), "float64 (3,)");
  EXPECT_EQ(at(array, "w[0][0][0]"), "w[0][0] has no part [0]: it has 0");
  // Backwards, and its columns.
  const std::uint64_t turned = m_python.makeArray({}, {3, 2}, {-8, 24}, at0 + 16);
  EXPECT_EQ(at(turned, "w[0][1]"), "2.5");
  EXPECT_EQ(at(turned, "w[2][0]"), "0.0");
  EXPECT_EQ(parts(m_python.makeArray({}, {}, {}, at0 + 8)), (Texts{"[()]  = 0.5"}));
  EXPECT_EQ(at(m_python.makeArray({}, {0}, {8}, at0), "w"), "ndarray float64 (0,)");
}

TEST_P(PythonParts, NumbersOfEachType) {
  const std::uint64_t data = m_python.memory.make(16);
  const auto shown = [&](std::uint32_t type, char letter, char order = '=') {
    const auto found = parts(m_python.makeArray({type, letter, order}, {1}, {1}, data));
    return found.empty() ? "" : found[0].substr(found[0].find("= ") + 2);
  };
  m_python.memory.set(data, std::uint64_t{0xFFFFFFFFFFFFFFFF});
  EXPECT_EQ(shown(0, 'b', '|'), "True");
  EXPECT_EQ(shown(1, 'i', '|'), "-1");
  EXPECT_EQ(shown(2, 'u', '|'), "255");
  EXPECT_EQ(shown(3, 'i', '<'), "-1");
  EXPECT_EQ(shown(4, 'u'), "65535");
  EXPECT_EQ(shown(5, 'i'), "-1");
  EXPECT_EQ(shown(6, 'u'), "4294967295");
  EXPECT_EQ(shown(7, 'i'), "-1");
  EXPECT_EQ(shown(8, 'u'), "18446744073709551615");
  m_python.memory.set(data, 0.1F);
  m_python.memory.set(data + 4, 2.0F);
  EXPECT_EQ(shown(11, 'f'), "0.1");
  EXPECT_EQ(shown(14, 'c'), "(0.1+2j)");
  m_python.memory.set(data, std::uint16_t{0xB800});
  EXPECT_EQ(shown(23, 'f'), "-0.5");
  m_python.memory.set(data, m_python.makeStr("an object"));
  EXPECT_EQ(shown(17, 'O'), "'an object'");
}

TEST_P(PythonParts, NumbersOfNumPy) {
  const std::uint64_t half = m_python.makeObject(32, "numpy.float64", 0);
  m_python.memory.set(half + 16, 0.5);
  EXPECT_EQ(at(half, "w"), "0.5");
  const std::uint64_t yes = m_python.makeObject(32, "numpy.bool_", 0);
  m_python.memory.set(yes + 16, std::uint8_t{1});
  EXPECT_EQ(at(yes, "w"), "True");
  EXPECT_EQ(at(m_python.makeObject(32, "numpy.int64", 0), "w"), "0");
  EXPECT_EQ(at(m_python.makeObject(32, "numpy.void", 0), "w"), "<numpy.void>");
  EXPECT_EQ(at(m_python.makeObject(32, "float64", 0), "w"), "<float64>");
}

TEST_P(PythonParts, NumbersThatAreNotReadAreNotShown) {
  using ArrayType = FakeInterpreter::ArrayType;
  const std::uint64_t data = m_python.memory.make(64);
  const auto text = [&](ArrayType type) {
    const std::uint64_t array = m_python.makeArray(type, {3}, {8}, data);
    EXPECT_EQ(parts(array), Texts());
    return at(array, "w");
  };
  EXPECT_EQ(text({12, 'f', '>'}), "ndarray float64 of another byte order (3,)");
  EXPECT_EQ(text({20, 'V', '|'}), "ndarray void (3,)");
  EXPECT_EQ(text({12, 'i', '='}), "ndarray of an unknown type (3,)");
  EXPECT_EQ(text({2056, 'V', '='}), "ndarray of an unknown type (3,)");
}

TEST_P(PythonParts, DamagedSizesAreNotFollowed) {
  const std::uint64_t list = m_python.makeList({number(1)});
  m_python.memory.set(list + 16, std::uint64_t{1} << 62U);
  EXPECT_EQ(parts(list), Texts()) << "more than it has room for";
  m_python.memory.set(list + 32, std::uint64_t{1} << 62U);
  EXPECT_EQ(parts(list, 20000, 5), (Texts{"[20000]  = <cannot be read>"}));
  const std::uint64_t tuple = m_python.makeTuple({number(1)});
  m_python.memory.set(tuple + 16, std::uint64_t{1} << 62U);
  EXPECT_EQ(page({tuple, 0, 0}, 1U << 30U, 100).parts.size(), 1U);
  const std::uint64_t dict = m_python.makeDict({{"a", number(1)}});
  m_python.memory.set(readPointer(m_python.memory, dict + 32) + 24, std::uint64_t{1} << 62U);
  EXPECT_EQ(page({dict, 0, 0}).parts.back().value.text, "<cannot be read>");
  const std::uint64_t set = m_python.makeSet("set", {number(1)});
  m_python.memory.set(set + 32, std::int64_t{1} << 39);
  EXPECT_EQ(page({set, 0, 0}).parts.back().value.text, "<cannot be read>");
  const std::uint64_t array = m_python.makeArray({}, {1}, {8}, 0x10);
  m_python.memory.set(array + 24, std::int32_t{1 << 30});
  EXPECT_EQ(at(array, "w"), "<cannot be read>");
  EXPECT_EQ(parts(array), Texts());
}

/// Any bytes anywhere: an answer in bounded time.
TEST_P(PythonParts, ChangedBytesNeitherHangNorCrash) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const std::uint64_t data = m_python.memory.make(64);
  const std::uint64_t type = m_python.makeClass("Box", Kept::Values, {"a", "b"}, {});
  const std::vector<std::uint64_t> objects{
      m_python.makeList({number(1), m_python.makeSet("set", {number(5)})}),
      m_python.makeDict({{"a", number(1)}, {"b", m_python.makeStr("x")}}),
      m_python.makeArray({}, {2, 2}, {16, 8}, data), type,
      m_python.makeInstance(type, Kept::Values, {{"a", number(1)}, {"b", number(2)}})};
  const std::uint64_t frame =
      m_python.push("f", "/src/a.py", 1, true, {{"w", m_python.makeList(objects)}});
  std::vector<std::uint64_t> places;
  for (const auto& [address, byte] : m_python.memory.bytes) {
    places.push_back(address);
  }
  const FakeMemory whole = m_python.memory;
  for (int turn = 0; turn < 400; ++turn) {
    m_python.memory = whole;
    for (unsigned i = 0; i < 1 + random() % 8; ++i) {
      const std::uint64_t place = places[random() % places.size()] & ~std::uint64_t{7};
      m_python.memory.set(place, random() % 2 != 0 ? places[random() % places.size()]
                                                   : std::uint64_t{random()} << random() % 40);
    }
    for (const std::uint64_t object : objects) {
      EXPECT_LE(page({object, 0, 0}, random() % 4, 10).parts.size(), 11U);
      (void)page({object, random() % 3, random()}, 0, 10);
    }
    for (const char* path : {"w[0][1]", "w[1]['b']", "w[2][1][1]", "w[3].x", "w[4].b"}) {
      (void)readPath(m_python.memory, m_python.layout, frame, *pathOf(path));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonParts, testing::Values(11, 12, 13));

}  // namespace
}  // namespace pf::mi::python
