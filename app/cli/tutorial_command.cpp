// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/tutorial/lesson_tools.h"
#include "app/tutorial/lessons.h"

namespace pf::cli {
namespace {

struct TutorialWords {
  std::string number;  ///< empty: all are listed
  std::string directory;
  bool solution = false;
};

Status wordsFit(const TutorialWords& words) {
  if (words.solution && words.number.empty()) {
    return Error{ErrorCode::Usage, "--solution of which lesson?",
                 "Give its number: photofinish tutorial 1 --solution"};
  }
  if (words.solution && !words.directory.empty()) {
    return Error{ErrorCode::Usage,
                 "--solution prints the answer, and writes nothing to " + words.directory,
                 "Leave out the directory, or --solution."};
  }
  return {};
}

/// What there is, and the first steps.
std::string begun(const std::string& target, const std::vector<std::string>& files,
                  const app::Lesson& lesson, const std::string& steps) {
  std::string text = "Lesson " + std::to_string(lesson.number) + ", " + lesson.title + ", is in " +
                     target + ":\n ";
  for (const std::string& file : files) {
    text += " " + file;
  }
  return text + "\n\nFirst steps (README.md has all):\n\n    $ cd " + target + "\n" + steps;
}

int write(const app::Lesson& lesson, const TutorialWords& words) {
  if (const Status tools = app::hasTools(lesson); !tools) {
    return fail(tools.error());
  }
  const Result<std::string> steps = app::firstSteps(lesson);
  if (!steps) {
    return fail(steps.error());
  }
  const std::string target =
      words.directory.empty() ? app::usualDirectory(lesson) : words.directory;
  const Result<std::vector<std::string>> files = app::writeLesson(lesson, target);
  if (!files) {
    return fail(files.error());
  }
  show(begun(target, *files, lesson, *steps));
  return 0;
}

int tutorial(const TutorialWords& words) {
  if (const Status fit = wordsFit(words); !fit) {
    return fail(fit.error());
  }
  const Result<std::string> directory = app::tutorialDirectory();
  if (!directory) {
    return fail(directory.error());
  }
  const Result<std::vector<app::Lesson>> lessons = app::readLessons(*directory);
  if (!lessons) {
    return fail(lessons.error());
  }
  if (words.number.empty()) {
    show(app::lessonTable(*lessons));
    return 0;
  }
  const Result<app::Lesson> lesson = app::lessonOf(*lessons, words.number);
  if (!lesson) {
    return fail(lesson.error());
  }
  return words.solution ? print(app::solutionOf(*lesson), false) : write(*lesson, words);
}

}  // namespace

void addTutorial(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<TutorialWords>();
  CLI::App* command = parser.add_subcommand(
      "tutorial", "Eight small programs with a bug each, and how to find it: an hour");
  command->add_option("N", words->number, "lesson to begin; without it all are listed");
  command->add_option("DIRECTORY", words->directory,
                      "where its files go (default: photofinish-tutorial/N-name)");
  command->add_flag("--solution", words->solution,
                    "print the answer, with a diff that 'patch' takes");
  commands.push_back({command, [words] { return tutorial(*words); }, {}});
}

}  // namespace pf::cli
