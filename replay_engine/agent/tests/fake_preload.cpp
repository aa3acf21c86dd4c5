// SPDX-License-Identifier: GPL-3.0-or-later
// Stands for the interposer: what matters is that it gets loaded.
extern "C" {
int pfTestPreloaded = 1;
}
