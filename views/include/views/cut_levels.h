// The cut pyramid of a trace, a level at a time: they need not be in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/cut_pyramid.h"

namespace pf::views {

class CutLevels {
 public:
  CutLevels() = default;
  virtual ~CutLevels() = default;
  CutLevels(const CutLevels&) = delete;
  CutLevels& operator=(const CutLevels&) = delete;

  [[nodiscard]] virtual std::size_t count() const = 0;
  /// Of the bins of a level, in steps of logical time; those of level n + 1 are twice as wide.
  [[nodiscard]] virtual std::uint32_t width(std::size_t level) const = 0;
  /// From any thread but the GUI's: it may read a file. Null: it cannot be read.
  [[nodiscard]] virtual std::shared_ptr<const CutLevel> level(std::size_t number) const = 0;
  [[nodiscard]] virtual const std::vector<CutLine>& lines() const = 0;

  /// The level of the widest bins that are not wider than `steps`; count(): all are wider.
  [[nodiscard]] std::size_t levelFor(double steps) const {
    std::size_t found = count();
    for (std::size_t n = 0; n < count() && width(n) <= steps; ++n) {
      found = n;
    }
    return found;
  }
};

using CutLevelsPtr = std::shared_ptr<const CutLevels>;

/// A pyramid that is in memory.
class KeptCutLevels : public CutLevels {
 public:
  explicit KeptCutLevels(CutPyramid pyramid) : m_lines(std::move(pyramid.lines)) {
    for (CutLevel& level : pyramid.levels) {
      m_levels.push_back(std::make_shared<const CutLevel>(std::move(level)));
    }
  }
  [[nodiscard]] std::size_t count() const override { return m_levels.size(); }
  [[nodiscard]] std::uint32_t width(std::size_t level) const override {
    return m_levels[level]->width;
  }
  [[nodiscard]] std::shared_ptr<const CutLevel> level(std::size_t number) const override {
    return m_levels[number];
  }
  [[nodiscard]] const std::vector<CutLine>& lines() const override { return m_lines; }

 private:
  std::vector<std::shared_ptr<const CutLevel>> m_levels;
  std::vector<CutLine> m_lines;
};

}  // namespace pf::views
