// SPDX-License-Identifier: GPL-3.0-or-later
// A SAT solver that is asked again and again, until a moment. CaDiCaL (Biere, Fazekas, Fleury, Heisinger:
// CaDiCaL, Kissat, Paracooba, Plingeling and Treengeling, SAT Competition 2020). Private to the prediction.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace pf::prediction {

/// A variable, counted from 1, or its negation: minus it.
using Literal = int;
using Clause = std::vector<Literal>;
using Deadline = std::chrono::steady_clock::time_point;

enum class Answer { Yes, No, NotDecided };

class SatSolver {
 public:
  SatSolver();
  ~SatSolver();
  SatSolver(const SatSolver&) = delete;
  SatSolver& operator=(const SatSolver&) = delete;

  [[nodiscard]] Literal newVariable() { return ++m_variables; }
  [[nodiscard]] int variables() const { return m_variables; }
  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }
  void add(std::span<const Literal> clause);
  /// What to try first.
  void prefer(Literal literal);
  /// Whether all clauses can hold together with `assumed`.
  [[nodiscard]] Answer solve(std::span<const Literal> assumed, Deadline deadline);
  /// After Answer::Yes, until the next solve().
  [[nodiscard]] bool holds(Literal literal) const {
    const bool positive = m_values[static_cast<std::size_t>(literal < 0 ? -literal : literal)];
    return literal < 0 ? !positive : positive;
  }

 private:
  struct Solver;
  std::unique_ptr<Solver> m_solver;
  int m_variables = 0;
  std::vector<bool> m_values;
};

}  // namespace pf::prediction
