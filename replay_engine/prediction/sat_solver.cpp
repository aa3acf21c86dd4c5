// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/sat_solver.h"

#include <cadical.hpp>

#include <cstdlib>

namespace pf::prediction {

struct SatSolver::Solver : CaDiCaL::Terminator {
  CaDiCaL::Solver solver;
  Deadline deadline;

  bool terminate() override { return std::chrono::steady_clock::now() >= deadline; }
};

SatSolver::SatSolver() : m_solver(std::make_unique<Solver>()) {
  m_solver->solver.set("quiet", 1);
  m_solver->solver.connect_terminator(m_solver.get());
}

SatSolver::~SatSolver() {
  m_solver->solver.disconnect_terminator();
}

void SatSolver::add(std::span<const Literal> clause) {
  for (const Literal literal : clause) {
    m_solver->solver.add(literal);
  }
  m_solver->solver.add(0);
}

void SatSolver::prefer(Literal literal) {
  m_solver->solver.phase(literal);
}

Answer SatSolver::solve(std::span<const Literal> assumed, Deadline deadline) {
  m_solver->deadline = deadline;
  if (m_solver->terminate()) {
    return Answer::NotDecided;
  }
  for (const Literal literal : assumed) {
    m_solver->solver.assume(literal);
  }
  const int answer = m_solver->solver.solve();
  if (answer != 10) {
    return answer == 20 ? Answer::No : Answer::NotDecided;
  }
  m_values.assign(static_cast<std::size_t>(m_variables) + 1, false);
  for (int variable = 1; variable <= m_variables; ++variable) {
    m_values[static_cast<std::size_t>(variable)] = m_solver->solver.val(variable) > 0;
  }
  return Answer::Yes;
}

}  // namespace pf::prediction
