// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tutorial/lessons.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "app/files/paths.h"
#include "app/job/job.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReadme = "README.md";
constexpr const char* kSolution = "solution.md";
constexpr const char* kFacts = "lesson.txt";
constexpr const char* kFirstSteps = "\n## What fails\n";
constexpr std::array<std::string_view, 3> kCompilers = {"mpicc ", "mpicxx ", "mpifort "};

Error damagedLesson(const std::string& what) {
  return {ErrorCode::Damaged, what, "Install Photofinish again."};
}

Result<std::string> contentOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad() || text.empty()) {
    return damagedLesson("cannot read " + path + " of the tutorial");
  }
  return text;
}

std::optional<unsigned> numberOf(const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

/// Lines "name: value".
std::map<std::string, std::string> factsOf(const std::string& text) {
  std::map<std::string, std::string> facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t colon = line.find(": "); colon != std::string::npos) {
      facts[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
  return facts;
}

/// `directory`: NN-name.
Result<Lesson> readLesson(const std::string& directory) {
  const std::string name = fileName(directory);
  const std::size_t dash = name.find('-');
  const std::optional<unsigned> number = numberOf(name.substr(0, dash));
  const Result<std::string> text = contentOf(directory + "/" + kFacts);
  if (!text) {
    return text.error();
  }
  std::map<std::string, std::string> facts = factsOf(*text);
  const std::optional<unsigned> minutes = numberOf(facts["minutes"]);
  Lesson lesson{number.value_or(0), dash == std::string::npos ? "" : name.substr(dash + 1),
                facts["title"],     facts["language"],
                facts["learn"],     minutes.value_or(0),
                directory};
  if (!number || !minutes || lesson.name.empty() || lesson.title.empty() ||
      lesson.language.empty() || lesson.learn.empty()) {
    return damagedLesson("the lesson in " + directory + " lacks its number, title, language, " +
                         "what it teaches, or its minutes");
  }
  return lesson;
}

Result<std::vector<std::string>> namesIn(const std::string& directory, bool directories) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (directories ? isDirectory(entry->path()) : isFile(entry->path())) {
      names.push_back(entry->path().filename().string());
    }
  }
  if (error) {
    return damagedLesson("cannot read " + directory + " of the tutorial: " + error.message());
  }
  std::ranges::sort(names);
  return names;
}

Error cannotWrite(const Lesson& lesson, const std::string& path, int error) {
  return {ErrorCode::System, "cannot write " + path + ": " + std::generic_category().message(error),
          "Name a directory that you may write to: photofinish tutorial " +
              std::to_string(lesson.number) + " DIRECTORY"};
}

/// 0, or errno. What is at `path` is never written to, not even behind a link.
int writeNew(const std::string& path, const std::string& text) {
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    return errno;
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) {
      const int error = errno;
      ::unlink(path.c_str());
      return error;
    }
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return 0;
}

/// Usage: one of `names` is in `target`, or that is no directory.
Status nothingThere(const Lesson& lesson, const std::string& target,
                    const std::vector<std::string>& names) {
  const std::string advice = "Name another directory: photofinish tutorial " +
                             std::to_string(lesson.number) + " DIRECTORY";
  struct stat there = {};
  if (::stat(target.c_str(), &there) == 0 && !S_ISDIR(there.st_mode)) {
    return Error{ErrorCode::Usage, target + " is there and is no directory", advice};
  }
  for (const std::string& name : names) {
    const std::string path = target + "/" + name;
    if (::lstat(path.c_str(), &there) == 0) {
      return Error{ErrorCode::Usage, path + " is there already, and is not overwritten",
                   "Go on with what is there, or remove it. " + advice};
    }
  }
  return {};
}

/// Those that are handed out.
Result<std::vector<std::string>> filesOf(const Lesson& lesson) {
  Result<std::vector<std::string>> names = namesIn(lesson.directory, false);
  if (names) {
    std::erase_if(*names,
                  [](const std::string& name) { return name == kFacts || name == kSolution; });
  }
  return names;
}

}  // namespace

Result<std::string> tutorialDirectory() {
  Result<std::string> directory = dataDirectory("tutorial");
  if (!directory) {
    return Error{directory.error().code,
                 "the tutorial is not installed: " + directory.error().message,
                 directory.error().advice};
  }
  return directory;
}

Result<std::vector<Lesson>> readLessons(const std::string& directory) {
  const Result<std::vector<std::string>> names = namesIn(directory, true);
  if (!names) {
    return names.error();
  }
  std::vector<Lesson> lessons;
  for (const std::string& name : *names) {
    Result<Lesson> lesson = readLesson(directory + "/" + name);
    if (!lesson) {
      return lesson.error();
    }
    lessons.push_back(std::move(*lesson));
  }
  std::ranges::sort(lessons, {}, &Lesson::number);
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    if (lessons[i].number != i + 1) {
      return damagedLesson("lesson " + std::to_string(i + 1) + " is not in " + directory);
    }
  }
  if (lessons.empty()) {
    return damagedLesson("no lesson is in " + directory);
  }
  return lessons;
}

Result<Lesson> lessonOf(const std::vector<Lesson>& lessons, const std::string& number) {
  const std::optional<unsigned> wanted = numberOf(number);
  if (!wanted || *wanted > lessons.size()) {
    return Error{ErrorCode::Usage, "there is no lesson '" + number + "'",
                 "There are 1 to " + std::to_string(lessons.size()) +
                     "; 'photofinish tutorial' lists them."};
  }
  return lessons[*wanted - 1];
}

std::string lessonTable(const std::vector<Lesson>& lessons) {
  std::string text;
  unsigned minutes = 0;
  for (const Lesson& lesson : lessons) {
    const std::string number = std::to_string(lesson.number);
    text += number + "  " + lesson.title + " (" + lesson.language + ", " +
            std::to_string(lesson.minutes) + " minutes)\n" + std::string(number.size() + 2, ' ') +
            lesson.learn + "\n";
    minutes += lesson.minutes;
  }
  return text + "All of them take about " + std::to_string(minutes) +
         " minutes. 'photofinish tutorial 1' begins with the first.\n";
}

std::string usualDirectory(const Lesson& lesson) {
  return "photofinish-tutorial/" + std::to_string(lesson.number) + "-" + lesson.name;
}

Result<std::vector<std::string>> writeLesson(const Lesson& lesson, const std::string& target) {
  Result<std::vector<std::string>> names = filesOf(lesson);
  if (!names) {
    return names;
  }
  std::vector<std::string> texts;
  for (const std::string& name : *names) {
    Result<std::string> text = contentOf(lesson.directory + "/" + name);
    if (!text) {
      return text.error();
    }
    texts.push_back(std::move(*text));
  }
  if (Status free = nothingThere(lesson, target, *names); !free) {
    return free.error();
  }
  std::error_code error;
  fs::create_directories(target, error);
  if (error) {
    return cannotWrite(lesson, target, error.value());
  }
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::string path = target + "/" + (*names)[i];
    if (const int failure = writeNew(path, texts[i]); failure != 0) {
      for (std::size_t made = 0; made < i; ++made) {
        ::unlink((target + "/" + (*names)[made]).c_str());
      }
      return cannotWrite(lesson, path, failure);
    }
  }
  return names;
}

Result<std::string> firstSteps(const Lesson& lesson) {
  const std::string path = lesson.directory + "/" + kReadme;
  Result<std::string> text = contentOf(path);
  if (!text) {
    return text;
  }
  const std::size_t begin = text->find(kFirstSteps);
  if (begin == std::string::npos) {
    return damagedLesson(path + " has no section 'What fails'");
  }
  const std::size_t first = begin + std::string(kFirstSteps).size();
  return text->substr(first, text->find("\n## ", first) - first);
}

Result<std::string> textOf(const Lesson& lesson) {
  return contentOf(lesson.directory + "/" + kReadme);
}

Result<LessonStart> startOf(const Lesson& lesson) {
  static constexpr std::string_view kRecord = "    $ photofinish record ";
  static constexpr std::string_view kPrompt = "    $ ";
  const Result<std::string> steps = firstSteps(lesson);
  if (!steps) {
    return steps.error();
  }
  LessonStart start;
  std::istringstream lines(*steps);
  for (std::string line; start.command.empty() && std::getline(lines, line);) {
    if (!line.starts_with(kRecord)) {
      const bool compiles = std::ranges::any_of(kCompilers, [&line](std::string_view compiler) {
        return line.starts_with(kPrompt) && line.substr(kPrompt.size()).starts_with(compiler);
      });
      start.build = compiles ? line.substr(kPrompt.size()) : start.build;
      continue;
    }
    const std::size_t launcher = line.find("mpirun ");
    std::istringstream words(line.substr(kRecord.size(), launcher - kRecord.size()));
    for (std::string word; words >> word;) {
      if (word != "-o") {
        start.options.push_back(word);
      } else {
        words >> word;  // another name is given
      }
    }
    start.command = launcher == std::string::npos ? "" : line.substr(launcher);
  }
  if (start.command.empty()) {
    return damagedLesson("the first steps of " + lesson.directory + " record nothing");
  }
  return start;
}

Result<std::string> solutionOf(const Lesson& lesson) {
  return contentOf(lesson.directory + "/" + kSolution);
}

}  // namespace pf::app
