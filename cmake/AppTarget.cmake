# SPDX-License-Identifier: GPL-3.0-or-later
# One place for flags: every target is created through these functions.
include(CheckPIESupported)
check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
option(APP_WERROR "Warnings are errors" OFF)
option(APP_FUZZERS "Build libFuzzer targets (clang only)" OFF)
option(APP_BUILD_GUI "Build views/, app/ and GUI tests" ON)
option(APP_ASSERTIONS "Keep APP_CHECK in optimised builds" ON)
option(APP_COVERAGE "gcov instrumentation" OFF)
option(APP_UNITY "Compile several files of a library at once: a whole build in a third of the time" OFF)
set(APP_DEBUG_INFO "full" CACHE STRING "Debug information of our own code: full, lines (functions and lines), none")
set(APP_SANITIZE "" CACHE STRING "Comma list for -fsanitize=, never applied to injected code")

add_library(app_flags INTERFACE)
target_compile_features(app_flags INTERFACE cxx_std_20)
target_include_directories(app_flags INTERFACE ${PROJECT_SOURCE_DIR})  # "db/store/trace_store.h": each include says whose it is
target_compile_options(app_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion -Wformat=2
  -Wimplicit-fallthrough -Wswitch-enum -Wundef -Wcast-align -Werror=return-type
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wuseless-cast -Wsuggest-override>
  $<$<CXX_COMPILER_ID:Clang>:-Winconsistent-missing-override -Wextra-semi -Wthread-safety>
  $<$<BOOL:${APP_WERROR}>:-Werror>)
target_compile_definitions(app_flags INTERFACE
  $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS> QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_FOREACH QT_NO_KEYWORDS
  QT_NO_NARROWING_CONVERSIONS_IN_CONNECT QT_DISABLE_DEPRECATED_BEFORE=0x060400)
# What is loaded into the user's process (FORTIFIED OFF) keeps its lines: a debugger stands in it.
if(APP_DEBUG_INFO STREQUAL "lines")
  target_compile_options(app_flags INTERFACE -g1)
elseif(APP_DEBUG_INFO STREQUAL "none")
  target_compile_options(app_flags INTERFACE $<IF:$<STREQUAL:$<TARGET_PROPERTY:FORTIFIED>,OFF>,-g1,-g0>)
endif()
# Hardening, held by tests/lint/hardening.py. Fortified calls ask for optimisation, and sanitizers have their own.
# GUARDED BUFFERS: in what each message passes through, only functions with a buffer of characters look after their stack.
target_compile_options(app_flags INTERFACE
  $<IF:$<STREQUAL:$<TARGET_PROPERTY:GUARDED>,BUFFERS>,-fstack-protector,-fstack-protector-strong>
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection> $<$<CXX_COMPILER_ID:GNU>:-fstack-clash-protection>)
target_link_options(app_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
if(NOT APP_SANITIZE)
  # Not in what is loaded into the user's process (FORTIFIED OFF): there the fortified functions are what it wraps.
  target_compile_options(app_flags INTERFACE
    $<$<AND:$<NOT:$<CONFIG:Debug>>,$<NOT:$<STREQUAL:$<TARGET_PROPERTY:FORTIFIED>,OFF>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
endif()
add_library(app_sanitize INTERFACE)
if(APP_SANITIZE)
  target_compile_options(app_sanitize INTERFACE -fsanitize=${APP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(app_sanitize INTERFACE -fsanitize=${APP_SANITIZE})
endif()
if(APP_COVERAGE)
  target_compile_options(app_sanitize INTERFACE --coverage)
  target_link_options(app_sanitize INTERFACE --coverage)
endif()
if(APP_FUZZERS)
  target_compile_options(app_sanitize INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Archives that name their objects instead of holding them again, and compressed debug information in tests: a third of
# the disk that a build took.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT APPLE)
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qT <TARGET> <LINK_FLAGS> <OBJECTS>")
endif()

# A second clone of the tree takes what another one has compiled out of the cache: what is compiled does not depend on
# where the tree lies. Not so what tests debug, whose sources a debugger has to find.
set(app_launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
if(CCACHE_PROGRAM)
  set(app_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
endif()

# Libraries of many files, ours and C++ only.
# What a file of ours reads of others' headers, and the templates that it makes of them, is more than the file: compiled by
# the dozen they take half the time. Where there are processors to spare, more of them at once counts more.
cmake_host_system_information(RESULT app_processors QUERY NUMBER_OF_LOGICAL_CORES)
set(app_batch 32)
if(app_processors GREATER 4)
  set(app_batch 8)
endif()
function(app_unity name)
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${app_launcher}")
  target_compile_options(${name} PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${APP_UNITY} UNITY_BUILD_BATCH_SIZE ${app_batch})
endfunction()
# What waits for a person or for a rank: what the compiler saves counts more than what the program would.
function(app_front_end)
  foreach(name ${ARGN})
    target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  endforeach()
endfunction()
# Every source and header of the folders, into `result`.
function(app_sources result)
  set(found)
  foreach(folder ${ARGN})
    file(GLOB more CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.h)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
function(app_library name)            # app_library(pf_db FOLDERS sqlite store WITHOUT main.cpp USES ...)
  cmake_parse_arguments(A "CHECKED" "" "SOURCES;FOLDERS;WITHOUT;USES;PRIVATE_USES" ${ARGN})
  app_sources(found ${A_FOLDERS})
  foreach(name_without ${A_WITHOUT})
    list(FILTER found EXCLUDE REGEX "/${name_without}$")
  endforeach()
  list(APPEND A_SOURCES ${found})
  add_library(${name} STATIC ${A_SOURCES})
  if(A_CHECKED)  # reads bytes of others: an index outside of a container ends the process, in releases too
    target_compile_definitions(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:_GLIBCXX_ASSERTIONS>)
  endif()
  add_library(app::${name} ALIAS ${name})
  app_unity(${name})
  target_link_libraries(${name} PUBLIC ${A_USES} PRIVATE ${A_PRIVATE_USES} app_flags app_sanitize)
  if("${A_SOURCES}" MATCHES "(^|;|/)tests/")
    app_of_tests(${name})
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
# clang-tidy looks at the product.
function(app_of_tests)
  set_target_properties(${ARGN} PROPERTIES CXX_CLANG_TIDY "")
  # QTRY_VERIFY and QTRY_COMPARE of newer versions make an int of milliseconds. It comes behind the warnings.
  if(Qt6_VERSION VERSION_GREATER_EQUAL 6.8)
    foreach(name ${ARGN})
      target_link_libraries(${name} PRIVATE app_newer_qt)
    endforeach()
  endif()
endfunction()
add_library(app_newer_qt INTERFACE)
target_compile_options(app_newer_qt INTERFACE -Wno-conversion)
# For the environment of tests whose ranks wait: tests/support/naps.c. A sanitizer's runtime has to be preloaded first.
if(NOT APP_SANITIZE)
  set(PF_NAPS "LD_PRELOAD=${CMAKE_BINARY_DIR}/bin/e2e/libopen-naps.so")
endif()
function(app_test name)               # app_test(name LABELS unit SOURCES ... USES ...)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_USES} app_flags app_sanitize)
  app_unity(${name})
  # A test runs once for each time it is compiled: what compiler and linker save counts more.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  target_link_options(${name} PRIVATE $<IF:$<CONFIG:RelWithDebInfo>,-Wl$<COMMA>--strip-debug,-Wl$<COMMA>--compress-debug-sections=zlib>)
  app_of_tests(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}")
  if(A_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT})
  endif()
endfunction()
function(app_fuzzer name)
  if(NOT APP_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(A "" "CORPUS" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_USES} app_flags app_sanitize)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  # libFuzzer writes what it finds into the first directory: not into the corpus of the tree.
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}_found)
  add_test(NAME ${name}_smoke COMMAND ${name} -runs=20000 -max_total_time=30 -seed=1 ${CMAKE_CURRENT_BINARY_DIR}/${name}_found ${A_CORPUS})
  set_tests_properties(${name}_smoke PROPERTIES LABELS "fuzz;fuzzer")
endfunction()
