// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/breakpoint_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>

#include "app/session/records/breakpoint_text.h"
#include "mi_bridge/logpoint.h"
#include "views/panes/item_views.h"

namespace pf::gui {
namespace {

constexpr int kMostIgnored = 1000000000;

QLineEdit* lineOf(const QString& text, const QString& hint, const QString& name) {
  auto* line = new QLineEdit(text);
  line->setPlaceholderText(hint);
  line->setAccessibleName(name);
  line->setMinimumWidth(460);
  return line;
}

}  // namespace

BreakpointDialog::BreakpointDialog(const values::Breakpoint& breakpoint, QWidget* parent)
    : QDialog(parent), m_given(breakpoint), m_breakpoint(breakpoint) {
  setWindowTitle(breakpoint.id == 0 ? tr("New breakpoint")
                                    : tr("Breakpoint %1").arg(breakpoint.id));
  auto* form = new QFormLayout(this);
  const bool empty =
      breakpoint.file.isEmpty() && breakpoint.function.isEmpty() && breakpoint.expression.isEmpty();
  m_place = lineOf(empty ? QString() : session::breakpointText(breakpoint),
                   tr("main.c:57, collect, watch sum, receive 0#3, message from 3 tag 7, race 2 …"),
                   tr("Where"));
  m_place->setToolTip(session::breakpointForms());
  m_condition = lineOf(breakpoint.condition, tr("an expression of the program"), tr("Condition"));
  m_ignore = new QSpinBox;
  m_ignore->setRange(0, kMostIgnored);
  m_ignore->setValue(breakpoint.ignoreCount);
  m_ignore->setAccessibleName(tr("Ignore count"));
  m_ranks = lineOf(breakpoint.ranks, tr("all, or 0, 2-4"), tr("Ranks"));
  m_stops = lineOf(values::stopsText(breakpoint), tr("rank, all, or 0, 2-4"), tr("Stops"));
  m_stops->setToolTip(
      tr("rank: only the one that came to it. all: every rank, for a logical breakpoint at the "
         "consistent cut of the event. Or the ranks that stop with it."));
  m_temporary = new QCheckBox(tr("&Temporary: off after its first hit"));
  m_temporary->setChecked(breakpoint.temporary);
  m_log = lineOf(breakpoint.log, tr("sum is {sum} of {n}"), tr("Log"));
  m_commands = new QPlainTextEdit(breakpoint.commands.join(QLatin1Char('\n')));
  m_commands->setFont(views::fixedFont());
  m_commands->setAccessibleName(tr("Commands"));
  m_commands->setPlaceholderText(
      tr("GDB commands, one a line; their output is in the GDB console"));
  m_commands->setTabChangesFocus(true);
  m_commands->setMaximumHeight(70);
  m_problem = new QLabel;
  m_problem->setTextFormat(Qt::PlainText);
  m_problem->setWordWrap(true);
  form->addRow(tr("&Where:"), m_place);
  form->addRow(tr("On &ranks:"), m_ranks);
  form->addRow(tr("&Stops:"), m_stops);
  form->addRow(tr("&Condition:"), m_condition);
  form->addRow(tr("&Ignore count:"), m_ignore);
  form->addRow(QString(), m_temporary);
  form->addRow(tr("&Log, and go on:"), m_log);
  form->addRow(tr("C&ommands:"), m_commands);
  form->addRow(m_problem);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_ok = buttons->button(QDialogButtonBox::Ok);
  form->addRow(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  for (QLineEdit* line : {m_place, m_condition, m_ranks, m_stops, m_log}) {
    connect(line, &QLineEdit::textChanged, this, &BreakpointDialog::read);
  }
  connect(m_ignore, &QSpinBox::valueChanged, this, &BreakpointDialog::read);
  connect(m_temporary, &QCheckBox::toggled, this, &BreakpointDialog::read);
  connect(m_commands, &QPlainTextEdit::textChanged, this, &BreakpointDialog::read);
  read();
}

/// Everything anew from the fields; says what cannot be.
void BreakpointDialog::read() {
  QString problem;
  const Result<values::Breakpoint> where = session::parseBreakpoint(m_place->text());
  if (where) {
    m_breakpoint = *where;
    m_breakpoint.id = m_given.id;
    m_breakpoint.enabled = m_given.enabled;
    m_breakpoint.hits = m_given.hits;
    const bool samePlace = m_given.file == m_breakpoint.file && m_given.line == m_breakpoint.line;
    m_breakpoint.lineText = samePlace ? m_given.lineText : QString();
  } else {
    problem = QString::fromStdString(where.error().text());
  }
  const bool logical = where && m_breakpoint.kind == values::BreakpointKind::Logical;
  for (QWidget* field : {static_cast<QWidget*>(m_condition), static_cast<QWidget*>(m_ignore),
                         static_cast<QWidget*>(m_log), static_cast<QWidget*>(m_commands)}) {
    field->setEnabled(!logical);  // nothing of GDB's
  }
  const Status canLog = mi::canLogIn(m_breakpoint.file.toStdString());
  if (!canLog) {
    m_log->setEnabled(!m_log->text().isEmpty());  // what is there can be taken away
  }
  m_log->setToolTip(canLog ? tr("Writes this line to the log, with rank and event, and goes on. "
                                "{EXPRESSION} is replaced by its value.")
                           : QString::fromStdString(canLog.error().text()));
  if (!logical) {
    m_breakpoint.condition = m_condition->text().trimmed();
    m_breakpoint.ignoreCount =
        m_ignore->value() != 0 ? m_ignore->value() : m_breakpoint.ignoreCount;
    m_breakpoint.log = m_log->text();
    m_breakpoint.commands = m_commands->toPlainText().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  }
  m_breakpoint.temporary = m_temporary->isChecked();
  bool ok = true;
  const QString ranks = m_ranks->text().trimmed();
  m_breakpoint.ranks = ranks == QLatin1String("all")
                           ? QString()
                           : values::rankSetText(values::parseRankSet(ranks, ok));
  if (problem.isEmpty() && !ok && ranks != QLatin1String("all")) {
    problem = tr("'%1' is no set of ranks. Write all, or for example 0, 2-4.").arg(ranks);
  }
  if (!values::setStops(m_breakpoint, m_stops->text()) && problem.isEmpty()) {
    problem = tr("'%1' does not say who stops. Write rank, all, or for example 0, 2-4.")
                  .arg(m_stops->text());
  }
  if (problem.isEmpty() && !m_breakpoint.log.isEmpty() &&
      m_breakpoint.kind != values::BreakpointKind::Code &&
      m_breakpoint.kind != values::BreakpointKind::Address) {
    problem = tr("Only a breakpoint at a line, function or address can log and go on.");
  }
  if (problem.isEmpty() && !canLog && !m_breakpoint.log.isEmpty()) {
    problem = QString::fromStdString(canLog.error().text());
  }
  if (const auto parts = mi::parseLog(m_breakpoint.log.toStdString());
      problem.isEmpty() && !parts) {
    problem = QString::fromStdString(parts.error().text());
  }
  m_problem->setText(m_place->text().isEmpty() ? session::breakpointForms() : problem);
  m_ok->setEnabled(problem.isEmpty() && !m_place->text().isEmpty());
}

}  // namespace pf::gui

#include "moc_breakpoint_dialog.cpp"
