// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/text.h"

#include <algorithm>
#include <limits>

namespace pf::values {

namespace {

bool isHidden(QChar c) {
  const char16_t u = c.unicode();
  const bool control = u < 0x20 || (u >= 0x7F && u < 0xA0);
  const bool direction = (u >= 0x202A && u <= 0x202E) || (u >= 0x2066 && u <= 0x2069) ||
                         u == 0x200E || u == 0x200F || u == 0x061C || u == 0x2028 || u == 0x2029 ||
                         u == 0xFEFF;
  return control || direction;
}

QString escaped(QChar c) {
  const char16_t u = c.unicode();
  return u < 0x100 ? u"\\x%1"_s.arg(int{u}, 2, 16, QLatin1Char('0'))
                   : u"\\u{%1}"_s.arg(int{u}, 4, 16, QLatin1Char('0'));
}

QString escapeAll(const QString& text, bool keepLayout) {
  const auto keep = [keepLayout](QChar c) {
    return !isHidden(c) || (keepLayout && (c == QLatin1Char('\n') || c == QLatin1Char('\t')));
  };
  if (std::all_of(text.begin(), text.end(), keep)) {
    return text;
  }
  QString out;
  out.reserve(text.size() + 16);
  for (const QChar c : text) {
    if (keep(c)) {
      out += c;
    } else if (c == QLatin1Char('\n')) {
      out += u"\\n"_s;
    } else if (c == QLatin1Char('\t')) {
      out += u"\\t"_s;
    } else {
      out += escaped(c);
    }
  }
  return out;
}

}  // namespace

QString fromUtf8(const std::string& text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString visibleText(const QString& text) {
  return escapeAll(text, true);
}

QString oneLine(const QString& text) {
  return escapeAll(text, false);
}

QString plainToolTip(const QString& text) {
  if (text.isEmpty()) {
    return {};
  }
  return u"<qt><div style=\"white-space:pre\">"_s + visibleText(text).toHtmlEscaped() +
         u"</div></qt>"_s;
}

QString byteText(std::uint64_t bytes) {
  if (bytes < 1024) {
    return u"%1 B"_s.arg(bytes);
  }
  static const char* const kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < std::size(kUnits)) {
    value /= 1024.0;
    ++unit;
  }
  return u"%1 %2"_s.arg(QString::number(value, 'f', value < 10.0 ? 1 : 0),
                        QLatin1String(kUnits[unit]));
}

QString counted(std::size_t n, const QString& one, const QString& many) {
  return u"%1 %2"_s.arg(n).arg(n == 1 ? one : many);
}

bool namesSource(const QString& given, const QString& path) {
  return given == path ||
         (!given.isEmpty() && !given.startsWith(u'/') && path.endsWith(u'/' + given));
}

QString baseName(const QString& path) {
  return path.mid(path.lastIndexOf(QLatin1Char('/')) + 1);
}

int toInt(std::size_t n) {
  return static_cast<int>(std::min<std::size_t>(n, std::numeric_limits<int>::max()));
}

int toInt(qsizetype n) {
  return static_cast<int>(std::min<qsizetype>(n, std::numeric_limits<int>::max()));
}

}  // namespace pf::values
