// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/window_views.h"

#include "app/gui/panes/physical_pyramid.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/log_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"

namespace pf::gui {

WindowViews makeWindowViews() {
  auto* diagram = new views::SpaceTimeView;
  diagram->setPyramidMaker(physicalPyramid);
  return {.diagram = diagram,
          .source = new views::SourceView,
          .races = new views::RaceListView,
          .ranks = new views::RankStrip,
          .stack = new views::StackView,
          .variables = new views::VariablesView,
          .watches = new views::WatchesView,
          .breakpoints = new views::BreakpointsView,
          .output = new views::OutputView,
          .console = new views::ConsoleView,
          .cycles = new views::CyclesView,
          .log = new views::LogView};
}

}  // namespace pf::gui
