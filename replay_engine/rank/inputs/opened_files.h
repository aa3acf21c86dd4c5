// SPDX-License-Identifier: MIT
// Descriptors of files that the program has opened: which are random devices, and which were opened
// otherwise than for reading only, whose file counts once something of it is asked for
// (random_files.cpp, reading_calls.cpp).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>

namespace pf {

/// By descriptor: was a random device, or has not been read yet. The mark may be an older file's.
bool isMarked(int fd);
/// Of a marked one: what is read from it, or its size, may decide.
void reads(int fd);
/// reads(), and whether it is a random device.
bool isRandomDevice(int fd);
/// `to` is another name of `fd`.
void alsoMarked(int fd, int to);

/// The program has opened a file; `fd` -1: it could not. Returns fd.
int opened(int from, const char* path, int flags, int fd, void* caller);
/// As fopen's mode has it.
int flagsOf(const char* mode);

/// Random bytes, recorded or given back: `real(to, size)` reads them.
using RealRead = ssize_t (*)(int fd, void* to, std::size_t size);
ssize_t readRandom(int fd, void* to, std::size_t size, RealRead real);
/// A stream on a random device, which closes `fd`; null: there are too many, or no memory.
std::FILE* randomStream(int fd);

}  // namespace pf
