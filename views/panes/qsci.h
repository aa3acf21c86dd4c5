// SPDX-License-Identifier: GPL-3.0-or-later
// QScintilla's headers use Qt's lower-case keywords, which this project switches off.
#pragma once

#include <QObject>

// clang-format off
#define signals Q_SIGNALS
#define slots Q_SLOTS
#include <Qsci/qsciscintilla.h>
#include <Qsci/qscilexercpp.h>
#include <Qsci/qscilexerfortran.h>
#include <Qsci/qscilexerpython.h>
#undef signals
#undef slots
// clang-format on
