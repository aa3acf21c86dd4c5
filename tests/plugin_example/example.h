// SPDX-License-Identifier: MIT
// What the files of the example give.
#pragma once

#include <photofinish/plugin.h>

photofinish::Pane* makeBars(photofinish::Window& window, QWidget* parent);
void exportRings(const photofinish::Trace& trace, photofinish::Output& output);
photofinish::Judge* makeSameTag(const photofinish::Trace& trace);
