// SPDX-License-Identifier: GPL-3.0-or-later
// Loops over rows of pixels, once more for processors that have wider vectors.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
/// Before a function: made for AVX2, too, and the processor chosen for when the program is loaded.
/// Without fused multiplications, so that pictures are the same everywhere.
#define PF_WIDE_LOOPS __attribute__((target_clones("avx2", "default")))
#else
#define PF_WIDE_LOOPS
#endif
