// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/diagram_export.h"

#include <QBuffer>
#include <QImage>
#include <QSaveFile>
#include <QSvgGenerator>

#include "views/diagram/space_time_view.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QByteArray toSvg(const SpaceTimeView& view, const QSize& size) {
  QBuffer buffer;
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(size);
  svg.setViewBox(QRect(QPoint(), size));
  svg.setTitle(SpaceTimeView::tr("Space-time diagram"));
  view.renderTo(&svg, size);
  return buffer.data();
}

QByteArray toPng(const SpaceTimeView& view, const QSize& size) {
  QImage image(size * 2, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(2);
  view.renderTo(&image, size);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

}  // namespace

bool exportDiagram(const SpaceTimeView& view, const QString& path, const QSize& size,
                   QString* error) {
  const bool svg = path.endsWith(u".svg"_s, Qt::CaseInsensitive);
  const QByteArray bytes = svg ? toSvg(view, size) : toPng(view, size);
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) {
    return true;
  }
  if (error != nullptr) {
    *error = SpaceTimeView::tr("Could not write the picture %1: %2. Choose another place.")
                 .arg(path, file.errorString());
  }
  return false;
}

}  // namespace pf::views
