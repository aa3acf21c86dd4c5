// SPDX-License-Identifier: GPL-3.0-or-later
// Files, directories, links and variables that a program looks at: which of them are kept, by which
// name, and what a replay says of those that have changed.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/rank_run.h"
#include "replay_engine/rank/tests/recorded_inputs.h"

PF_PROGRAMS(int, open, const char* path, int flags, ...);
PF_PROGRAMS(int, openat, int from, const char* path, int flags, ...);
PF_PROGRAMS(std::FILE*, fopen, const char* path, const char* mode);
PF_PROGRAMS(ssize_t, read, int fd, void* to, std::size_t size);
PF_PROGRAMS(int, dup, int fd);
PF_PROGRAMS(off_t, lseek, int fd, off_t by, int from);
PF_PROGRAMS(void*, mmap, void* wish, std::size_t size, int protection, int flags, int fd, off_t at);
PF_PROGRAMS(int, stat, const char* path, struct stat* out);
PF_PROGRAMS(int, access, const char* path, int mode);
PF_PROGRAMS(int, faccessat, int from, const char* path, int mode, int flags);
PF_PROGRAMS(DIR*, opendir, const char* path);
PF_PROGRAMS(int, glob, const char* pattern, int flags, int (*failed)(const char*, int), glob_t* to);
PF_PROGRAMS(int, nftw, const char* path, __nftw_func_t visit, int most, int flags);
PF_PROGRAMS(ssize_t, readlink, const char* path, char* to, std::size_t size);
PF_PROGRAMS(char*, realpath, const char* path, char* to);
PF_PROGRAMS(int, mkdir, const char* path, mode_t mode);
PF_PROGRAMS(int, rename, const char* path, const char* to);
PF_PROGRAMS(int, unlink, const char* path);
PF_PROGRAMS(int, chdir, const char* path);
PF_PROGRAMS(int, fcntl, int fd, int command, ...);
PF_PROGRAMS(int, flock, int fd, int operation);
PF_PROGRAMS(char*, getenv, const char* name);

namespace pf::test {
namespace {

std::string readText(int fd) {
  char text[64] = {};
  return pf_read(fd, text, sizeof text - 1) >= 0 ? text : "error";
}

class Inputs : public testing::Test {
 protected:
  /// inputsIn() a recording of it.
  std::string seenBy(const Program& program) {
    m_recorded = record(kRecordChoices, {}, program);
    EXPECT_EQ(m_recorded.ending, Ending::Finished);
    return inputsIn(logOf(m_recorded), m_directory.path());
  }
  /// What a replay of that recording says to the user.
  std::string saidByReplayOf(const Program& program) {
    testing::internal::CaptureStderr();
    replay(m_recorded, {}, program);
    return testing::internal::GetCapturedStderr();
  }
  [[nodiscard]] bool noted(NotGuaranteedKind kind) const {
    return isNoted(logOf(m_recorded), kind);
  }
  /// An absolute name, for a program.
  [[nodiscard]] const char* at(const std::string& name) {
    m_names.push_back(m_directory / name);
    return m_names.back().c_str();
  }
  int open(const std::string& name, int flags) { return pf_open(at(name), flags, 0600); }

  Directory m_directory;
  RankRun m_recorded;

 private:
  std::vector<std::string> m_names;
};

// -- files that are opened

TEST_F(Inputs, aFileIsKeptOnce) {
  m_directory.write("data");
  m_directory.write("more");
  EXPECT_EQ(seenBy([&] {
              for (int i = 0; i < 3; ++i) {
                ::close(open("data", O_RDONLY));
                std::fclose(pf_fopen(at("more"), "r"));
              }
            }),
            "File data, File more");
}

TEST_F(Inputs, aFileThatTheRunHasMadeIsNoInput) {
  EXPECT_EQ(seenBy([&] {
              const int fd = open("made", O_WRONLY | O_CREAT | O_TRUNC);
              say("%zd", ::write(fd, "text", 4));
              ::close(fd);
              ::close(open("made", O_RDONLY));
            }),
            "Written made, Young made");
}

TEST_F(Inputs, whatIsNotThereIsKeptToo) {
  m_directory.write("data");
  EXPECT_EQ(seenBy([&] {
              errno = 0;
              say("%d %d", open("none", O_RDONLY), errno == ENOENT ? 1 : 0);
              open("data/below", O_RDONLY);
              pf_fopen(at("nothing"), "r");
            }),
            "Absent none, Absent data/below, Absent nothing");
}

TEST_F(Inputs, whoCreatesAFileSeesWhetherItWasThere) {
  m_directory.write("old");
  EXPECT_EQ(seenBy([&] {
              open("new", O_WRONLY | O_CREAT | O_EXCL);
              open("old", O_WRONLY | O_CREAT | O_EXCL);
            }),
            "Written new, Absent new, Exists old");
}

/// Opened for both, a file matters once something of it is asked for.
TEST_F(Inputs, whatIsNotReadDoesNotMatter) {
  m_directory.write("a");
  m_directory.write("b");
  m_directory.write("c");
  EXPECT_EQ(seenBy([&] {
              open("a", O_RDWR);
              const int second = pf_dup(open("b", O_RDWR));
              const int third = open("c", O_RDWR);
              const std::string text = readText(second);
              say("%s %s", text.c_str(), readText(second).c_str());
              pf_lseek(third, 0, SEEK_END);  // how long is it?
            }),
            "Written a, Written b, Written c, File b, File c");
}

TEST_F(Inputs, aDescriptorThatIsUsedAgainIsAnotherFile) {
  m_directory.write("a");
  m_directory.write("b");
  EXPECT_EQ(seenBy([&] {
              const int first = open("a", O_RDWR);
              ::close(first);
              const int second = open("b", O_WRONLY | O_TRUNC);
              say("%d", first == second ? 1 : 0);
              readText(second);
            }),
            "Written a, Written b");
}

// -- names

TEST_F(Inputs, aNameIsRelativeToItsDirectory) {
  std::filesystem::create_directory(m_directory / "sub");
  m_directory.write("sub/data");
  m_directory.write("data");
  EXPECT_EQ(seenBy([&] {
              const int sub = ::open(at("sub"), O_RDONLY | O_DIRECTORY);
              ::close(pf_openat(sub, "data", O_RDONLY));
              pf_faccessat(sub, "none", F_OK, 0);
              pf_chdir(at(""));
              ::close(pf_open("data", O_RDONLY));
              ::close(pf_open("sub/../data", O_RDONLY));
            }),
            "File sub/data, Absent sub/none, Exists ., File data, File sub/../data");
}

TEST_F(Inputs, aNameThatIsTooLongIsNoted) {
  const std::string parts(1100, '/');
  m_directory.write("data");
  EXPECT_EQ(seenBy([&] { ::close(open(parts + "data", O_RDONLY)); }), "");
  EXPECT_TRUE(noted(NotGuaranteedKind::InputsLeftOut));
}

TEST_F(Inputs, aNameOfMoreThanAPieceIsWhole) {
  // With what is before the name it ends where a piece does.
  const std::size_t before = sizeof(InputFile) + 1 + m_directory.path().size() + 1;
  const std::string name((2 * kValueBytes - before) / 2, 'x');
  const std::string rest(2 * kValueBytes - before - name.size() - 1, 'y');
  EXPECT_EQ(seenBy([&] { pf_access(at(name + "/" + rest), F_OK); }), "Absent " + name + "/" + rest);
}

// -- what is asked without opening

TEST_F(Inputs, questionsForAFile) {
  m_directory.write("data");
  std::filesystem::create_directory(m_directory / "sub");
  EXPECT_EQ(seenBy([&] {
              struct stat info {};
              pf_stat(at("data"), &info);
              pf_stat(at("sub"), &info);
              pf_stat(at("none"), &info);
              pf_access(at("data"), R_OK);
              pf_access(at("nothing"), R_OK);
            }),
            "File data, Exists sub, Absent none, Exists data, Absent nothing");
}

TEST_F(Inputs, listings) {
  std::filesystem::create_directories(m_directory / "a/b");
  std::filesystem::create_directory(m_directory / "c");
  EXPECT_EQ(seenBy([&] {
              ::closedir(pf_opendir(at("a")));
              glob_t found{};
              pf_glob(at("c/*.txt"), 0, nullptr, &found);
              ::globfree(&found);
            }),
            "Directory a, Directory c/");
  EXPECT_EQ(seenBy([&] {
              pf_nftw(
                  at("a"), [](const char*, const struct stat*, int, FTW*) { return 0; }, 5, 0);
            }),
            "Directory a, Directory a/b");
}

TEST_F(Inputs, whereLinksLead) {
  std::filesystem::create_directory(m_directory / "real");
  m_directory.write("real/data");
  std::filesystem::create_symlink("real", m_directory / "way");
  std::filesystem::create_symlink("way/data", m_directory / "link");
  EXPECT_EQ(seenBy([&] {
              char to[PATH_MAX];
              say("%zd", pf_readlink(at("link"), to, sizeof to));
              pf_realpath(at("way/data"), to);
              pf_realpath("/proc/self/exe", to);
              pf_readlink(at("real/data"), to, sizeof to);
            }),
            "Link link, Link way");
}

TEST_F(Inputs, namesThatChange) {
  m_directory.write("a");
  m_directory.write("b");
  EXPECT_EQ(seenBy([&] {
              pf_mkdir(at("sub"), 0700);
              pf_mkdir(at("sub"), 0700);
              pf_rename(at("a"), at("z"));
              pf_unlink(at("b"));
              errno = 0;
              const int result = pf_unlink(at("none"));
              say("%d %d", result, errno == ENOENT ? 1 : 0);
            }),
            "Absent sub, Written sub, Exists sub, Written z, Exists a, Exists b, Absent none");
  EXPECT_EQ(m_recorded.said, "-1 1\n");
}

TEST_F(Inputs, filesOfMpi) {
  m_directory.write("data");
  m_directory.write("old");
  EXPECT_EQ(seenBy([&] {
              const InsideLibc insideMpi;
              sawMpiFile(at("data"), MPI_MODE_RDONLY);
              sawMpiFile(("ufs:" + (m_directory / "none")).c_str(), MPI_MODE_RDONLY);
              sawMpiFile(at("made"), MPI_MODE_WRONLY | MPI_MODE_CREATE);
              sawMpiFile(at("old"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
              sawMpiDelete(at("nothing"));
            }),
            "File data, Absent none, Written made, Written old, Exists old, Absent nothing");
}

// -- what no replay can give back

TEST_F(Inputs, theKernelsFilesAndPipesAreNoted) {
  ASSERT_EQ(::mkfifo(at("pipe"), 0600), 0);
  seenBy([&] { ::close(pf_open("/proc/self/status", O_RDONLY)); });
  EXPECT_TRUE(noted(NotGuaranteedKind::KernelFile));
  EXPECT_FALSE(noted(NotGuaranteedKind::Child));
  seenBy([&] { ::close(open("pipe", O_RDONLY | O_NONBLOCK)); });
  EXPECT_TRUE(noted(NotGuaranteedKind::Child));
  EXPECT_FALSE(noted(NotGuaranteedKind::KernelFile));
}

TEST_F(Inputs, locksAreNoted) {
  m_directory.write("data");
  const auto isLock = [&](const std::function<void(int)>& use) {
    seenBy([&] { use(open("data", O_RDWR)); });
    return noted(NotGuaranteedKind::FileLock);
  };
  struct flock whole {};
  whole.l_type = F_WRLCK;
  EXPECT_TRUE(isLock([](int fd) { pf_flock(fd, LOCK_EX); }));
  EXPECT_TRUE(isLock([&](int fd) { pf_fcntl(fd, F_SETLK, &whole); }));
  EXPECT_FALSE(isLock([](int fd) { pf_fcntl(fd, F_GETFL, 0); }));
}

TEST_F(Inputs, sharedMappingsThatAreWrittenAreNoted) {
  m_directory.write("data");
  const auto map = [&](int protection, int flags) {
    seenBy([&] { pf_mmap(nullptr, 4096, protection, flags, open("data", O_RDWR), 0); });
    return noted(NotGuaranteedKind::SharedMemory);
  };
  EXPECT_TRUE(map(PROT_READ | PROT_WRITE, MAP_SHARED));
  EXPECT_FALSE(map(PROT_READ | PROT_WRITE, MAP_PRIVATE));
  EXPECT_FALSE(map(PROT_READ, MAP_SHARED));
  EXPECT_EQ(inputsIn(logOf(m_recorded), m_directory.path()), "Written data, File data");
}

// -- replays

TEST_F(Inputs, aReplaySaysWhatHasChanged) {
  for (const char* name : {"same", "longer", "gone"}) {
    m_directory.write(name);
  }
  const auto program = [&] {
    for (const char* name : {"same", "longer", "gone", "new"}) {
      open(name, O_RDONLY);
    }
  };
  seenBy(program);
  EXPECT_EQ(saidByReplayOf(program), "");
  m_directory.write("longer", "another text");
  std::filesystem::remove(m_directory / "gone");
  m_directory.write("new");
  const std::string said = saidByReplayOf(program);
  EXPECT_EQ(said.find("/same "), std::string::npos) << said;
  for (const char* line : {"/longer has changed since the recording: the replay may differ",
                           "/gone is gone since the recording: the replay may differ",
                           "/new was not there in the recording: the replay may differ"}) {
    EXPECT_NE(said.find(line), std::string::npos) << said;
  }
}

TEST_F(Inputs, aReplaySaysThatOfDirectoriesAndLinks) {
  std::filesystem::create_symlink("a", m_directory / "link");
  const auto program = [&] {
    char to[100];
    ::closedir(pf_opendir(at("")));
    pf_readlink(at("link"), to, sizeof to);
  };
  seenBy(program);
  EXPECT_EQ(saidByReplayOf(program), "");
  std::filesystem::remove(m_directory / "link");
  std::filesystem::create_symlink("b", m_directory / "link");
  EXPECT_NE(saidByReplayOf(program).find("/link has changed since"), std::string::npos);
  m_directory.write("more");
  EXPECT_NE(saidByReplayOf(program).find("/ has changed since"), std::string::npos);
}

/// Nor does the name of a file steer the terminal.
TEST_F(Inputs, aReplayDoesNotFillTheScreen) {
  const auto program = [&] {
    for (int i = 0; i < 50; ++i) {
      open("a\x1b[2J" + std::to_string(i), O_RDONLY);
    }
  };
  for (int i = 0; i < 50; ++i) {
    m_directory.write("a\x1b[2J" + std::to_string(i));
  }
  seenBy(program);
  std::filesystem::remove_all(m_directory.path());
  const std::string said = saidByReplayOf(program);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 8);
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  EXPECT_NE(said.find("a?[2J0 is gone"), std::string::npos) << said;
}

// -- variables

TEST(Variables, areKeptByNameOnceAndNeverByValue) {
  ::setenv("PF_TEST_TOKEN", "t0psecret", 1);
  const RankRun recorded = record(kRecordChoices, {}, [] {
    for (int i = 0; i < 3; ++i) {
      say("%s", pf_getenv("PF_TEST_TOKEN"));
      say("%d", pf_getenv("PF_TEST_NONE") == nullptr ? 1 : 0);
    }
    const InsideLibc inside;
    pf_getenv("PF_TEST_INSIDE");
  });
  ::unsetenv("PF_TEST_TOKEN");
  EXPECT_EQ(recorded.said, "t0psecret\n1\nt0psecret\n1\nt0psecret\n1\n");
  EXPECT_EQ(variablesIn(logOf(recorded)), "PF_TEST_TOKEN PF_TEST_NONE");
  const std::string bytes(recorded.log.begin(), recorded.log.end());
  EXPECT_EQ(bytes.find("t0psecret"), std::string::npos);
}

TEST(Variables, thatWereAskedForBeforeMpiInit) {
  const RankRun recorded =
      run({}, [] { pf_getenv("PF_TEST_LATE"); }, {.mode = kRecordChoices, .early = [] {
                                                    pf_getenv("PF_TEST_EARLY");
                                                    pf_getenv("PF_TEST_LATE");
                                                  }});
  EXPECT_EQ(variablesIn(logOf(recorded)), "PF_TEST_EARLY PF_TEST_LATE");
}

TEST(Variables, manyNamesWithTheSamePlaceInTheTable) {
  constexpr int kMany = 600;  // the table has 256
  const RankRun recorded = record(kRecordChoices, {}, [] {
    for (int i = 0; i < 2 * kMany; ++i) {
      pf_getenv(("PF_TEST_" + std::to_string(i % kMany)).c_str());
    }
  });
  std::string expected;
  for (int i = 0; i < kMany; ++i) {
    expected += (i == 0 ? "PF_TEST_" : " PF_TEST_") + std::to_string(i);
  }
  EXPECT_EQ(variablesIn(logOf(recorded)), expected);
}

}  // namespace
}  // namespace pf::test
