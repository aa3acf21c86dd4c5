// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/groups_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace pf::app {
namespace {

constexpr std::size_t kMostCells = 256;
constexpr double kSide = 768;
constexpr double kLeft = 130;
constexpr double kTop = 60;
constexpr double kSmallestText = 9;
constexpr std::size_t kShades = 16;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  std::string out = text.data();
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') {
    out.pop_back();
  }
  return out;
}

std::string shade(std::size_t level) {
  constexpr double kLightest = 232;
  std::array<char, 16> text{};
  const auto grey = static_cast<unsigned>(
      std::lround(kLightest * static_cast<double>(kShades - level) / (kShades - 1)));
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", grey, grey, grey);
  return text.data();
}

std::string textAt(double x, double y, const char* anchor, double size, const std::string& text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor +
         "\" font-size=\"" + number(size) + "\">" + text + "</text>\n";
}

/// "0-3+8 …": at most `most` characters.
std::string shortened(std::string text, std::size_t most) {
  if (text.size() > most) {
    text.resize(most - 1);
    text += "…";
  }
  return text;
}

/// From 1 (little) to kShades, 0 nothing; by logarithm, as in the window.
std::size_t levelOf(std::uint64_t bytes, std::uint64_t most) {
  const double part =
      std::log1p(static_cast<double>(bytes)) / std::log1p(static_cast<double>(most));
  return bytes == 0 ? 0
                    : std::clamp<std::size_t>(
                          static_cast<std::size_t>(std::ceil(part * static_cast<double>(kShades))),
                          1, kShades);
}

/// Boxes of one shade, as paths of some thousand: Qt cuts off longer ones.
class Boxes {
 public:
  explicit Boxes(std::string colour) : m_colour(std::move(colour)) {}
  void add(std::size_t row, std::size_t column, std::size_t width) {
    const std::string length = std::to_string(width);
    m_path += "M" + std::to_string(column) + " " + std::to_string(row) + "h" + length + "v1h-" +
              length + "z";
    constexpr std::size_t kMost = 4000;
    if (++m_count % kMost == 0) {
      end();
    }
  }
  std::string finish() {
    end();
    return std::move(m_text);
  }

 private:
  void end() {
    if (!m_path.empty()) {
      m_text += "<path fill=\"" + m_colour + "\" d=\"" + m_path + "\"/>\n";
      m_path.clear();
    }
  }

  std::string m_colour;
  std::string m_path;
  std::string m_text;
  std::size_t m_count = 0;
};

/// Cells beside each other of one shade are one box.
std::string cellsText(const std::vector<std::uint64_t>& matrix, std::size_t cells) {
  const std::uint64_t most = *std::ranges::max_element(matrix);
  std::vector<Boxes> boxes;
  for (std::size_t level = 1; level <= kShades; ++level) {
    boxes.emplace_back(shade(level));
  }
  for (std::size_t row = 0; row < cells; ++row) {
    for (std::size_t from = 0; from < cells;) {
      const std::size_t level = levelOf(matrix[row * cells + from], most);
      std::size_t to = from + 1;
      while (to < cells && levelOf(matrix[row * cells + to], most) == level) {
        ++to;
      }
      if (level != 0) {
        boxes[level - 1].add(row, from, to - from);
      }
      from = to;
    }
  }
  std::string text = "<g transform=\"translate(" + number(kLeft) + " " + number(kTop) + ") scale(" +
                     number(kSide / static_cast<double>(cells)) +
                     ")\" shape-rendering=\"crispEdges\">\n";
  for (Boxes& each : boxes) {
    text += each.finish();
  }
  return text + "</g>\n";
}

std::string framesText(const ReplayGroups& groups) {
  const double size = kSide / static_cast<double>(groups.ranks());
  std::string frames;
  std::string labels;
  std::size_t place = 0;
  for (std::uint32_t group = 0; group < groups.count(); ++group) {
    const auto members = groups.members(group);
    const double at = static_cast<double>(place) * size;
    const double side = static_cast<double>(members.size()) * size;
    if (members.size() > 1) {
      frames += "<rect x=\"" + number(kLeft + at) + "\" y=\"" + number(kTop + at) + "\" width=\"" +
                number(side) + "\" height=\"" + number(side) + "\"/>\n";
    }
    if (side >= kSmallestText + 1) {
      constexpr std::size_t kFits = 20;
      labels += textAt(kLeft - 6, kTop + at + side / 2 + kSmallestText / 3, "end",
                       std::min(13.0, std::max(kSmallestText, side / 2)),
                       shortened(rangesText(members), kFits));
    }
    place += members.size();
  }
  return labels + "<g fill=\"none\" stroke=\"#c8102e\" stroke-width=\"1.5\">\n" + frames + "</g>\n";
}

}  // namespace

std::string groupsPicture(const Traffic& traffic, const ReplayGroups& groups) {
  std::vector<std::size_t> places(traffic.ranks);
  std::size_t next = 0;
  for (std::uint32_t group = 0; group < groups.count(); ++group) {
    for (const Rank rank : groups.members(group)) {
      places[index(rank)] = next++;
    }
  }
  const std::size_t cells = std::min(kMostCells, traffic.ranks);
  const std::string width = number(kLeft + kSide + 20);
  const std::string height = number(kTop + kSide + 50);
  const std::string shared =
      cells < traffic.ranks
          ? ", " + number(static_cast<double>(traffic.ranks) / static_cast<double>(cells)) +
                " ranks a cell"
          : "";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + width + " " + height +
         "\" font-family=\"sans-serif\">\n<rect width=\"" + width + "\" height=\"" + height +
         "\" fill=\"white\"/>\n" +
         textAt(kLeft, 24, "start", 16,
                "Bytes from rank (row) to rank (column), " + std::to_string(traffic.ranks) +
                    " ranks in the order of their groups" + shared) +
         textAt(kLeft, 46, "start", 13,
                "framed: " + std::to_string(groups.count()) + " groups of at most " +
                    std::to_string(groups.largest()) + " ranks") +
         cellsText(traffic.matrix(cells, places), cells) + "<rect x=\"" + number(kLeft) +
         "\" y=\"" + number(kTop) + "\" width=\"" + number(kSide) + "\" height=\"" + number(kSide) +
         "\" fill=\"none\" stroke=\"#888888\"/>\n" + framesText(groups) +
         textAt(kLeft, kTop + kSide + 22, "start", 13,
                "darker: more, by logarithm. What reductions bring has no one sender and is not "
                "drawn.") +
         "</svg>\n";
}

}  // namespace pf::app
