// SPDX-License-Identifier: GPL-3.0-or-later
// Reports and sessions: nobody else reads them, and no planted link leads them elsewhere.
#include "app/files/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

constexpr uid_t kNobody = 65534;

class PrivateFileTest : public testing::Test {
 protected:
  PrivateFileTest() : m_umask(::umask(0)) {
    if (::mkdtemp(m_directory.data()) == nullptr) {
      std::abort();
    }
  }
  ~PrivateFileTest() override {
    ::umask(m_umask);
    std::error_code ignored;
    std::filesystem::remove_all(m_directory, ignored);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return m_directory + "/" + name; }
  static std::string contentOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static mode_t modeOf(const std::string& path) {
    struct stat there {};
    return ::lstat(path.c_str(), &there) == 0 ? there.st_mode & 07777U : 0;
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(m_directory), {});
  }

 private:
  mode_t m_umask;
  std::string m_directory = testing::TempDir() + "pf_private-XXXXXX";
};

TEST_F(PrivateFileTest, IsForItsUserAloneWhateverTheUmask) {
  ASSERT_TRUE(writePrivateFile(at("r"), "one", "").ok());
  EXPECT_EQ(modeOf(at("r")), 0600U);
  EXPECT_EQ(contentOf(at("r")), "one");
  ::umask(0777);
  ASSERT_TRUE(writePrivateFile(at("s"), "two", "").ok());
  EXPECT_EQ(modeOf(at("s")), 0600U);
}

TEST_F(PrivateFileTest, OneThatAllCouldReadIsReplaced) {
  std::ofstream(at("r")) << "older";
  ASSERT_EQ(modeOf(at("r")), 0666U);
  std::ifstream reader(at("r"));  // somebody who has it open already
  ASSERT_TRUE(writePrivateFile(at("r"), "newer", "").ok());
  EXPECT_EQ(modeOf(at("r")), 0600U);
  EXPECT_EQ(contentOf(at("r")), "newer");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "older");
  EXPECT_EQ(files(), 1);
}

TEST_F(PrivateFileTest, FollowsTheUsersOwnLink) {
  std::filesystem::create_directory(at("d"));
  std::filesystem::create_symlink("d/there", at("r"));
  ASSERT_TRUE(writePrivateFile(at("r"), "one", "").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(at("r")));
  EXPECT_EQ(contentOf(at("d/there")), "one");
  EXPECT_EQ(modeOf(at("d/there")), 0600U);
  std::filesystem::create_symlink("round", at("round"));
  EXPECT_FALSE(writePrivateFile(at("round"), "one", "").ok());
}

TEST_F(PrivateFileTest, RefusesTheLinkOfSomebodyElse) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs another user";
  }
  std::ofstream(at("victim")) << "thesis";
  for (const char* target : {"victim", "not there"}) {
    std::filesystem::remove(at("r"));
    std::filesystem::create_symlink(at(target), at("r"));
    ASSERT_EQ(::lchown(at("r").c_str(), kNobody, kNobody), 0);
    const Status written = writePrivateFile(at("r"), "one", "Give another name.");
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().message.find("symbolic link"), std::string::npos);
    EXPECT_EQ(written.error().advice, "Give another name.");
  }
  EXPECT_EQ(contentOf(at("victim")), "thesis");
  EXPECT_EQ(files(), 2);
}

TEST_F(PrivateFileTest, NothingIsLeftOfOneThatCannotBeWritten) {
  std::filesystem::create_directory(at("d"));
  const Status written = writePrivateFile(at("d"), "one", "Give another name.");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().advice, "Give another name.");
  EXPECT_FALSE(writePrivateFile(at("nowhere/r"), "one", "").ok());
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace pf::app
