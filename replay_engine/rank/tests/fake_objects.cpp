// SPDX-License-Identifier: GPL-3.0-or-later
// Communicators, groups and types of the fake MPI library, and its begin and end.
#include "replay_engine/rank/tests/fake_objects.h"

#include <cstdio>
#include <cstring>

namespace pf::fake {

// -- communicators

namespace {

constexpr int kHidden = -1000;  ///< in a script's names: made by the interposer, no shadow

MPI_Comm newComm(const std::vector<int>& world, int number) {
  MPI_Comm made = nullptr;
  if (g_library.freeComms.empty()) {
    g_library.comms.push_back(std::make_unique<CommObject>());
    made = g_library.comms.back().get();
  } else {
    made = g_library.freeComms.back();
    g_library.freeComms.pop_back();
  }
  made->world = world;
  made->number = g_library.programBegan ? ++g_library.programsComms : number;
  return made;
}

}  // namespace

MPI_Comm commNamed(int number) {
  if (number == kWorld) {
    return MPI_COMM_WORLD;
  }
  for (const auto& comm : g_library.comms) {
    if (comm->number == number) {
      return comm.get();
    }
  }
  return nullptr;
}

int fakeComm_rank(MPI_Comm comm, int* rank) {
  for (std::size_t i = 0; i < objectOf(comm).world.size(); ++i) {
    if (objectOf(comm).world[i] == g_library.script.rank) {
      *rank = static_cast<int>(i);
    }
  }
  return MPI_SUCCESS;
}

int fakeComm_size(MPI_Comm comm, int* size) {
  *size = static_cast<int>(objectOf(comm).world.size());
  return MPI_SUCCESS;
}

int fakeComm_remote_size(MPI_Comm /*comm*/, int* size) {
  *size = 0;
  return MPI_SUCCESS;
}

int fakeComm_test_inter(MPI_Comm /*comm*/, int* inter) {
  *inter = 0;
  return MPI_SUCCESS;
}

int fakeComm_group(MPI_Comm comm, MPI_Group* group) {
  *group = new GroupObject{objectOf(comm).world};
  return MPI_SUCCESS;
}

int fakeComm_dup(MPI_Comm comm, MPI_Comm* made) {
  *made = newComm(objectOf(comm).world, kHidden);
  return MPI_SUCCESS;
}

/// The color of each other rank is its rank modulo two.
int fakeComm_split(MPI_Comm comm, int color, int /*key*/, MPI_Comm* made) {
  std::vector<int> world;
  for (std::size_t i = 0; i < objectOf(comm).world.size(); ++i) {
    if (static_cast<int>(i % 2) == color) {
      world.push_back(objectOf(comm).world[i]);
    }
  }
  *made = color == MPI_UNDEFINED ? MPI_COMM_NULL : newComm(world, kHidden);
  return MPI_SUCCESS;
}

/// All ranks are on one host.
int fakeComm_split_type(MPI_Comm comm, int /*type*/, int /*key*/, MPI_Info /*info*/,
                        MPI_Comm* made) {
  return fakeComm_dup(comm, made);
}

int fakeComm_create(MPI_Comm /*comm*/, MPI_Group group, MPI_Comm* made) {
  *made = newComm(objectOf(group).world, g_library.programBegan ? 0 : shadow(g_library.shadows++));
  return MPI_SUCCESS;
}

int fakeComm_free(MPI_Comm* comm) {
  objectOf(*comm).number = kHidden;
  g_library.freeComms.push_back(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int fakeComm_get_attr(MPI_Comm /*comm*/, int key, void* value, int* found) {
  *found = key == MPI_TAG_UB ? 1 : 0;
  if (*found != 0) {
    *static_cast<int**>(value) = &g_library.script.highestTag;
  }
  return MPI_SUCCESS;
}

int fakeComm_set_errhandler(MPI_Comm /*comm*/, MPI_Errhandler /*handler*/) {
  return MPI_SUCCESS;
}

int fakeComm_call_errhandler(MPI_Comm comm, int error) {
  ++g_library.toldErrors;
  g_library.lastTold = objectOf(comm).number;
  onError(error);
  return MPI_SUCCESS;
}

// -- groups

int fakeGroup_size(MPI_Group group, int* size) {
  *size = static_cast<int>(objectOf(group).world.size());
  return MPI_SUCCESS;
}

int fakeGroup_rank(MPI_Group group, int* rank) {
  *rank = MPI_UNDEFINED;
  for (std::size_t i = 0; i < objectOf(group).world.size(); ++i) {
    *rank = objectOf(group).world[i] == g_library.script.rank ? static_cast<int>(i) : *rank;
  }
  return MPI_SUCCESS;
}

int fakeGroup_translate_ranks(MPI_Group from, int count, const int* ranks, MPI_Group to,
                              int* translated) {
  for (int n = 0; n < count; ++n) {
    translated[n] = MPI_UNDEFINED;
    for (std::size_t i = 0; i < to->world.size(); ++i) {
      if (to->world[i] == from->world[static_cast<std::size_t>(ranks[n])]) {
        translated[n] = static_cast<int>(i);
      }
    }
  }
  return MPI_SUCCESS;
}

int fakeGroup_free(MPI_Group* group) {
  delete *group;
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

// -- types

std::size_t bytesOf(int count, MPI_Datatype type) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(objectOf(type).size);
}

namespace {

int extentOf(MPI_Datatype type) {
  return objectOf(type).of == nullptr
             ? objectOf(type).size
             : ((objectOf(type).blocks - 1) * objectOf(type).stride + objectOf(type).blockLength) *
                   extentOf(objectOf(type).of);
}

}  // namespace

std::vector<unsigned char> packed(const void* buffer, int count, MPI_Datatype type) {
  std::vector<unsigned char> bytes;
  const auto* from = static_cast<const unsigned char*>(buffer);
  const int blockBytes = objectOf(type).of == nullptr
                             ? objectOf(type).size
                             : objectOf(type).blockLength * objectOf(objectOf(type).of).size;
  const int step =
      objectOf(type).of == nullptr ? 0 : objectOf(type).stride * objectOf(objectOf(type).of).size;
  for (int i = 0; i < count; ++i, from += extentOf(type)) {
    const unsigned char* at = from;
    for (int block = 0; block < objectOf(type).blocks; ++block, at += step) {
      bytes.insert(bytes.end(), at, at + blockBytes);
    }
  }
  return bytes;
}

int fakeType_size(MPI_Datatype type, int* size) {
  *size = objectOf(type).size;
  return MPI_SUCCESS;
}

int fakeType_size_x(MPI_Datatype type, MPI_Count* size) {
  *size = objectOf(type).size;
  return MPI_SUCCESS;
}

int fakeType_get_extent(MPI_Datatype type, MPI_Aint* bound, MPI_Aint* extent) {
  *bound = 0;
  *extent = extentOf(type);
  return MPI_SUCCESS;
}

int fakeType_get_true_extent(MPI_Datatype type, MPI_Aint* bound, MPI_Aint* extent) {
  return fakeType_get_extent(type, bound, extent);
}

int fakeType_get_name(MPI_Datatype /*type*/, char* name, int* length) {
  *length = 0;
  *name = '\0';
  return MPI_SUCCESS;
}

int fakeType_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types,
                          int* combiner) {
  const bool named = objectOf(type).of == nullptr;
  *integers = named ? 0 : 3;
  *addresses = 0;
  *types = named ? 0 : 1;
  *combiner = named ? MPI_COMBINER_NAMED : MPI_COMBINER_VECTOR;
  return MPI_SUCCESS;
}

int fakeType_get_contents(MPI_Datatype type, int /*integers*/, int /*addresses*/, int /*types*/,
                          int* ints, MPI_Aint* /*offsets*/, MPI_Datatype* parts) {
  ints[0] = objectOf(type).blocks;
  ints[1] = objectOf(type).blockLength;
  ints[2] = objectOf(type).stride;
  parts[0] = objectOf(type).of;
  return MPI_SUCCESS;
}

int fakeType_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                            MPI_Count* counts, MPI_Count* types, int* combiner) {
  int few[3] = {};
  *counts = 0;
  const int result = fakeType_get_envelope(type, &few[0], &few[1], &few[2], combiner);
  *integers = few[0];
  *addresses = few[1];
  *types = few[2];
  return result;
}

int fakeType_get_contents_c(MPI_Datatype type, MPI_Count /*integers*/, MPI_Count /*addresses*/,
                            MPI_Count /*counts*/, MPI_Count /*types*/, int* ints, MPI_Aint* offsets,
                            MPI_Count* /*large*/, MPI_Datatype* parts) {
  return fakeType_get_contents(type, 0, 0, 0, ints, offsets, parts);
}

int fakeType_get_attr(MPI_Datatype type, int key, void* value, int* found) {
  const auto kept = objectOf(type).attributes.find(key);
  *found = kept != objectOf(type).attributes.end() ? 1 : 0;
  if (*found != 0) {
    *static_cast<void**>(value) = kept->second;
  }
  return MPI_SUCCESS;
}

int fakeType_set_attr(MPI_Datatype type, int key, void* value) {
  objectOf(type).attributes[key] = value;
  return MPI_SUCCESS;
}

int fakeType_create_keyval(MPI_Type_copy_attr_function* /*copy*/,
                           MPI_Type_delete_attr_function* /*remove*/, int* key, void* /*extra*/) {
  static int next = 0;
  *key = ++next;
  return MPI_SUCCESS;
}

int fakeType_vector(int blocks, int blockLength, int stride, MPI_Datatype of, MPI_Datatype* made) {
  *made = new TypeObject{blocks * blockLength * objectOf(of).size, of, blocks, blockLength, stride};
  return MPI_SUCCESS;
}

int fakeType_commit(MPI_Datatype* /*type*/) {
  return MPI_SUCCESS;
}

int fakeType_free(MPI_Datatype* type) {
  delete *type;
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int fakePack_size(int count, MPI_Datatype type, MPI_Comm /*comm*/, int* size) {
  *size = static_cast<int>(bytesOf(count, type));
  return MPI_SUCCESS;
}

int fakePack(const void* buffer, int count, MPI_Datatype type, void* to, int /*room*/,
             int* position, MPI_Comm /*comm*/) {
  const std::vector<unsigned char> bytes = packed(buffer, count, type);
  std::memcpy(static_cast<unsigned char*>(to) + *position, bytes.data(), bytes.size());
  *position += static_cast<int>(bytes.size());
  return MPI_SUCCESS;
}

// -- lifecycle

int fakeInit(int* /*argc*/, char*** /*argv*/) {
  return MPI_SUCCESS;
}

int fakeInit_thread(int* /*argc*/, char*** /*argv*/, int /*required*/, int* provided) {
  *provided = g_library.script.threadLevel;
  return MPI_SUCCESS;
}

int fakeFinalize() {
  return MPI_SUCCESS;
}

int fakeAbort(MPI_Comm /*comm*/, int /*code*/) {
  endProcess(kAborted, "MPI_Abort");
}

int fakeQuery_thread(int* provided) {
  *provided = g_library.script.threadLevel;
  return MPI_SUCCESS;
}

int fakeGet_library_version(char* version, int* length) {
  // Of the recorder, which it goes with.
  *length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "%s, the fake MPI of the tests",
                          PF_BUILT_FOR);
  return MPI_SUCCESS;
}

int fakeGet_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int fakeError_class(int error, int* errorClass) {
  *errorClass = error;
  return MPI_SUCCESS;
}

}  // namespace pf::fake
