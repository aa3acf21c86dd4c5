// SPDX-License-Identifier: GPL-3.0-or-later
// Lessons: read, handed out, and never written over what is there.
#include "app/tutorial/lessons.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "app/tutorial/lesson_tools.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFacts = "title: A bug\nlanguage: C\nlearn: races\nminutes: 5\n";

class LessonsTest : public testing::Test {
 protected:
  LessonsTest() {
    if (::mkdtemp(m_directory.data()) == nullptr) {
      std::abort();
    }
  }
  ~LessonsTest() override {
    std::error_code ignored;
    fs::remove_all(m_directory, ignored);
    ::setenv("PATH", m_path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  [[nodiscard]] std::string at(const std::string& name) const { return m_directory + "/" + name; }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(at(name)).parent_path());
    std::ofstream(at(name)) << text;
  }
  void putLesson(const std::string& name, const std::string& facts = kFacts) const {
    put("share/" + name + "/lesson.txt", facts);
    put("share/" + name + "/README.md", "# Lesson\n\n## What fails\n\nIt.\n\n## Find it\n");
    put("share/" + name + "/solution.md", "the answer\n");
    put("share/" + name + "/bug.c", "int main(void) {}\n");
  }
  static std::string contentOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] Result<std::vector<Lesson>> read() const { return readLessons(at("share")); }
  [[nodiscard]] Lesson first() const { return read().value().front(); }
  /// A program of this name is in the only directory of PATH, and ends so.
  void putProgram(const std::string& name, int status) const {
    put("bin/" + name, "#!/bin/sh\nexit " + std::to_string(status) + "\n");
    ASSERT_EQ(::chmod(at("bin/" + name).c_str(), 0755), 0);
    ASSERT_EQ(::setenv("PATH", at("bin").c_str(), 1), 0);  // NOLINT(concurrency-mt-unsafe)
  }

 private:
  const std::string m_path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::string m_directory = testing::TempDir() + "pf_lessons-XXXXXX";
};

TEST_F(LessonsTest, OfTheTreeAreEightInFourLanguagesAndTakeAnHour) {
  const Result<std::vector<Lesson>> lessons = readLessons(PF_TUTORIAL);
  ASSERT_TRUE(lessons.ok()) << lessons.error().text();
  EXPECT_EQ(lessons->size(), 8U);
  unsigned minutes = 0;
  std::string languages;
  for (const Lesson& lesson : *lessons) {
    minutes += lesson.minutes;
    languages += lesson.language + " ";
    EXPECT_TRUE(firstSteps(lesson).ok()) << lesson.name;
    EXPECT_TRUE(solutionOf(lesson).ok()) << lesson.name;
  }
  EXPECT_LE(minutes, 60U);
  for (const std::string language : {"C ", "C++ ", "Fortran ", "Python "}) {
    EXPECT_NE(languages.find(language), std::string::npos) << language;
  }
}

TEST_F(LessonsTest, WhatBeginsOneIsInItsFirstSteps) {
  const Result<std::vector<Lesson>> lessons = readLessons(PF_TUTORIAL);
  ASSERT_TRUE(lessons.ok());
  for (const Lesson& lesson : *lessons) {
    const Result<LessonStart> start = startOf(lesson);
    ASSERT_TRUE(start.ok()) << lesson.name;
    EXPECT_EQ(start->build.empty(), lesson.language == "Python") << start->build;
    EXPECT_TRUE(start->command.starts_with("mpirun --oversubscribe -n ")) << start->command;
    EXPECT_TRUE(start->options.front() == "--until-failure" ||
                start->options.front() == "--end-stuck")
        << lesson.name;
  }
  EXPECT_EQ(startOf(lessons->front())->build, "mpicc -g -O0 -o sentence sentence.c");
  const Result<LessonStart> bank = startOf(lessons->at(6));
  EXPECT_EQ(bank->options, (std::vector<std::string>{"--until-failure", "--groups", "each"}));
  EXPECT_EQ(bank->command, "mpirun --oversubscribe -n 4 python3 bank.py");
  putLesson("01-first");
  EXPECT_EQ(startOf(first()).error().code, ErrorCode::Damaged) << "it records nothing";
}

TEST_F(LessonsTest, AreInTheOrderOfTheirNumbers) {
  putLesson("02-second");
  putLesson("01-first");
  const auto lessons = read();
  ASSERT_TRUE(lessons.ok());
  ASSERT_EQ(lessons->size(), 2U);
  EXPECT_EQ(lessons->front().name, "first");
  EXPECT_EQ(lessons->front().minutes, 5U);
  EXPECT_EQ(usualDirectory(lessons->back()), "photofinish-tutorial/2-second");
  EXPECT_EQ(lessonTable(*lessons),
            "1  A bug (C, 5 minutes)\n   races\n2  A bug (C, 5 minutes)\n   races\n"
            "All of them take about 10 minutes. 'photofinish tutorial 1' begins with the first.\n");
}

TEST_F(LessonsTest, ThatAreNotWholeAreDamaged) {
  EXPECT_EQ(read().error().code, ErrorCode::Damaged);  // no directory
  fs::create_directories(at("share"));
  EXPECT_EQ(read().error().code, ErrorCode::Damaged);  // an empty one
  putLesson("02-second");
  EXPECT_NE(read().error().message.find("lesson 1 is not in"), std::string::npos);
  putLesson("01-first", "title: A bug\nlanguage: C\nminutes: 5\n");
  EXPECT_NE(read().error().message.find("01-first lacks"), std::string::npos);
  putLesson("01-first", "title: A bug\nlanguage: C\nlearn: races\nminutes: five\n");
  EXPECT_EQ(read().error().code, ErrorCode::Damaged);
  fs::remove(at("share/01-first/lesson.txt"));
  EXPECT_NE(read().error().message.find("cannot read"), std::string::npos);
}

TEST_F(LessonsTest, ANumberThatNoneHasIsBadUse) {
  putLesson("01-first");
  const auto lessons = read();
  EXPECT_EQ(lessonOf(*lessons, "1")->name, "first");
  EXPECT_EQ(lessonOf(*lessons, "01")->name, "first");
  for (const std::string number : {"0", "2", "-1", "1x", "first", "", "4294967297"}) {
    const auto none = lessonOf(*lessons, number);
    ASSERT_FALSE(none.ok()) << number;
    EXPECT_EQ(none.error().code, ErrorCode::Usage);
    EXPECT_NE(none.error().advice.find("There are 1 to 1"), std::string::npos);
  }
}

TEST_F(LessonsTest, AreHandedOutWithoutTheirAnswer) {
  putLesson("01-first");
  const auto files = writeLesson(first(), at("to/here"));
  ASSERT_TRUE(files.ok()) << files.error().text();
  EXPECT_EQ(*files, (std::vector<std::string>{"README.md", "bug.c"}));
  EXPECT_EQ(contentOf(at("to/here/bug.c")), "int main(void) {}\n");
  EXPECT_FALSE(fs::exists(at("to/here/solution.md")));
  EXPECT_EQ(*solutionOf(first()), "the answer\n");
  EXPECT_EQ(*firstSteps(first()), "\nIt.\n");
}

TEST_F(LessonsTest, NothingIsOverwritten) {
  putLesson("01-first");
  put("to/bug.c", "mine\n");
  const auto refused = writeLesson(first(), at("to"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_NE(refused.error().message.find("bug.c is there already"), std::string::npos);
  EXPECT_NE(refused.error().advice.find("photofinish tutorial 1 DIRECTORY"), std::string::npos);
  EXPECT_EQ(contentOf(at("to/bug.c")), "mine\n");
  EXPECT_FALSE(fs::exists(at("to/README.md")));
  // A link that leads nowhere is something, too; a file is no directory; an empty directory will do.
  fs::create_directories(at("linked"));
  fs::create_symlink(at("elsewhere"), at("linked/bug.c"));
  EXPECT_FALSE(writeLesson(first(), at("linked")).ok());
  EXPECT_FALSE(fs::exists(at("elsewhere")));
  EXPECT_EQ(writeLesson(first(), at("to/bug.c")).error().code, ErrorCode::Usage);
  fs::create_directories(at("empty"));
  EXPECT_TRUE(writeLesson(first(), at("empty")).ok());
}

TEST_F(LessonsTest, ADirectoryThatCannotBeWrittenIsTold) {
  putLesson("01-first");
  const auto refused = writeLesson(first(), "/proc/here");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::System);
  EXPECT_NE(refused.error().message.find("cannot write /proc/here"), std::string::npos);
  EXPECT_NE(refused.error().advice.find("that you may write to"), std::string::npos);
}

TEST_F(LessonsTest, WhatIsNotInstalledIsNamedWithItsPackage) {
  putLesson("01-first");
  const auto needs = [this](const std::string& language) {
    Lesson lesson = first();
    lesson.language = language;
    return hasTools(lesson);
  };
  putProgram("gdb", 0);
  EXPECT_NE(needs("C").error().advice.find("openmpi-bin"), std::string::npos);
  putProgram("mpirun", 0);
  EXPECT_EQ(needs("C").error().code, ErrorCode::NotFound);
  EXPECT_EQ(needs("C").error().advice, "Debian: apt-get install libopenmpi-dev gcc");
  putProgram("mpicc", 0);
  EXPECT_TRUE(needs("C").ok());
  EXPECT_EQ(needs("C++").error().message, "mpicxx is not there");
  putProgram("mpifort", 1);  // a wrapper without its compiler
  EXPECT_NE(needs("Fortran").error().message.find("finds no Fortran compiler"), std::string::npos);
  putProgram("python3", 1);
  EXPECT_NE(needs("Python").error().message.find("has no mpi4py"), std::string::npos);
  EXPECT_NE(needs("Python").error().advice.find("python3-mpi4py, and take its"), std::string::npos);
  putProgram("python3", 0);
  EXPECT_TRUE(needs("Python").ok());
  EXPECT_EQ(needs("Pascal").error().code, ErrorCode::Damaged);
}

}  // namespace
}  // namespace pf::app
