// SPDX-License-Identifier: GPL-3.0-or-later
// The lessons of `photofinish tutorial`: each a directory NN-name of data (share/tutorial), with lesson.txt,
// README.md, solution.md and the files of its program.
#pragma once

#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

struct Lesson {
  unsigned number = 0;    ///< from 1
  std::string name;       ///< of its directory, without the number
  std::string title;      ///< what one sees of the bug
  std::string language;   ///< C, Fortran, C++ or Python
  std::string learn;      ///< what of Photofinish it teaches
  unsigned minutes = 0;   ///< that it takes
  std::string directory;  ///< where its data are
};

/// Where the lessons are: installed, or in the tree of a build. NotFound: nowhere.
Result<std::string> tutorialDirectory();

/// All lessons in `directory`, by their numbers. Damaged: one that has not all it needs, or numbers that do not
/// count from 1.
Result<std::vector<Lesson>> readLessons(const std::string& directory);

/// Usage: `number` is none, or `lessons` has none of this number.
Result<Lesson> lessonOf(const std::vector<Lesson>& lessons, const std::string& number);

/// A line for each lesson, and the minutes of all.
std::string lessonTable(const std::vector<Lesson>& lessons);

/// Where a lesson goes if nobody says where: photofinish-tutorial/1-first-come.
std::string usualDirectory(const Lesson& lesson);

/// Writes the lesson's files, all but lesson.txt and solution.md, into `target`, which is made; their names.
/// Usage: one of them is there already; System: cannot be written. No file of it is left then.
Result<std::vector<std::string>> writeLesson(const Lesson& lesson, const std::string& target);

/// The section "What fails" of its README.md, without the heading. Damaged: there is none.
Result<std::string> firstSteps(const Lesson& lesson);

/// What begins it, as its first steps have it.
struct LessonStart {
  std::string build;  ///< a command, in its directory; empty: there is nothing to build
  std::vector<std::string> options;  ///< of `photofinish record`, but for -o
  std::string command;               ///< launcher and program
};
/// Damaged: its first steps record nothing.
Result<LessonStart> startOf(const Lesson& lesson);

/// All of its README.md.
Result<std::string> textOf(const Lesson& lesson);

/// Its solution.md.
Result<std::string> solutionOf(const Lesson& lesson);

}  // namespace pf::app
