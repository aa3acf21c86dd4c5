// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/records.h"

#include <gtest/gtest.h>

#include "mi_bridge/parser.h"

namespace pf::mi {
namespace {

Value resultsOf(const std::string& line) {
  const auto record = parseRecord(line);
  EXPECT_TRUE(record.ok()) << line;
  if (!record) {
    return {};
  }
  if (const auto* async = std::get_if<AsyncRecord>(&*record)) {
    return async->results;
  }
  return std::get<ResultRecord>(*record).results;
}

TEST(Records, BreakpointStop) {
  const StopEvent stop = stopEventOf(resultsOf(
      R"(*stopped,reason="breakpoint-hit",disp="del",bkptno="3",frame={addr="0x000055a65b8401c3",func="add",args=[{name="a",value="32"}],file="src \303\251 x/t.cpp",fullname="/tmp/src \303\251 x/t.cpp",line="7",arch="i386:x86-64"},thread-id="1",stopped-threads="all",core="1")"));
  EXPECT_EQ(stop.reason, StopReason::Breakpoint);
  EXPECT_EQ(stop.breakpointNumber, 3);
  EXPECT_TRUE(stop.temporary);
  EXPECT_EQ(stop.thread, 1);
  EXPECT_EQ(stop.frame.address, 0x55a65b8401c3U);
  EXPECT_EQ(stop.frame.fullname, "/tmp/src \303\251 x/t.cpp");
  EXPECT_EQ(stop.frame.arguments.at(0), (Variable{"a", "", "32", false}));
  EXPECT_EQ(stop.describe(), "Breakpoint 3 hit");
}

TEST(Records, OtherStops) {
  const StopEvent watch = stopEventOf(resultsOf(
      R"(*stopped,reason="watchpoint-trigger",wpt={number="2",exp="v[0]"},value={old="29",new="30"},thread-id="1")"));
  EXPECT_EQ(watch.describe(), "Watchpoint 2: v[0] was 29, is 30");
  const StopEvent read = stopEventOf(resultsOf(
      R"(*stopped,reason="read-watchpoint-trigger",hw-rwpt={number="4",exp="x"},value={value="5"})"));
  EXPECT_EQ(read.breakpointNumber, 4);
  EXPECT_EQ(read.newValue, "5");
  const StopEvent scope = stopEventOf(resultsOf(R"(*stopped,reason="watchpoint-scope",wpnum="5")"));
  EXPECT_EQ(scope.breakpointNumber, 5);
  EXPECT_EQ(stopEventOf(resultsOf(R"(*stopped,reason="exited",exit-code="052")")).exitCode, 42);
  EXPECT_EQ(stopEventOf(resultsOf(R"(*stopped,reason="exited-normally")")).exitCode, 0);
  const StopEvent killed = stopEventOf(resultsOf(
      R"(*stopped,reason="exited-signalled",signal-name="SIGKILL",signal-meaning="Killed")"));
  EXPECT_TRUE(killed.exited());
  EXPECT_EQ(killed.describe(), "Killed by SIGKILL: Killed");
  const StopEvent bare = stopEventOf(resultsOf("*stopped"));
  EXPECT_EQ(bare.reason, StopReason::Other);
  EXPECT_FALSE(bare.frame.known());
}

TEST(Records, StoppedAtEvent) {
  const std::string tail = R"(",args=[]},thread-id="1")";
  const std::string head =
      R"(*stopped,reason="signal-received",signal-name="SIGTRAP",signal-meaning="t",frame={addr="0x1",func=")";
  const StopEvent event = stopEventOf(resultsOf(head + "pf_stop_at_event" + tail));
  EXPECT_TRUE(event.stoppedAtEvent());
  EXPECT_EQ(event.reason, StopReason::Event);
  const StopEvent userBreakpoint = stopEventOf(resultsOf(
      R"(*stopped,reason="breakpoint-hit",bkptno="1",frame={addr="0x1",func="pf_stop_at_event"})"));
  EXPECT_FALSE(userBreakpoint.stoppedAtEvent());
  EXPECT_EQ(userBreakpoint.reason, StopReason::Breakpoint);
  const StopEvent trap = stopEventOf(resultsOf(head + "main" + tail));
  EXPECT_FALSE(trap.stoppedAtEvent());
  EXPECT_EQ(trap.reason, StopReason::Signal);
}

TEST(Records, Breakpoints) {
  const Breakpoint several = breakpointOf(resultsOf(
      R"(^done,bkpt={number="1",type="breakpoint",disp="keep",enabled="n",addr="<MULTIPLE>",times="4",cond="i==1",ignore="2",original-location="f",locations=[{number="1.1",enabled="y",addr="0x10",func="f",file="a.c",fullname="/a.c",line="4"},{number="1.2",enabled="n",addr="0x20"}]})")
                                              ["bkpt"]);
  EXPECT_FALSE(several.enabled);
  EXPECT_EQ(several.hits, 4);
  EXPECT_EQ(several.ignoreCount, 2);
  EXPECT_EQ(several.condition, "i==1");
  ASSERT_EQ(several.locations.size(), 2U);
  EXPECT_EQ(several.line, 4);
  EXPECT_FALSE(several.locations[1].enabled);
  const Breakpoint pending = breakpointOf(resultsOf(
      R"(^done,bkpt={number="2",addr="<PENDING>",pending="-source t.c -line 400",times="0"})")
                                              ["bkpt"]);
  EXPECT_EQ(pending.pending, "-source t.c -line 400");
  EXPECT_EQ(pending.address, 0U);
}

/// GDB does not say of a part whether its printer has more.
TEST(Records, AContainerInAStructureCanBeOpened) {
  const auto part = [](const std::string& more) {
    return varObjectOf(resultsOf(
        R"(^done,name="v.public.m",exp="m",numchild="0",value="{...}",type="T",dynamic="1")" +
        more));
  };
  EXPECT_TRUE(part("").expandable());
  EXPECT_TRUE(part(R"(,displayhint="map")").expandable());
  EXPECT_FALSE(part(R"(,displayhint="string")").expandable());
  EXPECT_FALSE(part(R"(,has_more="0")").expandable()) << "an empty one";
  EXPECT_FALSE(
      varObjectOf(resultsOf(R"(^done,name="v.n",exp="n",numchild="0",value="3",type="int")"))
          .expandable());
}

TEST(Records, VariableObjects) {
  const VarObject object = varObjectOf(resultsOf(
      R"(^done,name="var1",numchild="0",value="{...}",type="std::vector<int>",displayhint="array",dynamic="1",has_more="1")"));
  EXPECT_TRUE(object.dynamic);
  EXPECT_TRUE(object.expandable());
  const VarPage page = varPageOf(resultsOf(
      R"(^done,numchild="1",children=[child={name="var1.[0]",exp="[0]",numchild="0",value="28",type="int"}],has_more="1")"));
  ASSERT_EQ(page.children.size(), 1U);
  EXPECT_EQ(page.children[0].expression, "[0]");
  EXPECT_TRUE(page.hasMore);
  const auto changes = varChangesOf(resultsOf(
      R"(^done,changelist=[{name="var1",value="5",in_scope="true",type_changed="true",new_type="long",new_num_children="3",has_more="0"},{name="var2",in_scope="invalid",type_changed="false"},{name="var3",in_scope="false"}])")
                                        ["changelist"]);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].newType, "long");
  EXPECT_EQ(changes[0].newChildren, 3);
  EXPECT_TRUE(changes[1].invalid);
  EXPECT_FALSE(changes[2].inScope);
}

TEST(Records, FirstUserFrame) {
  const auto frame = [](const char* function, const char* from) {
    Frame f;
    f.address = 1;
    f.function = function;
    f.from = from;
    return f;
  };
  std::vector<Frame> frames{frame("pf_stop_at_event", ""),
                            frame("MPI_Recv", "/opt/lib/libphotofinish_mpi.so"),
                            frame("MPI_RECV", "/usr/lib/libmpi_mpifh.so.40"),
                            frame("compute", "/home/me/libcompute.so"), frame("main", "")};
  EXPECT_EQ(firstUserFrame(frames), 3U);
  frames.resize(3);
  EXPECT_EQ(firstUserFrame(frames), std::nullopt);
  EXPECT_FALSE(isLibraryFrame(frame("f", "/home/me/libcomm.so")));
  EXPECT_TRUE(isLibraryFrame(frame("f", "/lib/x86_64-linux-gnu/libc.so.6")));
  for (const char* of : {"libmpich.so.12", "libucp.so.0", "ucx/libuct_cma.so.0", "libucs.so.0"}) {
    EXPECT_TRUE(isLibraryFrame(frame("", ("/lib/x86_64-linux-gnu/" + std::string(of)).c_str())));
  }
  EXPECT_FALSE(isLibraryFrame(frame("f", "/home/me/libucpp.so")));
  // The second part of a wrapper has the call's name; a function of the program keeps its own.
  Frame rest = frame("restIbcast", "/opt/lib/libphotofinish_mpich.so");
  nameCall(rest);
  EXPECT_EQ(rest.function, "MPI_Ibcast");
  Frame restart = frame("restart", "/home/me/app");
  nameCall(restart);
  EXPECT_EQ(restart.function, "restart");
}

TEST(Records, LibrariesThreadsVersion) {
  const auto libraries = librariesOf(resultsOf(
      R"(=library-loaded,target-name="/l/libm.so",ranges=[{from="0x10",to="0x20"},{from="0x30",to="0x30"}])"));
  ASSERT_EQ(libraries.size(), 1U);
  EXPECT_EQ(libraries[0].to, 0x20U);
  const auto threads = threadsOf(resultsOf(
      R"(^done,threads=[{id="2",target-id="T",name="n",state="running"},{id="1",frame={level="0",func="f"},state="stopped"}])")
                                     ["threads"]);
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_TRUE(threads[0].running);
  EXPECT_EQ(threads[1].frame.function, "f");
  EXPECT_EQ(gdbVersionOf("GNU gdb (Debian 13.1-3) 13.1\nmore"), (std::pair{13, 1}));
  EXPECT_EQ(gdbVersionOf("GNU gdb (GDB) Red Hat Enterprise Linux 8.2-20.el8"), (std::pair{8, 2}));
  EXPECT_EQ(gdbVersionOf("GNU gdb (GDB) 15.0.50.20240101-git"), (std::pair{15, 0}));
  for (const char* bad : {"", "lldb 14", "GNU gdb", "GNU gdb x.y", "GNU gdb 9"}) {
    EXPECT_EQ(gdbVersionOf(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace pf::mi
