// SPDX-License-Identifier: GPL-3.0-or-later
// Variables, globals and what expressions open to, in a rank that has stopped.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

constexpr const char* kPair = R"(^done,name="var1",numchild="1",value="{...}",type="struct pair")";
constexpr const char* kLow =
    R"(^done,numchild="1",children=[child={name="var1.low",exp="low",numchild="0",)"
    R"(value="7",type="int"}],has_more="0")";

class VariablesTest : public test::SessionFixture {
 protected:
  Inspector& inspector() { return session().inspector(); }
  bool wasTold(const char* part) { return target().wasTold(session().currentRank(), part); }
  testing::AssertionResult isGivenBack(const std::string& object) {
    const bool told = wasTold(("-var-delete \"" + object + "\"").c_str());
    return (told ? testing::AssertionSuccess() : testing::AssertionFailure())
           << target().toGdb[session().currentRank()];
  }
  /// What expressionOf() calls its `done` with; empty: it has not.
  QString expressionOf(const QString& path) {
    QString found;
    inspector().expressionOf(path, [&found](const QString& text) { found = text; });
    pump();
    return found;
  }
};

TEST_F(VariablesTest, WhatGdbCannotChangeIsToldAndTheCycleIsNotAltered) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="n",type="int",value="3"}])"},
         {"-data-evaluate-expression",
          R"(^error,msg="Left operand of assignment is not an lvalue.")"}});
  session().inspector().edit(QStringLiteral("v/n"), QStringLiteral("5"));
  pump();
  EXPECT_FALSE(session().inspector().isAltered());
  EXPECT_TRUE(m_problems.join(QLatin1Char('\n')).contains(QLatin1String("not an lvalue")));
}

/// GDB says itself that its memory has changed: each is asked for, and shown, once.
TEST_F(VariablesTest, AChangedValueDoublesNothing) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="n",type="int",value="3"}])"}});
  QSignalSpy variables(&session().inspector(), &Inspector::variablesChanged);
  session().inspector().edit(QStringLiteral("v/n"), QStringLiteral("5"));
  target().gdbSays(session().currentRank(),
                   R"(=memory-changed,thread-group="i1",addr="0x7ffe0010",len="0x4")");
  pump();
  ASSERT_FALSE(variables.isEmpty());
  EXPECT_EQ(variables.last()[1].value<QList<values::Variable>>().size(), 2);  // and the globals
}

TEST_F(VariablesTest, AnotherFrameHasItsOwnVariables) {
  QSignalSpy variables(&session().inspector(), &Inspector::variablesChanged);
  stand({{"--frame 1 --simple-values", R"(^done,variables=[{name="n",type="int",value="3"}])"},
         {"--frame 2 --simple-values", R"(^done,variables=[{name="argc",type="int",value="1"}])"}});
  session().inspector().selectFrame(2);
  pump();
  const auto shown = variables.last()[1].value<QList<values::Variable>>();
  ASSERT_EQ(shown.size(), 2);  // and the globals
  EXPECT_EQ(shown[0].name, QLatin1String("argc"));
  EXPECT_EQ(session().inspector().selected()->function, QLatin1String("main"));
  EXPECT_FALSE(session().inspector().isInnermost());
}

TEST_F(VariablesTest, VariablesOfARankThatHasGoneOnAreDropped) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="n",type="int",value="3"}])"}});
  QSignalSpy variables(&session().inspector(), &Inspector::variablesChanged);
  session().inspector().selectFrame(2);
  session().act(values::RankAction::Continue, {session().currentRank()});
  pump();
  EXPECT_EQ(variables.size(), 0);
}

TEST_F(VariablesTest, ObjectsOfVariablesAreGivenBackToGdb) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="a",type="int [2]"}])"},
         {"-var-create", R"(^done,name="var1",numchild="2",value="[2]",type="int [2]")"}});
  target().forgetOrders();
  session().inspector().selectFrame(2);
  pump();
  EXPECT_TRUE(isGivenBack("var1"));
}

TEST_F(VariablesTest, ExpressionsOpenAndTheirObjectsAreGivenBack) {
  QSignalSpy children(&session().inspector(), &Inspector::childrenArrived);
  stand({{"-var-create", R"(^done,name="var1",numchild="1",value="{...}",type="struct pair")"},
         {"-var-list-children",
          R"(^done,numchild="1",children=[child={name="var1.low",exp="low",numchild="0",)"
          R"(value="7",type="int"}],has_more="0")"}});
  session().inspector().expand(QStringLiteral("w/1"), 0, QStringLiteral("all[1/2]"));
  pump();
  ASSERT_EQ(children.size(), 1);
  EXPECT_EQ(children[0][0].toString(), QLatin1String("w/1"));
  const auto inside = children[0][1].value<QList<values::Variable>>();
  ASSERT_EQ(inside.size(), 1);
  EXPECT_EQ(inside[0].path + inside[0].name + inside[0].value, QLatin1String("w/1/0low7"));
  // Opened once more at the same stop: the same object. The frame after has another one.
  target().forgetOrders();
  session().inspector().expand(QStringLiteral("w/1"), 0, QStringLiteral("all[1/2]"));
  pump();
  EXPECT_FALSE(target().wasTold(session().currentRank(), "-var-create"));
  session().inspector().selectFrame(2);
  pump();
  EXPECT_TRUE(isGivenBack("var1"));
}

TEST_F(VariablesTest, AnObjectThatComesTooLateIsGivenBack) {
  QSignalSpy children(&session().inspector(), &Inspector::childrenArrived);
  stand({{"-var-create", R"(^done,name="var1",numchild="1",value="{...}",type="struct pair")"}});
  target().forgetOrders();
  session().inspector().expand(QStringLiteral("w/1"), 0, QStringLiteral("all"));
  session().inspector().valuesChanged(
      session().currentRank());  // what is known of it holds no longer
  pump();
  EXPECT_EQ(children.size(), 0);
  EXPECT_TRUE(isGivenBack("var1"));
}

TEST_F(VariablesTest, PartsOfAnExpressionHaveItsFormat) {
  QSignalSpy children(&inspector(), &Inspector::childrenArrived);
  stand(
      {{"-var-create", kPair},
       {"-var-list-children", kLow},
       {"-var-set-format \"var1.low\" hexadecimal", R"(^done,format="hexadecimal",value="0x7")"}});
  inspector().expand(QStringLiteral("w/1"), 0, QStringLiteral("/x all"));
  pump();
  EXPECT_TRUE(wasTold("* \"all\""));
  ASSERT_EQ(children.size(), 1);
  const auto inside = children[0][1].value<QList<values::Variable>>();
  ASSERT_EQ(inside.size(), 1);
  EXPECT_EQ(inside[0].value, QLatin1String("0x7"));
}

TEST_F(VariablesTest, WhatHasPartsIsAskedAboutByGdbsExpression) {
  stand({{"-stack-list-variables",
          R"(^done,variables=[{name="n",type="int",value="3"},{name="a",type="struct pair"}])"},
         {"-var-create", kPair},
         {"-var-list-children", kLow},
         {"-var-info-path-expression \"var1.low\"", R"x(^done,path_expr="(a).low")x"}});
  EXPECT_EQ(expressionOf(QStringLiteral("v/n")), QLatin1String("n"));
  EXPECT_EQ(expressionOf(QStringLiteral("v/a")), QLatin1String("a"));
  inspector().expand(QStringLiteral("v/a"), 0, {});
  pump();
  EXPECT_EQ(expressionOf(QStringLiteral("v/a/0")), QLatin1String("(a).low"));
}

TEST_F(VariablesTest, APartWithoutAnExpressionIsToldSo) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="a",type="struct pair"}])"},
         {"-var-create", kPair},
         {"-var-list-children", kLow},
         {"-var-info-path-expression",
          R"x(^error,msg="Invalid variable object (child of a dynamic varobj)")x"}});
  inspector().expand(QStringLiteral("v/a"), 0, {});
  pump();
  EXPECT_EQ(expressionOf(QStringLiteral("v/a/0")), QString());
  EXPECT_TRUE(m_problems.last().contains(QLatin1String("no expression for this part")))
      << m_problems.last().toStdString();
}

TEST_F(VariablesTest, GlobalsOfTheFileComeWhenTheyAreOpened) {
  QSignalSpy variables(&inspector(), &Inspector::variablesChanged);
  QSignalSpy children(&inspector(), &Inspector::childrenArrived);
  stand({{"-stack-list-variables", "^done,variables=[]"},
         {"photofinish-globals", R"(^error,msg="photofinish answer: total\t'm.c'::n")"},
         {"* \"total\"", kPair},
         {"* \"'m.c'::n\"", R"(^error,msg="Cannot access memory at address 0x8")"}});
  ASSERT_FALSE(variables.isEmpty());
  const auto shown = variables.last()[1].value<QList<values::Variable>>();
  ASSERT_EQ(shown.size(), 1);
  EXPECT_TRUE(shown[0].name.startsWith(QLatin1String("globals of ")))
      << shown[0].name.toStdString();
  EXPECT_TRUE(shown[0].hasChildren && !shown[0].editable);
  EXPECT_FALSE(wasTold("photofinish-globals")) << "nobody has opened it";
  inspector().expand(shown[0].path, 0, {});
  pump();
  ASSERT_EQ(children.size(), 1);
  const auto globals = children[0][1].value<QList<values::Variable>>();
  ASSERT_EQ(globals.size(), 2);
  EXPECT_EQ(globals[0].name + globals[0].type, QLatin1String("totalstruct pair"));
  EXPECT_TRUE(globals[0].hasChildren && globals[0].editable);
  EXPECT_EQ(globals[1].value, QLatin1String("Cannot access memory at address 0x8"));
  EXPECT_FALSE(globals[1].editable);
  EXPECT_EQ(expressionOf(globals[0].path), QLatin1String("total"));
  EXPECT_EQ(expressionOf(globals[1].path), QLatin1String("'m.c'::n"));
  EXPECT_EQ(expressionOf(shown[0].path), QString());
  inspector().selectFrame(2);
  pump();
  EXPECT_TRUE(isGivenBack("var1"));
}

TEST_F(VariablesTest, WithoutPythonGlobalsAreRefusedInWords) {
  stand(
      {{"-stack-list-variables", "^done,variables=[]"},
       {"python exec", R"(^error,msg="Python scripting is not supported in this copy of GDB.")"}});
  inspector().expand(QStringLiteral("v/globals of the file"), 0, {});
  pump();
  EXPECT_TRUE(m_problems.last().contains(QLatin1String("no Python")))
      << m_problems.last().toStdString();
}

}  // namespace
}  // namespace pf::session
