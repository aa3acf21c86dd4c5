// SPDX-License-Identifier: GPL-3.0-or-later
// One breakpoint of any kind: what it stops at, on which ranks, who stops with them, what is done
// there.
#pragma once

#include <QDialog>

#include "views/values/debug_values.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace pf::gui {

class BreakpointDialog : public QDialog {
  Q_OBJECT
 public:
  /// Shows `breakpoint`; a new one where its id is 0.
  explicit BreakpointDialog(const values::Breakpoint& breakpoint, QWidget* parent = nullptr);
  /// What was entered. Meaningful once the dialog was accepted.
  [[nodiscard]] const values::Breakpoint& breakpoint() const { return m_breakpoint; }

  // For tests.
  [[nodiscard]] QLineEdit* place() const { return m_place; }
  [[nodiscard]] QLineEdit* condition() const { return m_condition; }
  [[nodiscard]] QLineEdit* log() const { return m_log; }
  [[nodiscard]] QLabel* problem() const { return m_problem; }
  [[nodiscard]] QPushButton* okButton() const { return m_ok; }

 private:
  void read();

  values::Breakpoint m_given;
  values::Breakpoint m_breakpoint;
  QLineEdit* m_place;
  QLineEdit* m_condition;
  QSpinBox* m_ignore;
  QLineEdit* m_ranks;
  QLineEdit* m_stops;
  QCheckBox* m_temporary;
  QLineEdit* m_log;
  QPlainTextEdit* m_commands;
  QLabel* m_problem;
  QPushButton* m_ok;
};

}  // namespace pf::gui
