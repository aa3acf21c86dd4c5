// SPDX-License-Identifier: GPL-3.0-or-later
// Each command of a script has code that carries it out.
#include "app/script/script_run.h"

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

TEST(ScriptRun, CarriesOutEveryCommand) {
  for (const ScriptVerb& verb : scriptVerbs()) {
    EXPECT_TRUE(ScriptRun::carriesOut(verb.name)) << verb.name;
  }
}

}  // namespace
}  // namespace pf::headless
