// SPDX-License-Identifier: GPL-3.0-or-later
// Included before the sources of libphotofinish_memory.so: what these define gets another name than
// libc's routine, and the test that they are part of has its memory from libc.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#define malloc pf_memory_malloc
#define free pf_memory_free
#define calloc pf_memory_calloc
#define realloc pf_memory_realloc
#define reallocarray pf_memory_reallocarray
#define memalign pf_memory_memalign
#define aligned_alloc pf_memory_aligned_alloc
#define posix_memalign pf_memory_posix_memalign
#define valloc pf_memory_valloc
#define pvalloc pf_memory_pvalloc
#define malloc_usable_size pf_memory_malloc_usable_size
#define mmap pf_memory_mmap
#define mmap64 pf_memory_mmap64
#define shmat pf_memory_shmat
#define brk pf_memory_brk
#define sbrk pf_memory_sbrk
