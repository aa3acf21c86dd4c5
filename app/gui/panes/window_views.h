// SPDX-License-Identifier: GPL-3.0-or-later
// The views that the window has once each. Qt owns them.
#pragma once

namespace pf::views {
class BreakpointsView;
class ConsoleView;
class CyclesView;
class LogView;
class OutputView;
class RaceListView;
class RankStrip;
class SourceView;
class SpaceTimeView;
class StackView;
class VariablesView;
class WatchesView;
}  // namespace pf::views

namespace pf::gui {

struct WindowViews {
  views::SpaceTimeView* diagram;
  views::SourceView* source;
  views::RaceListView* races;
  views::RankStrip* ranks;
  views::StackView* stack;
  views::VariablesView* variables;
  views::WatchesView* watches;
  views::BreakpointsView* breakpoints;
  views::OutputView* output;
  views::ConsoleView* console;
  views::CyclesView* cycles;
  views::LogView* log;
};

[[nodiscard]] WindowViews makeWindowViews();

}  // namespace pf::gui
