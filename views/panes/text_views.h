// SPDX-License-Identifier: GPL-3.0-or-later
// Program output of the ranks, and the GDB console of the current rank. Plain text only: control
// and escape characters are shown as escapes.
//
// OutputView   in: append(rank, stream, bytes), setRankCount, clear        out: rankClicked(rank)
// ConsoleView  in: setRank, appendOutput, setReady, setHistory             out:
// commandEntered(rank, command)
#pragma once

#include <map>
#include <memory>

#include <QPlainTextEdit>
#include <QStringList>
#include <QWidget>

#include "views/values/output_buffer.h"

class QAction;
class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QTimer;

namespace pf::views {

class OutputView : public QWidget {
  Q_OBJECT
 public:
  explicit OutputView(QWidget* parent = nullptr, std::size_t limitBytes = std::size_t{16} << 20U);

  void append(Rank rank, OutputStream stream, const QByteArray& bytes);
  /// Ends lines without a newline (the program ended).
  void flush();
  void clear();
  void setRankCount(int ranks);
  void setFilterRank(int rank);  ///< -1 = all
  [[nodiscard]] int filterRank() const;
  [[nodiscard]] QString text() const;
  [[nodiscard]] const OutputBuffer& buffer() const { return m_buffer; }
  [[nodiscard]] QAction* clearAction() const { return m_clear; }
  [[nodiscard]] QString cutText() const;  ///< "" while nothing was cut

 Q_SIGNALS:
  void rankClicked(int rank);  ///< double click on a line

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void addLine(const OutputLine& line);
  void addLines(const std::vector<OutputLine>& lines);
  void refill();
  [[nodiscard]] bool shown(const OutputLine& line) const;
  void updateCut();

  OutputBuffer m_buffer;
  QPlainTextEdit* m_text;
  QComboBox* m_ranks;
  QCheckBox* m_errorsOnly;
  QLabel* m_cut;
  QAction* m_clear;
  QTimer* m_flushTimer;
};

enum class ConsoleText { Output, Log, Error, Echo };

class ConsoleView : public QWidget {
  Q_OBJECT
 public:
  explicit ConsoleView(QWidget* parent = nullptr);

  /// Whose console is shown; -1 = none. Each rank keeps its own text.
  void setRank(int rank);
  [[nodiscard]] int rank() const { return m_rank; }
  void appendOutput(int rank, const QString& text, ConsoleText kind = ConsoleText::Output);
  /// Whether the current rank's GDB takes commands; `reason` is shown in the input line if not.
  void setReady(bool ready, const QString& reason = {});
  void setHistory(const QStringList& lines);
  [[nodiscard]] QStringList history() const { return m_history.lines(); }
  [[nodiscard]] QString text() const;
  [[nodiscard]] QLineEdit* input() const { return m_input; }

 Q_SIGNALS:
  void commandEntered(int rank, const QString& command);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Chunk {
    QString text;
    ConsoleText kind = ConsoleText::Output;
  };
  void show(const Chunk& chunk);
  void enter();

  int m_rank = -1;
  std::map<int, std::deque<Chunk>> m_logs;
  CommandHistory m_history;
  QPlainTextEdit* m_text;
  QLabel* m_prompt;
  QLineEdit* m_input;
};

}  // namespace pf::views
