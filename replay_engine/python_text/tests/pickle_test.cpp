// SPDX-License-Identifier: GPL-3.0-or-later
// What Python pickles, against repr(): values by chance, NumPy's, and what is no pickle.
#include "replay_engine/python_text/pickle.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::python_text {
namespace {

std::string outputOf(const std::string& command) {
  const auto close = [](std::FILE* file) { pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::string out;
  std::array<char, 4096> part{};
  while (pipe != nullptr) {
    const std::size_t count = std::fread(part.data(), 1, part.size(), pipe.get());
    if (count == 0) {
      break;
    }
    out.append(part.data(), count);
  }
  return out;
}

std::string fromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// The bytes that a line of Python prints in hexadecimal; empty: it failed.
std::string pickled(const std::string& code) {
  return fromHex(outputOf("'" PF_PYTHON "' -c \"import pickle" + code + "\" 2>/dev/null"));
}

struct Case {
  std::string pickle;
  std::string repr;
};

std::vector<Case> casesOf(int seed, int count) {
  std::vector<Case> cases;
  const std::string all = outputOf("'" PF_PYTHON "' '" PF_PICKLES "' " + std::to_string(seed) +
                                   " " + std::to_string(count));
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t tab = all.find('\t', at);
    const std::size_t end = all.find('\n', tab);
    cases.push_back({fromHex(all.substr(at, tab - at)), all.substr(tab + 1, end - tab - 1)});
    at = end + 1;
  }
  return cases;
}

TEST(Pickle, IsWrittenAsRepr) {
  const std::vector<Case> cases = casesOf(1, 2000);
  ASSERT_GT(cases.size(), 1500U);
  for (const Case& each : cases) {
    EXPECT_EQ(pickleText(each.pickle).value_or("no pickle"), each.repr);
  }
}

TEST(Pickle, OfWhatIsNotWholeThereIsNone) {
  for (const Case& each : casesOf(2, 40)) {
    for (std::size_t size = 0; size < each.pickle.size(); ++size) {
      EXPECT_FALSE(pickleText(each.pickle.substr(0, size))) << each.repr;
    }
    EXPECT_FALSE(pickleText(each.pickle + "."));
    EXPECT_FALSE(pickleText(each.pickle.substr(1)));
  }
  EXPECT_FALSE(pickleText(std::string("\x80\x06N.", 4)));  // of a later protocol
  EXPECT_FALSE(pickleText(std::string("\x80\x01N.", 4)));
  EXPECT_FALSE(pickleText(std::string("\x80\x04NN.", 5)));
  EXPECT_FALSE(pickleText(std::string("\x80\x04(.", 4)));
  EXPECT_FALSE(pickleText(std::string("\x80\x04h\x05.", 5)));
  EXPECT_EQ(pickleText(std::string("\x80\x04N.", 4)), "None");
}

TEST(Pickle, AnyBytesAreSurvived) {
  std::mt19937 chance(7);
  for (Case each : casesOf(3, 300)) {
    for (int i = 0; i < 50; ++i) {
      each.pickle[chance() % each.pickle.size()] = static_cast<char>(chance());
      const auto text = pickleText(each.pickle, 300);
      EXPECT_TRUE(!text || text->size() <= 303);
    }
  }
}

/// Each list has the one before it twice: 2^60 of them, and lists that have themselves.
TEST(Pickle, WhatIsSharedDoesNotBlowUp) {
  const std::string deep =
      pickled("\na=[1]\nfor i in range(60): a=[a,a]\nprint(pickle.dumps(a,4).hex())");
  ASSERT_FALSE(deep.empty());
  const auto text = pickleText(deep, 500);
  ASSERT_TRUE(text);
  EXPECT_LE(text->size(), 503U);
  const std::string itself = pickled("\na=[1]\na.append(a)\nprint(pickle.dumps(a,4).hex())");
  EXPECT_EQ(pickleText(itself), "[1, …]");
  const std::string text300 = pickled("\nprint(pickle.dumps('x'*300).hex())");
  EXPECT_EQ(pickleText(text300), "'" + std::string(200, 'x') + "'…");
}

TEST(Pickle, CallsAndClassesAreNamed) {
  EXPECT_EQ(pickleText(pickled("\nprint(pickle.dumps(3+4j).hex())")), "complex(3.0, 4.0)");
  EXPECT_EQ(pickleText(pickled("\nprint(pickle.dumps(len).hex())")), "<len>");
  EXPECT_EQ(pickleText(pickled("\nimport types\nprint(pickle.dumps(types.SimpleNamespace(x=1, "
                               "y='a')).hex())")),
            "types.SimpleNamespace() with {'x': 1, 'y': 'a'}");
  EXPECT_EQ(pickleText(pickled(
                "\nimport collections\nprint(pickle.dumps(collections.OrderedDict(a=1)).hex())")),
            "collections.OrderedDict() with {'a': 1}");
  // As a program's own class is pickled.
  const std::string own("\x80\x04\x8c\x01m\x8c\x05Point\x93)\x81}(\x8c\x01xK\x01\x8c\x01yK\x02ub.",
                        30);
  EXPECT_EQ(pickleText(own), "<m.Point x=1, y=2>");
}

TEST(Pickle, ArraysOfNumPyHaveTheirValues) {
  if (pickled("\nimport numpy\nprint('00')").empty()) {
    GTEST_SKIP() << "no NumPy";
  }
  const auto of = [](const std::string& value, int protocol) {
    return pickleText(pickled("\nimport numpy as np\nprint(pickle.dumps(" + value + "," +
                              std::to_string(protocol) + ").hex())"))
        .value_or("no pickle");
  };
  for (const int protocol : {3, 4, 5}) {
    EXPECT_EQ(of("np.array([1.5,2,-3])", protocol), "array([1.5, 2.0, -3.0], dtype=f8)");
    EXPECT_EQ(of("np.array([[1,-2],[3,4]],dtype=np.int32)", protocol),
              "array([1, -2, 3, 4], dtype=i4, shape=(2, 2))");
  }
  EXPECT_EQ(of("np.array([0.1],dtype=np.float32)", 5), "array([0.1], dtype=f4)");
  EXPECT_EQ(of("np.array([True,False])", 5), "array([True, False], dtype=b1)");
  EXPECT_EQ(of("(np.float64(2.5), np.uint8(200))", 4), "(2.5, 200)");
  EXPECT_EQ(
      of("{'a': np.arange(1000,dtype=np.int16)}", 5),
      "{'a': array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, …], "
      "dtype=i2, 1000 values)}");
  EXPECT_EQ(of("np.zeros(0)", 5), "array([], dtype=f8)");
}

}  // namespace
}  // namespace pf::python_text
