// SPDX-License-Identifier: MIT
// In the replay of a part of a job the environment says which rank of the recorded job this is. The MPI library starts in the
// smaller job that the launcher made: while it does, the environment is the launcher's.
#pragma once

namespace pf {

class LaunchersPlace {
 public:
  LaunchersPlace();
  ~LaunchersPlace();
  LaunchersPlace(const LaunchersPlace&) = delete;
  LaunchersPlace& operator=(const LaunchersPlace&) = delete;

 private:
  static constexpr int kMost = 32;
  struct Variable {
    char* name;
    char* program;  ///< value, null: not set
  };
  void put(char* entry);

  char* m_text = nullptr;  ///< names lie in it
  Variable m_variables[kMost];
  int m_count = 0;
};

}  // namespace pf
