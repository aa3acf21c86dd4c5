# SPDX-License-Identifier: GPL-3.0-or-later
# The same programs for MPICH, where it is installed: bin/corpus_mpich.
set(mpich_dir ${CMAKE_BINARY_DIR}/bin/corpus_mpich)
foreach(name IN LISTS corpus_programs)
  add_executable(corpus_mpich_${name} ${name}.c)
  target_include_directories(corpus_mpich_${name} SYSTEM PRIVATE ${MPICH_INCLUDE_DIR})
  target_link_libraries(corpus_mpich_${name} PRIVATE ${MPICH_LIBRARY} Threads::Threads m)
  # MPI_STATUSES_IGNORE is the address 1 there, which GCC takes for an array that is too short.
  target_compile_options(corpus_mpich_${name} PRIVATE -g -O0 -UNDEBUG -Wall -Wextra -Wno-stringop-overflow)
  set_target_properties(corpus_mpich_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${mpich_dir} C_STANDARD 11)
endforeach()
