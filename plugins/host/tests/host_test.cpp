// SPDX-License-Identifier: MIT
// Plugins as they are found, tried, loaded and refused.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "plugins/host/loading.h"
#include "plugins/host/trusted_path.h"

namespace pf::plugins {
namespace {

constexpr std::chrono::milliseconds kSoon{700};

std::string made(const std::string& name) {
  return std::string(PF_MADE_PLUGINS) + "/" + name + ".so";
}

/// A directory that nobody else can write; it is removed with what is in it.
class Directory {
 public:
  Directory() {
    char name[] = "/tmp/plugins_XXXXXX";
    m_path = mkdtemp(name);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] const std::string& path() const { return m_path; }
  std::string add(const std::string& plugin, const std::string& name = "") const {
    const std::string to = m_path + "/" + (name.empty() ? plugin : name) + ".so";
    std::ofstream(to, std::ios::binary) << std::ifstream(made(plugin), std::ios::binary).rdbuf();
    chmod(to.c_str(), 0755);
    return to;
  }

 private:
  std::string m_path;
};

std::string whyNot(const Result<Plugin>& plugin) {
  return plugin ? "it is loaded" : plugin.error().message;
}

TEST(Loading, whole) {
  for (const Result<Plugin>& plugin : {probe(made("whole")), load(made("whole"))}) {
    ASSERT_TRUE(plugin) << plugin.error().text();
    EXPECT_EQ(plugin->name, "whole");
    EXPECT_EQ(plugin->version, "1.2");
    EXPECT_EQ(plugin->about, "Has one of each.");
    ASSERT_EQ(plugin->parts.size(), 4U);
    EXPECT_EQ(plugin->parts[0].kind, PartKind::Pane);
    EXPECT_EQ(plugin->parts[0].id, "bars");
    EXPECT_EQ(plugin->parts[0].help, "Bars of ranks.");
    EXPECT_EQ(plugin->parts[3].kind, PartKind::Command);
  }
  EXPECT_EQ(probe(made("whole"))->parts[1].write, nullptr);
  EXPECT_NE(load(made("whole"))->parts[1].write, nullptr);
}

TEST(Loading, otherVersionsAreRefusedBeforeAnythingIsCalled) {
  EXPECT_NE(whyNot(load(made("former"))).find("is made for version 77 of the plugin interface"),
            std::string::npos);
  EXPECT_EQ(load(made("former")).error().code, ErrorCode::Version);
  EXPECT_NE(whyNot(load(made("newer"))).find("needs revision 999"), std::string::npos);
}

TEST(Loading, whatThrowsCrashesHangsOrEnds) {
  EXPECT_EQ(whyNot(load(made("throws"))), "plugin throws failed: there is no colour left");
  EXPECT_EQ(whyNot(probe(made("throws"))), "plugin throws failed: there is no colour left");
  EXPECT_NE(whyNot(probe(made("crashes"))).find("it crashed (Segmentation fault)"),
            std::string::npos);
  EXPECT_NE(whyNot(probe(made("hangs"), kSoon)).find("it did not come back in"), std::string::npos);
  EXPECT_NE(whyNot(probe(made("leaves"))).find("ended its process with status 7"),
            std::string::npos);
}

/// What is tried does not go on when the one who tries it is killed.
TEST(Loading, aHangingOneEndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // the child holds its end as long as it lives
  const pid_t tries = fork();
  ASSERT_GE(tries, 0);
  if (tries == 0) {
    close(ends[0]);
    (void)probe(made("hangs"), std::chrono::minutes(1));
    _exit(0);
  }
  close(ends[1]);
  usleep(300000);
  kill(tries, SIGKILL);
  waitpid(tries, nullptr, 0);
  pollfd gone{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&gone, 1, 5000), 1);
  close(ends[0]);
}

TEST(Loading, whatIsNoPlugin) {
  const Directory directory;
  std::ofstream(directory.path() + "/junk.so") << "not a library";
  EXPECT_NE(whyNot(load(directory.path() + "/junk.so")).find("cannot be loaded"),
            std::string::npos);
  EXPECT_NE(whyNot(load(made("unlinked"))).find("notThere"), std::string::npos);
  EXPECT_NE(whyNot(load(made("nothing"))).find("it gives nothing"), std::string::npos);
  EXPECT_NE(whyNot(load(made("nameless"))).find("the id of its exporter"), std::string::npos);
  EXPECT_FALSE(pluginOf(nullptr, "/a.so"));
}

TEST(Registry, namesAreTakenOnce) {
  Registry registry;
  EXPECT_TRUE(registry.add({"a", "1", "", "", {described(PartKind::Pane, {"p", "P", ""})}}));
  const Status same = registry.add({"a", "2", "", "/b.so", {}});
  ASSERT_FALSE(same);
  EXPECT_NE(same.error().message.find("plugin a is of Photofinish itself"), std::string::npos);
  const Status pane = registry.add(
      {"b",
       "1",
       "",
       "/b.so",
       {described(PartKind::Judge, {"p", "P", ""}), described(PartKind::Pane, {"p", "P", ""})}});
  ASSERT_FALSE(pane);
  EXPECT_NE(pane.error().message.find("pane p is of"), std::string::npos);
  EXPECT_EQ(registry.find(PartKind::Judge, "p"), nullptr);  // nothing of it
  EXPECT_TRUE(registry.add({"c", "1", "", "/c.so", {described(PartKind::Judge, {"p", "P", ""})}}));
  EXPECT_EQ(registry.pluginWith(*registry.find(PartKind::Judge, "p")).name, "c");
  EXPECT_EQ(registry.parts(PartKind::Pane).size(), 1U);
}

/// Plugins of others were built with these: a change of one makes PHOTOFINISH_PLUGIN_INTERFACE go up.
TEST(Interface, structsStayAsTheyAre) {
  using namespace photofinish;
  EXPECT_EQ(PHOTOFINISH_PLUGIN_INTERFACE, 1U);
  EXPECT_EQ(sizeof(PhotofinishPlugin), 40U);
  EXPECT_EQ(sizeof(Text), 16U);
  EXPECT_EQ(sizeof(EventRef), 16U);
  EXPECT_EQ(sizeof(Event), 104U);
  EXPECT_EQ(sizeof(Message), 72U);
  EXPECT_EQ(sizeof(Receive), 56U);
  EXPECT_EQ(sizeof(Race), 56U);
  EXPECT_EQ(sizeof(Site), 40U);
  EXPECT_EQ(sizeof(Communicator), 24U);
  EXPECT_EQ(sizeof(Rank), 32U);
  EXPECT_EQ(sizeof(Description), 24U);
  EXPECT_EQ(sizeof(Words), 16U);
  EXPECT_EQ(sizeof(Verdict), 24U);
}

TEST(SearchPath, firstComesWhatIsNamed) {
  setenv("PHOTOFINISH_PLUGIN_PATH", "/one::/two", 1);
  setenv("XDG_DATA_HOME", "/data", 1);
  const std::vector<Folder> folders = searchPath("/installed");
  ASSERT_EQ(folders.size(), 4U);
  EXPECT_EQ(folders[0].path, "/one");
  EXPECT_EQ(folders[1].path, "/two");
  EXPECT_EQ(folders[2].path, "/data/photofinish/plugins");
  EXPECT_EQ(folders[3].path, "/installed");
  setenv("XDG_DATA_HOME", "relative", 1);  // XDG: to be ignored
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(searchPath("/installed")[2].path, "/home/me/.local/share/photofinish/plugins");
  unsetenv("PHOTOFINISH_PLUGIN_PATH");
}

TEST(SearchPath, whatOthersCanChangeIsRefused) {
  const Directory good;
  const Directory open;
  const std::string plugin = good.add("whole");
  good.add("whole", "writable");
  chmod((good.path() + "/writable.so").c_str(), 0777);
  open.add("whole");
  chmod(open.path().c_str(), 0777);
  Registry registry;
  EXPECT_EQ(pluginFiles({{good.path(), true},
                         {open.path(), false},
                         {"relative", true},
                         {good.path() + "/none", true},
                         {good.path() + "/none", false}},
                        registry),
            std::vector<std::string>{plugin});
  ASSERT_EQ(registry.refused().size(), 4U);
  EXPECT_NE(registry.refused()[0].why.message.find("writable.so: others may write it"),
            std::string::npos);
  EXPECT_NE(registry.refused()[1].why.message.find("others may write it"), std::string::npos);
  EXPECT_NE(registry.refused()[2].why.message.find("not absolute"), std::string::npos);
  EXPECT_NE(registry.refused()[3].why.message.find("does not exist"), std::string::npos);
  EXPECT_FALSE(checkTrustedPath("/tmp"));  // sticky protects what is in it, not new names
}

TEST(SearchPath, whatBelongsToOthersIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs two users";
  }
  const Directory directory;
  const std::string plugin = directory.add("whole");
  ASSERT_EQ(chown(plugin.c_str(), 65534, 65534), 0);
  Registry registry;
  EXPECT_TRUE(pluginFiles({{directory.path(), true}}, registry).empty());
  ASSERT_EQ(registry.refused().size(), 1U);
  EXPECT_NE(registry.refused()[0].why.message.find("belongs to another user"), std::string::npos);
}

TEST(SearchPath, allAreLoadedOrRefused) {
  const Directory first;
  const Directory second;
  first.add("whole");
  first.add("throws");
  second.add("whole", "again");
  setenv("PHOTOFINISH_PLUGIN_PATH", (first.path() + ":" + second.path()).c_str(), 1);
  setenv("XDG_DATA_HOME", "/nowhere", 1);
  Registry loaded;
  loadAll("/nowhere/plugins", loaded);
  Registry described;
  describeAll("/nowhere/plugins", described);
  for (const Registry* const registry : {&loaded, &described}) {
    ASSERT_EQ(registry->plugins().size(), 1U);
    EXPECT_EQ(registry->plugins()[0]->path, first.path() + "/whole.so");
    ASSERT_EQ(registry->refused().size(), 2U);
    EXPECT_NE(registry->refused()[0].why.message.find("no colour left"), std::string::npos);
    EXPECT_NE(registry->refused()[1].why.message.find("the name is taken"), std::string::npos);
  }
  EXPECT_NE(loaded.find(PartKind::Command, "count")->run, nullptr);
  EXPECT_EQ(described.find(PartKind::Command, "count")->run, nullptr);
  unsetenv("PHOTOFINISH_PLUGIN_PATH");
}

}  // namespace
}  // namespace pf::plugins
