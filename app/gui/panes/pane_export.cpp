// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/pane_export.h"

#include <memory>

#include <QAbstractItemModel>
#include <QAbstractItemView>
#include <QAction>
#include <QBuffer>
#include <QCoreApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QMainWindow>
#include <QPainter>
#include <QPointer>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTimer>

namespace pf::gui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("PaneExport", text);
}

QString cannotWrite(const QString& path, const QString& why) {
  return tr("Could not write %1: %2. Choose another place.").arg(path, why);
}

bool write(const QString& path, const QByteArray& bytes, const ExportSaid& said) {
  QSaveFile file(path);
  const bool written =
      file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
  said(written ? tr("Written: %1").arg(path) : cannotWrite(path, file.errorString()), !written);
  return written;
}

QByteArray svgOf(QWidget& pane) {
  QBuffer buffer;
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(pane.size());
  svg.setViewBox(QRect(QPoint(), pane.size()));
  QPainter painter(&svg);
  pane.render(&painter);
  painter.end();
  return buffer.data();
}

QByteArray pngOf(QWidget& pane) {
  constexpr int kRatio = 2;
  QImage image(pane.size() * kRatio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(kRatio);
  image.fill(Qt::transparent);
  pane.render(&image);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

QByteArray quoted(QString text) {
  if (text.contains(QLatin1Char('"')) || text.contains(QLatin1Char(',')) ||
      text.contains(QLatin1Char('\n')) || text.contains(QLatin1Char('\r'))) {
    text = QLatin1Char('"') + text.replace(QLatin1String("\""), QLatin1String("\"\"")) +
           QLatin1Char('"');
  }
  return text.toUtf8();
}

/// Writes a model row by row, some at a time; ends itself. What is open of a tree is indented by
/// two blanks a level.
class CsvExport : public QObject {
 public:
  CsvExport(const QAbstractItemModel& model, const QString& path, ExportSaid said, QObject* parent)
      : QObject(parent), m_model(&model), m_file(path), m_said(std::move(said)) {
    connect(&model, &QObject::destroyed, this, [this] { fail(tr("the pane was closed")); });
    const auto changed = [this] { fail(tr("the table changed meanwhile")); };
    connect(&model, &QAbstractItemModel::modelReset, this, changed);
    connect(&model, &QAbstractItemModel::layoutChanged, this, changed);
    connect(&model, &QAbstractItemModel::rowsInserted, this, changed);
    connect(&model, &QAbstractItemModel::rowsRemoved, this, changed);
  }

  void start() {
    if (!m_file.open(QIODevice::WriteOnly)) {
      fail(m_file.errorString());
      return;
    }
    QByteArray line;
    for (int column = 0; column < m_model->columnCount(); ++column) {
      line +=
          (column > 0 ? "," : "") + quoted(m_model->headerData(column, Qt::Horizontal).toString());
    }
    m_file.write(line + '\n');
    m_path.append({QModelIndex(), 0});
    goOn();
  }

 private:
  struct Level {
    QModelIndex parent;
    int row = 0;
  };

  void goOn() {
    constexpr int kRowsAtOnce = 5000;
    for (int n = 0; n < kRowsAtOnce && !m_path.isEmpty(); ++n) {
      Level& level = m_path.last();
      if (level.row >= m_model->rowCount(level.parent)) {
        m_path.removeLast();
        continue;
      }
      const int row = level.row++;
      const QModelIndex parent = level.parent;
      writeRow(parent, row);
      if (const QModelIndex first = m_model->index(row, 0, parent); m_model->rowCount(first) > 0) {
        m_path.append({first, 0});
      }
    }
    if (!m_path.isEmpty()) {
      QTimer::singleShot(0, this, [this] { goOn(); });
    } else if (!m_file.commit()) {
      fail(m_file.errorString());
    } else {
      disconnect(m_model, nullptr, this, nullptr);
      m_said(tr("Written: %1").arg(m_file.fileName()), false);
      deleteLater();
    }
  }

  void writeRow(const QModelIndex& parent, int row) {
    QByteArray line;
    for (int column = 0; column < m_model->columnCount(parent); ++column) {
      const QString indent(column == 0 ? 2 * (m_path.size() - 1) : 0, QLatin1Char(' '));
      line += (column > 0 ? "," : "") +
              quoted(indent + m_model->index(row, column, parent).data().toString());
    }
    m_file.write(line + '\n');
  }

  void fail(const QString& why) {
    if (!m_done) {
      m_done = true;
      m_path.clear();
      m_file.cancelWriting();
      m_said(cannotWrite(m_file.fileName(), why), true);
      deleteLater();
    }
  }

  const QAbstractItemModel* m_model;
  QSaveFile m_file;
  ExportSaid m_said;
  QList<Level> m_path;
  bool m_done = false;
};

}  // namespace

QAbstractItemView* tableOf(QWidget& pane) {
  QAbstractItemView* best = qobject_cast<QAbstractItemView*>(&pane);
  for (QAbstractItemView* view : pane.findChildren<QAbstractItemView*>()) {
    // A list's frame or a combo box's popup is none of the pane's tables.
    if (view->model() == nullptr || view->window() != pane.window() || !view->isVisibleTo(&pane)) {
      continue;
    }
    if (view->hasFocus()) {
      return view;
    }
    if (best == nullptr || view->model()->rowCount() > best->model()->rowCount()) {
      best = view;
    }
  }
  return best;
}

void exportPane(QWidget& pane, const QString& path, const ExportSaid& said) {
  if (path.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
    QAbstractItemView* table = tableOf(pane);
    if (table == nullptr) {
      said(tr("This pane has no table. Choose a name that ends in .svg or .png."), true);
      return;
    }
    (new CsvExport(*table->model(), path, said, &pane))->start();
  } else if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
    write(path, svgOf(pane), said);
  } else if (path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive)) {
    write(path, pngOf(pane), said);
  } else {
    said(tr("%1 ends in none of .svg, .png and .csv. Choose such a name.").arg(path), true);
  }
}

QList<QAction*> makeExportActions(QMainWindow& window, const QList<QDockWidget*>& docks,
                                  const ExportSaid& said) {
  QList<QAction*> actions;
  for (QDockWidget* dock : docks) {
    auto* action = new QAction(tr("Export %1 …").arg(dock->windowTitle()), &window);
    action->setObjectName(QStringLiteral("export ") + dock->objectName());
    action->setStatusTip(tr("Write this pane as SVG or PNG, or its table as CSV"));
    QObject::connect(action, &QAction::triggered, &window, [&window, dock, said] {
      QWidget* const pane = dock->widget();
      const QString kinds = tableOf(*pane) != nullptr
                                ? tr("Pictures and tables (*.svg *.png *.csv)")
                                : tr("Pictures (*.svg *.png)");
      dock->show();
      dock->raise();
      const QString path =
          QFileDialog::getSaveFileName(&window, tr("Export %1").arg(dock->windowTitle()),
                                       dock->objectName() + QStringLiteral(".svg"), kinds);
      if (!path.isEmpty()) {
        exportPane(*pane, path, said);
      }
    });
    dock->setContextMenuPolicy(Qt::ActionsContextMenu);
    dock->addAction(action);
    actions.append(action);
  }
  return actions;
}

}  // namespace pf::gui
