// SPDX-License-Identifier: GPL-3.0-or-later
// What an editor sees of ranks that have stopped: stacks, variables, values, the console; and what
// becomes of questions that are wrong or too late.
#include "app/dap/tests/dap_editor.h"

namespace pf::headless {
namespace {

using protocol::GdbCondition;

constexpr const char* kNoSymbol = R"(^error,msg="No symbol \"x\" in current context.")";
constexpr const char* kPair =
    R"(^done,name="var1",numchild="2",value="{...}",type="struct pair",has_more="0")";
constexpr const char* kMembers =
    R"(^done,numchild="2",children=[child={name="var1.a",exp="a",numchild="0",value="3",type="int"},)"
    R"(child={name="var1.b",exp="b",numchild="1",value="0x10",type="int *"}],has_more="0")";

class DapValuesTest : public DapServerFixture {
 protected:
  Json variables(int reference, Json more = Json::object()) {
    more["variablesReference"] = reference;
    return body("variables", more)["variables"];
  }
  std::string value(const std::string& expression, int frame) {
    return body("evaluate", {{"expression", expression}, {"frameId", frame}})["result"];
  }
  Json repl(const std::string& line) {
    return ask("evaluate", {{"expression", line}, {"context", "repl"}});
  }
  static std::string named(const Json& variables) {
    std::string text;
    for (const Json& each : variables) {
      text += each["name"].get<std::string>() + "=" + each["value"].get<std::string>() + " ";
    }
    return text;
  }
};

// -- threads and stacks

TEST_F(DapValuesTest, ThreadsAreTheRanksAndSayHowTheyStand) {
  stand({}, {{"focus", {0, 2}}});
  const Json threads = body("threads")["threads"];
  ASSERT_EQ(threads.size(), 4U);
  EXPECT_EQ(threads[2]["id"], 3);
  EXPECT_EQ(threads[2]["name"].get<std::string>().substr(0, 6), "rank 2");
  EXPECT_EQ(threads[2]["name"].get<std::string>().find("(no GDB)"), std::string::npos);
  EXPECT_NE(threads[1]["name"].get<std::string>().find("(no GDB)"), std::string::npos);
}

TEST_F(DapValuesTest, AStackBeginsWithTheCallThatTheProgramIsIn) {
  stand({{"-stack-list-frames",
          R"(^done,stack=[frame={level="0",addr="0x1",func="poll",from="/lib/libc.so.6"},)"
          R"(frame={level="1",addr="0x2",func="opal_progress",from="/lib/libopen-pal.so.40"},)"
          R"(frame={level="2",addr="0x3",func="PMPI_Recv",from="/lib/libmpi.so.40"},)"
          R"(frame={level="3",addr="0x4",func="collect",fullname="/src/m.c",line="12"},)"
          R"(frame={level="4",addr="0x5"}])"}});
  const Json body = this->body("stackTrace", {{"threadId", 1}});
  const Json frames = body["stackFrames"];
  ASSERT_EQ(frames.size(), 3U) << frames;
  EXPECT_EQ(body["totalFrames"], 3);
  EXPECT_EQ(frames[0]["presentationHint"], "subtle");
  EXPECT_FALSE(frames[0].contains("source"));
  EXPECT_EQ(frames[1]["name"], "collect");
  EXPECT_EQ(frames[1]["line"], 12);
  EXPECT_EQ(frames[1]["source"], (Json{{"name", "m.c"}, {"path", "/src/m.c"}}));
  EXPECT_EQ(frames[2]["name"], "??");
}

TEST_F(DapValuesTest, PythonThatIsNotKnownIsSaidBelowTheStack) {
  stand({{"-stack-list-frames",
          R"(^done,stack=[frame={level="0",addr="0x4",func="_PyEval_EvalFrameDefault"},)"
          R"(frame={level="1",addr="0x5",func="main",fullname="/src/host.c",line="12"}])"},
         {"&_PyRuntime 8", R"(^done,memory=[{begin="0x10000",contents="0000000000000000"}])"},
         {"&Py_Version 8", R"(^done,memory=[{begin="0x9000",contents="f0000e0300000000"}])"}});
  const Json body = this->body("stackTrace", {{"threadId", 1}});
  ASSERT_EQ(body["stackFrames"].size(), 3U) << body;
  EXPECT_EQ(body["totalFrames"], 3);
  EXPECT_EQ(body["stackFrames"][0]["name"], "_PyEval_EvalFrameDefault");
  const Json& label = body["stackFrames"][2];
  EXPECT_EQ(label["presentationHint"], "label");
  EXPECT_NE(label["name"].get<std::string>().find("Python 3.14 are not known"), std::string::npos)
      << label;
  EXPECT_EQ(this->body("stackTrace", {{"threadId", 1}, {"levels", 2}})["stackFrames"].size(), 2U);
}

TEST_F(DapValuesTest, AStackComesInPieces) {
  stand();
  const auto names = [this](const Json& range) {
    Json arguments = range;
    arguments["threadId"] = 1;
    std::string text;
    const Json frames = body("stackTrace", arguments)["stackFrames"];
    for (const Json& each : frames) {
      text += each["name"].get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(names(Json::object()), "PMPI_Recv collect main ");
  EXPECT_EQ(names({{"startFrame", 1}, {"levels", 1}}), "collect ");
  EXPECT_EQ(names({{"startFrame", 2}, {"levels", 0}}), "main ");
  EXPECT_EQ(names({{"startFrame", 3}}), "");
  EXPECT_EQ(names({{"startFrame", -5}, {"levels", -1}}), "PMPI_Recv collect main ");
  EXPECT_EQ(names({{"startFrame", std::int64_t{1} << 60}}), "");
  EXPECT_EQ(names({{"startFrame", 0}, {"levels", std::int64_t{1} << 60}}),
            "PMPI_Recv collect main ");
}

TEST_F(DapValuesTest, WhatIsNoThreadHasNoStack) {
  stand();
  for (const Json& thread : std::vector<Json>{0, 5, -1, "1", nullptr, 4294967297, 1.5}) {
    const std::string said = refusal("stackTrace", {{"threadId", thread}});
    EXPECT_EQ(said.substr(0, 18), "there is no thread") << thread;
  }
}

TEST_F(DapValuesTest, ARankThatRunsIsNotStopped) {
  stand();
  letRun(1);
  for (const char* command : {"stackTrace", "next", "stepIn", "stepOut", "exceptionInfo"}) {
    const Json response = ask(command, {{"threadId", 2}});
    EXPECT_EQ(response["message"], "notStopped") << command;
    EXPECT_EQ(errorOf(response), "rank 1 runs") << command;
    EXPECT_EQ(response["body"]["error"]["showUser"], false) << command;
  }
}

TEST_F(DapValuesTest, AStackThatGdbCannotReadSaysWhy) {
  stand({{"-stack-list-frames", R"(^error,msg="Cannot access memory at address 0x8")"}});
  EXPECT_EQ(refusal("stackTrace", {{"threadId", 1}}), "Cannot access memory at address 0x8");
}

TEST_F(DapValuesTest, AStackThatComesTooLateIsNotShown) {
  stand();
  const int asked = m_editor.request("stackTrace", {{"threadId", 1}});
  const int gone = m_editor.request("continue", {{"threadId", 1}, {"singleThread", true}});
  EXPECT_TRUE(responseTo(gone)["success"].get<bool>());
  EXPECT_FALSE(responseTo(asked)["success"].get<bool>());
}

TEST_F(DapValuesTest, WithoutAGdbTheRecordingSaysWhereARankIs) {
  stand({}, {{"focus", {2}}});
  const Json stack = body("stackTrace", {{"threadId", 1}});
  ASSERT_EQ(stack["stackFrames"].size(), 1U);
  EXPECT_EQ(stack["totalFrames"], 1);
  const Json frame = stack["stackFrames"][0];
  EXPECT_NE(frame["name"].get<std::string>().find("(recorded; no GDB)"), std::string::npos);
  EXPECT_EQ(frame["source"]["name"], "stencil.c");
  EXPECT_EQ(body("scopes", {{"frameId", frame["id"]}})["scopes"], Json::array())
      << "a recording has no variables";
  EXPECT_EQ(refusal("evaluate", {{"frameId", frame["id"]}, {"expression", "n"}}),
            "rank 0 has no GDB");
  EXPECT_EQ(body("stackTrace", {{"threadId", 1}, {"startFrame", 1}})["stackFrames"], Json::array());
}

TEST_F(DapValuesTest, ARankWithoutAGdbCannotBeStepped) {
  stand({}, {{"focus", {2}}});
  for (const char* command : {"next", "stepIn", "stepOut", "exceptionInfo"}) {
    EXPECT_EQ(refusal(command, {{"threadId", 1}}),
              "rank 0 has no GDB. Name it in 'focus' of the launch arguments.");
  }
}

// -- scopes and variables

TEST_F(DapValuesTest, ArgumentsAndLocalsAreApart) {
  stand({{"-stack-list-variables",
          R"(^done,variables=[{name="argc",arg="1",type="int",value="1"},)"
          R"({name="n",type="int",value="3"},{name="p",type="int *",value="0x10"}])"}});
  EXPECT_EQ(named(variables(scope(2, "Arguments"))), "argc=1 ");
  const Json locals = variables(scope(2, "Locals"));
  EXPECT_EQ(named(locals), "n=3 p=0x10 ");
  EXPECT_EQ(locals[0]["variablesReference"], 0);
  EXPECT_EQ(locals[0]["evaluateName"], "n");
  EXPECT_GT(locals[1]["variablesReference"].get<int>(), 0) << "what a pointer points to";
}

TEST_F(DapValuesTest, AStructureIsOpenedMemberByMember) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="pair",type="struct pair"}])"},
         {"-var-create", kPair},
         {"-var-list-children", kMembers}});
  const Json locals = variables(scope(2, "Locals"));
  ASSERT_EQ(locals.size(), 1U);
  EXPECT_EQ(locals[0]["evaluateName"], "pair");
  const Json members = variables(locals[0]["variablesReference"]);
  EXPECT_EQ(named(members), "a=3 b=0x10 ");
  EXPECT_EQ(members[0]["variablesReference"], 0);
  EXPECT_GT(members[1]["variablesReference"].get<int>(), 0);
}

TEST_F(DapValuesTest, APointerIsAskedOfGdbWhenItIsOpened) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="p",type="int *",value="0x10"}])"},
         {"-var-create", kPair},
         {"-var-list-children", kMembers}});
  const Json locals = variables(scope(2, "Locals"));
  EXPECT_FALSE(target().wasTold(2, "-var-create"));
  const int pointer = locals[0]["variablesReference"];
  EXPECT_EQ(named(variables(pointer)), "a=3 b=0x10 ");
  target().forgetOrders();
  EXPECT_EQ(named(variables(pointer)), "a=3 b=0x10 ");
  EXPECT_FALSE(target().wasTold(2, "-var-create")) << "it is there by now";
}

TEST_F(DapValuesTest, WhatGdbCannotOpenSaysWhyInItsPlace) {
  stand({{"-stack-list-variables",
          R"(^done,variables=[{name="x",type="struct s"},{name="n",type="int",value="3"},)"
          R"({name="p",type="int *",value="0x10"}])"},
         {"-var-create", kNoSymbol}});
  const Json locals = variables(scope(2, "Locals"));
  EXPECT_EQ(named(locals), "x=No symbol \"x\" in current context. n=3 p=0x10 ");
  EXPECT_EQ(refusal("variables", {{"variablesReference", locals[2]["variablesReference"]}}),
            "No symbol \"x\" in current context.");
}

TEST_F(DapValuesTest, AScopeThatGdbCannotListSaysWhy) {
  stand({{"-stack-list-variables", R"(^error,msg="No frame at level 1.")"},
         {"-data-list-register", R"(^error,msg="No registers.")"}});
  EXPECT_EQ(refusal("variables", {{"variablesReference", scope(2, "Locals")}}),
            "No frame at level 1.");
  EXPECT_EQ(refusal("variables", {{"variablesReference", scope(2, "Registers")}}), "No registers.");
}

TEST_F(DapValuesTest, RegistersAreAScope) {
  stand({{"-data-list-register-names", R"(^done,register-names=["rax","rbx"])"},
         {"-data-list-register-values", R"(^done,register-values=[{number="1",value="0x7"}])"}});
  EXPECT_EQ(named(variables(scope(2, "Registers"))), "rbx=0x7 ");
}

TEST_F(DapValuesTest, ALongContainerGoesOnInAnother) {
  stand(
      {{"-stack-list-variables", R"(^done,variables=[{name="v",type="std::vector<int>"}])"},
       {"-var-create",
        R"(^done,name="var1",numchild="0",value="{...}",type="std::vector<int>",dynamic="1",has_more="1")"},
       {"\"var1\" 0 200",
        R"(^done,numchild="1",children=[child={name="var1.[0]",exp="[0]",numchild="0",value="5",)"
        R"(type="int"}],has_more="1")"},
       {"\"var1\" 1 201",
        R"(^done,numchild="1",children=[child={name="var1.[1]",exp="[1]",numchild="0",value="6",)"
        R"(type="int"}],has_more="0")"}});
  const int vector = variables(scope(2, "Locals"))[0]["variablesReference"];
  const Json page = variables(vector);
  ASSERT_EQ(page.size(), 2U) << target().toGdb[2];
  EXPECT_EQ(named(page), "[0]=5 …=from 1 on ");
  EXPECT_EQ(named(variables(page[1]["variablesReference"])), "[1]=6 ");
}

TEST_F(DapValuesTest, AnArrayIsAskedForByPages) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="a",type="int [900]"}])"},
         {"-var-create",
          R"(^done,name="var1",numchild="900",value="[900]",type="int [900]",has_more="0")"},
         {"-var-list-children", kMembers}});
  const Json array = variables(scope(2, "Locals"))[0];
  EXPECT_EQ(array["indexedVariables"], 900);
  target().forgetOrders();
  variables(array["variablesReference"], {{"start", 300}, {"count", 50}});
  EXPECT_TRUE(target().wasTold(2, "300 350\n")) << target().toGdb[2];
  target().forgetOrders();
  variables(array["variablesReference"], {{"start", -1}, {"count", std::int64_t{1} << 60}});
  EXPECT_TRUE(target().wasTold(2, "0 10000\n")) << target().toGdb[2];
  target().forgetOrders();
  variables(array["variablesReference"], {{"start", std::int64_t{1} << 60}, {"count", 1}});
  EXPECT_TRUE(target().wasTold(2, "1073741824 1073741825\n")) << target().toGdb[2];
}

TEST_F(DapValuesTest, ReferencesAreGoneOnceTheirRankHasRun) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="n",type="int",value="3"}])"}});
  const int frame = userFrame(1);
  const int locals = scope(1, "Locals");
  const int others = scope(2, "Locals");
  EXPECT_EQ(named(variables(locals)), "n=3 ");
  letRun(1);
  target().gdbStops(1, R"(reason="end-stepping-range")");
  event("stopped");
  EXPECT_EQ(refusal("variables", {{"variablesReference", locals}}),
            "there are no such variables. Their rank has gone on: ask for its stack again.");
  const std::string noFrame =
      "there is no such frame. Its rank has gone on: ask for its stack again.";
  EXPECT_EQ(refusal("scopes", {{"frameId", frame}}), noFrame);
  EXPECT_EQ(refusal("evaluate", {{"frameId", frame}, {"expression", "n"}}), noFrame);
  EXPECT_EQ(refusal("setVariable", {{"variablesReference", locals}, {"name", "n"}, {"value", "4"}}),
            "there is no such variable any more: its rank has gone on");
  EXPECT_EQ(named(variables(others)), "n=3 ") << "of a rank that stands";
}

TEST_F(DapValuesTest, NumbersThatWereNeverGivenAreNothing) {
  stand();
  for (const Json& number :
       std::vector<Json>{0, -1, 1 << 30, std::int64_t{1} << 40, "1", nullptr}) {
    EXPECT_NE(refusal("variables", {{"variablesReference", number}}), "") << number;
    EXPECT_NE(refusal("scopes", {{"frameId", number}}), "") << number;
    EXPECT_NE(refusal("evaluate", {{"frameId", number}, {"expression", "n"}}), "") << number;
  }
  EXPECT_NE(refusal("variables"), "");
}

TEST_F(DapValuesTest, AFrameIsNoContainer) {
  stand();
  EXPECT_NE(refusal("variables", {{"variablesReference", userFrame(1)}}), "");
  EXPECT_NE(refusal("scopes", {{"frameId", scope(1, "Locals")}}), "");
}

TEST_F(DapValuesTest, VariablesThatComeAfterTheRankHasGoneAreNotKept) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="p",type="int *",value="0x10"}])"},
         {"-var-create", kPair},
         {"-var-list-children", kMembers}});
  const int pointer = variables(scope(2, "Locals"))[0]["variablesReference"];
  const int asked = m_editor.request("variables", {{"variablesReference", pointer}});
  m_editor.request("continue", {{"threadId", 3}, {"singleThread", true}});
  EXPECT_FALSE(responseTo(asked)["success"].get<bool>());
}

// -- changes

TEST_F(DapValuesTest, AChangeIsMadeInItsFrameAndSaid) {
  introduce({{"supportsInvalidatedEvent", true}});
  Json arguments = traceArguments();
  arguments["until"] = "2:40";
  body("launch", arguments);
  body("configurationDone");
  gate({{"-data-evaluate-expression", R"(^done,value="4")"}});
  target().comeToTheirStops();
  event("stopped");
  const int locals = scope(2, "Locals");
  const int registers = scope(2, "Registers");
  EXPECT_EQ(
      body("setVariable", {{"variablesReference", locals}, {"name", "n"}, {"value", "4"}})["value"],
      "4");
  EXPECT_TRUE(target().wasTold(2, "--frame 1 \"n = 4\"")) << target().toGdb[2];
  EXPECT_EQ(event("invalidated")["areas"], Json::array({"variables"}));
  EXPECT_NE(output("console").find("This cycle is altered"), std::string::npos);
  body("setVariable", {{"variablesReference", registers}, {"name", "rax"}, {"value", "1"}});
  EXPECT_TRUE(target().wasTold(2, "\"$rax = 1\"")) << target().toGdb[2];
}

TEST_F(DapValuesTest, AMemberIsChangedByItsObject) {
  stand({{"-stack-list-variables", R"(^done,variables=[{name="pair",type="struct pair"}])"},
         {"-var-create", kPair},
         {"-var-list-children", kMembers},
         {"-var-assign", R"(^done,value="9")"}});
  const int pair = variables(scope(2, "Locals"))[0]["variablesReference"];
  EXPECT_EQ(refusal("setVariable", {{"variablesReference", pair}, {"name", "a"}, {"value", "9"}}),
            "there is no member 'a' here")
      << "its members have not been asked for";
  variables(pair);
  EXPECT_EQ(
      body("setVariable", {{"variablesReference", pair}, {"name", "a"}, {"value", "9"}})["value"],
      "9");
  EXPECT_TRUE(target().wasTold(2, "var1.a")) << target().toGdb[2];
  EXPECT_EQ(refusal("setVariable", {{"variablesReference", pair}, {"name", "c"}, {"value", "9"}}),
            "there is no member 'c' here");
}

TEST_F(DapValuesTest, AChangeThatGdbRefusesIsNoChange) {
  stand({{"-data-evaluate-expression",
          R"(^error,msg="Left operand of assignment is not an lvalue.")"}});
  const int locals = scope(2, "Locals");
  forgetEvents();
  EXPECT_EQ(refusal("setVariable", {{"variablesReference", locals}, {"name", "1"}, {"value", "4"}}),
            "Left operand of assignment is not an lvalue.");
  EXPECT_EQ(refusal("setVariable", {{"variablesReference", locals}, {"value", "4"}}),
            "'setVariable' needs a name and a value");
  EXPECT_EQ(refusal("setVariable", {{"variablesReference", locals}, {"name", "n"}}),
            "'setVariable' needs a name and a value");
  EXPECT_EQ(output(), "");
}

// -- expressions

TEST_F(DapValuesTest, AValueIsOfItsFrame) {
  stand({{"-var-create", R"(^done,name="var7",numchild="0",value="3",type="int",has_more="0")"}});
  const int frame = userFrame(1);
  target().forgetOrders();
  const Json answer = body("evaluate", {{"expression", "n"}, {"frameId", frame}});
  EXPECT_EQ(answer["result"], "3");
  EXPECT_EQ(answer["type"], "int");
  EXPECT_TRUE(target().wasTold(1, "--frame 1")) << target().toGdb[1];
  pump();
  EXPECT_TRUE(target().wasTold(1, "-var-delete")) << "nothing is to be opened in it";
}

TEST_F(DapValuesTest, AValueToBeOpenedIsGivenBackWhenItsRankGoesOn) {
  stand({{"-var-create", kPair}, {"-var-list-children", kMembers}});
  const Json answer = body("evaluate", {{"expression", "pair"}, {"frameId", userFrame(1)}});
  EXPECT_EQ(named(variables(answer["variablesReference"])), "a=3 b=0x10 ");
  EXPECT_FALSE(target().wasTold(1, "-var-delete"));
  letRun(1);
  EXPECT_TRUE(target().wasTold(1, "-var-delete")) << target().toGdb[1];
}

TEST_F(DapValuesTest, WithoutAFrameItIsOfTheCurrentRank) {
  stand({{"-var-create", R"(^done,name="var7",numchild="0",value="3",type="int",has_more="0")"}});
  EXPECT_EQ(body("evaluate", {{"expression", "n"}})["result"], "3");
  EXPECT_TRUE(target().wasTold(2, "-var-create"));
  letRun(2);
  EXPECT_EQ(refusal("evaluate", {{"expression", "n"}}), "rank 2 runs");
}

TEST_F(DapValuesTest, GdbsReasonIsTheOneThatIsSaid) {
  stand({{"-var-create", R"(^error,msg="-var-create: unable to create variable object")"},
         {"-data-evaluate-expression", kNoSymbol}});
  EXPECT_EQ(refusal("evaluate", {{"expression", "x"}}), "No symbol \"x\" in current context.");
  target().replies.push_back({"-data-evaluate-expression", R"(^done,value="5")"});
  EXPECT_EQ(refusal("evaluate", {{"expression", "x"}}),
            "-var-create: unable to create variable object");
}

TEST_F(DapValuesTest, ExpressionsThatWouldLeaveGdbsLineAreRefused) {
  stand();
  target().forgetOrders();
  for (const char* hostile : {"n\n-exec-run", "n\r\n-exec-run"}) {
    EXPECT_NE(refusal("evaluate", {{"expression", hostile}}), "") << hostile;
    EXPECT_FALSE(repl(hostile)["success"].get<bool>()) << hostile;
  }
  EXPECT_FALSE(target().wasTold(2, "-exec-run"));
}

// -- the console

TEST_F(DapValuesTest, WhatGdbSaysToALineIsItsAnswer) {
  stand({{"\"info locals\"", "^done", "n = 3"}});
  EXPECT_EQ(repl("info locals")["body"]["result"], "n = 3");
  EXPECT_EQ(repl("set var n = 4")["body"]["result"], "");
}

TEST_F(DapValuesTest, ALineThatGdbRefusesIsAnError) {
  stand({{"\"frobnicate\"", R"(^error,msg="Undefined command: \"frobnicate\".")"},
         {"\"print x\"", kNoSymbol, "Reading symbols"}});
  EXPECT_EQ(errorOf(repl("frobnicate")), "Undefined command: \"frobnicate\".");
  EXPECT_EQ(errorOf(repl("print x")), "Reading symbols") << "what it has said has the reason";
}

TEST_F(DapValuesTest, OneLineAtATime) {
  stand();
  const Json line = {{"expression", "info locals"}, {"context", "repl"}};
  const int first = m_editor.request("evaluate", line);
  const int second = m_editor.request("evaluate", line);
  EXPECT_EQ(errorOf(responseTo(second)), "the GDB of rank 2 is at work on a line before");
  EXPECT_TRUE(responseTo(first)["success"].get<bool>());
  EXPECT_TRUE(repl("info locals")["success"].get<bool>());
}

TEST_F(DapValuesTest, ALineIsGivenToTheFrameThatIsMeant) {
  stand();
  const int frame = userFrame(1);
  target().forgetOrders();
  body("evaluate", {{"expression", "info locals"}, {"context", "repl"}, {"frameId", frame}});
  EXPECT_TRUE(target().wasTold(1, "-stack-select-frame 1")) << target().toGdb[1];
  EXPECT_FALSE(target().wasTold(2, "info locals"));
}

TEST_F(DapValuesTest, AGdbThatDiesAtALineDoesNotKeepTheEditorWaiting) {
  stand();
  const int asked =
      m_editor.request("evaluate", {{"expression", "info locals"}, {"context", "repl"}});
  target().gdbIs(2, GdbCondition::Died, "gdb ended");
  EXPECT_FALSE(responseTo(asked)["success"].get<bool>());
  EXPECT_FALSE(repl("info locals")["success"].get<bool>());
}

TEST_F(DapValuesTest, WithoutAGdbThereIsNoConsole) {
  stand({}, {{"focus", {1}}});
  EXPECT_EQ(errorOf(repl("info locals")),
            "rank 2 has no GDB. Name it in 'focus' of the launch arguments.");
}

TEST_F(DapValuesTest, WhichMessageIsALineOfOurs) {
  stand({{"(unsigned long)", R"(^error,msg="No symbol \"buf\" in current context.")"}});
  target().forgetOrders();
  EXPECT_NE(errorOf(repl("which-message buf")), "");
  EXPECT_FALSE(target().wasTold(2, "which-message"));
}

// -- exceptions

TEST_F(DapValuesTest, ASignalIsAnException) {
  stand();
  letRun(1);
  forgetEvents();
  target().gdbStops(
      1, R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault")");
  const Json stop = event("stopped");
  EXPECT_EQ(stop["reason"], "exception");
  EXPECT_EQ(stop["text"], "SIGSEGV: Segmentation fault");
  const Json info = body("exceptionInfo", {{"threadId", 2}});
  EXPECT_EQ(info["exceptionId"], "SIGSEGV");
  EXPECT_EQ(info["description"], "Segmentation fault");
  EXPECT_EQ(refusal("exceptionInfo", {{"threadId", 3}}), "rank 2 was not stopped by a signal");
}

}  // namespace
}  // namespace pf::headless
