// SPDX-License-Identifier: BSD-3-Clause
// MPI for one process, whose functions hypre finds before those of the MPI that it was built with. Nothing is started,
// no daemon, network or folder is asked for, and MPI that the program itself uses is not touched. The header is that of
// hypre's MPI, so that handles and calls fit. Collective operations copy; there is nobody to send a message to.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <mpi.h>

namespace {

/// Ends the process, as MPI does by default where it is used wrongly.
[[noreturn]] void refuse(const char* function) {
  std::fprintf(stderr, "rafter: hypre calls %s, which one process has no use for\n", function);
  std::abort();
}

struct NamedType {
  MPI_Datatype type;
  std::size_t size;
};

std::size_t size_of(MPI_Datatype type, const char* function) {
  const NamedType known[] = {{MPI_BYTE, 1},
                             {MPI_CHAR, sizeof(char)},
                             {MPI_INT, sizeof(int)},
                             {MPI_UNSIGNED, sizeof(unsigned)},
                             {MPI_LONG, sizeof(long)},
                             {MPI_UNSIGNED_LONG, sizeof(unsigned long)},
                             {MPI_LONG_LONG_INT, sizeof(long long)},
                             {MPI_UNSIGNED_LONG_LONG, sizeof(unsigned long long)},
                             {MPI_FLOAT, sizeof(float)},
                             {MPI_DOUBLE, sizeof(double)},
                             {MPI_LONG_DOUBLE, sizeof(long double)}};
  for (const auto& entry : known)
    if (entry.type == type) return entry.size;
  refuse(function);
}

int copy(const void* from, void* to, int count, MPI_Datatype type, const char* function) {
  if (from != MPI_IN_PLACE && to != MPI_IN_PLACE && count > 0)
    std::memcpy(to, from, static_cast<std::size_t>(count) * size_of(type, function));
  return MPI_SUCCESS;
}

/// Copies to where the block of this process begins in `to`.
int copy_to_block(const void* from, void* to, int count, int first, MPI_Datatype type, const char* function) {
  const auto offset = static_cast<std::size_t>(first) * size_of(type, function);
  return copy(from, static_cast<char*>(to) + offset, count, type, function);
}

/// Says that every request is done. Requests are of messages, which there are none of.
int finish(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) requests[i] = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int send_to(int rank, MPI_Request* request, const char* function) {
  if (rank != MPI_PROC_NULL) refuse(function);
  if (request != nullptr) *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

} // namespace

extern "C" {

// The process.
int MPI_Init(int*, char***) { return MPI_SUCCESS; }
int MPI_Finalize() { return MPI_SUCCESS; }
int MPI_Abort(MPI_Comm, int) { refuse("MPI_Abort"); }
double MPI_Wtime() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double MPI_Wtick() { return 1e-9; }

// Communicators and groups: all are of this process alone.
int MPI_Comm_size(MPI_Comm, int* size) { return *size = 1, MPI_SUCCESS; }
int MPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0, MPI_SUCCESS; }
int MPI_Comm_dup(MPI_Comm communicator, MPI_Comm* result) { return *result = communicator, MPI_SUCCESS; }
int MPI_Comm_split(MPI_Comm communicator, int, int, MPI_Comm* result) { return *result = communicator, MPI_SUCCESS; }
int MPI_Comm_create(MPI_Comm communicator, MPI_Group, MPI_Comm* result) { return *result = communicator, MPI_SUCCESS; }
int MPI_Comm_free(MPI_Comm* communicator) { return *communicator = MPI_COMM_NULL, MPI_SUCCESS; }
MPI_Comm MPI_Comm_f2c(MPI_Fint) { return MPI_COMM_WORLD; }
int MPI_Comm_group(MPI_Comm, MPI_Group* group) { return *group = MPI_GROUP_EMPTY, MPI_SUCCESS; }
int MPI_Group_incl(MPI_Group group, int, const int*, MPI_Group* result) { return *result = group, MPI_SUCCESS; }
int MPI_Group_free(MPI_Group* group) { return *group = MPI_GROUP_NULL, MPI_SUCCESS; }

// Collective operations.
int MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }
int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Allreduce");
}
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op, int, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Reduce");
}
int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Scan");
}
int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Allgather");
}
int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype, int, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Gather");
}
int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Alltoall");
}
int MPI_Scatter(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype, int, MPI_Comm) {
  return copy(from, to, count, type, "MPI_Scatter");
}
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int*, const int* first, MPI_Datatype,
                   MPI_Comm) {
  return copy_to_block(from, to, count, first[0], type, "MPI_Allgatherv");
}
int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to, const int*, const int* first, MPI_Datatype,
                int, MPI_Comm) {
  return copy_to_block(from, to, count, first[0], type, "MPI_Gatherv");
}
int MPI_Scatterv(const void* from, const int*, const int* first, MPI_Datatype type, void* to, int count, MPI_Datatype,
                 int, MPI_Comm) {
  const auto offset = static_cast<std::size_t>(first[0]) * size_of(type, "MPI_Scatterv");
  return copy(static_cast<const char*>(from) + offset, to, count, type, "MPI_Scatterv");
}
int MPI_Op_create(MPI_User_function*, int, MPI_Op* operation) { return *operation = MPI_SUM, MPI_SUCCESS; }
int MPI_Op_free(MPI_Op* operation) { return *operation = MPI_OP_NULL, MPI_SUCCESS; }

// Messages.
int MPI_Send(const void*, int, MPI_Datatype, int to, int, MPI_Comm) { return send_to(to, nullptr, "MPI_Send"); }
int MPI_Recv(void*, int, MPI_Datatype, int from, int, MPI_Comm, MPI_Status*) {
  return send_to(from, nullptr, "MPI_Recv");
}
int MPI_Isend(const void*, int, MPI_Datatype, int to, int, MPI_Comm, MPI_Request* request) {
  return send_to(to, request, "MPI_Isend");
}
int MPI_Irsend(const void*, int, MPI_Datatype, int to, int, MPI_Comm, MPI_Request* request) {
  return send_to(to, request, "MPI_Irsend");
}
int MPI_Irecv(void*, int, MPI_Datatype, int from, int, MPI_Comm, MPI_Request* request) {
  return send_to(from, request, "MPI_Irecv");
}
int MPI_Send_init(const void*, int, MPI_Datatype, int to, int, MPI_Comm, MPI_Request* request) {
  return send_to(to, request, "MPI_Send_init");
}
int MPI_Recv_init(void*, int, MPI_Datatype, int from, int, MPI_Comm, MPI_Request* request) {
  return send_to(from, request, "MPI_Recv_init");
}
int MPI_Probe(int from, int, MPI_Comm, MPI_Status*) { return send_to(from, nullptr, "MPI_Probe"); }
int MPI_Iprobe(int, int, MPI_Comm, int* flag, MPI_Status*) { return *flag = 0, MPI_SUCCESS; }
int MPI_Get_count(const MPI_Status*, MPI_Datatype, int* count) { return *count = 0, MPI_SUCCESS; }
int MPI_Startall(int, MPI_Request*) { return MPI_SUCCESS; }
int MPI_Wait(MPI_Request* request, MPI_Status*) { return finish(1, request); }
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status*) { return finish(count, requests); }
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status*) {
  *index = MPI_UNDEFINED;
  return finish(count, requests);
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status*) { return *flag = 1, finish(1, request); }
int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status*) { return *flag = 1, finish(count, requests); }
int MPI_Request_free(MPI_Request* request) { return finish(1, request); }

// Types of messages: as there are none, all of them may be the same.
int MPI_Get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype* type) { return *type = MPI_DATATYPE_NULL, MPI_SUCCESS; }
int MPI_Type_vector(int, int, int, MPI_Datatype, MPI_Datatype* type) { return *type = MPI_DATATYPE_NULL, MPI_SUCCESS; }
int MPI_Type_create_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype* type) {
  return *type = MPI_DATATYPE_NULL, MPI_SUCCESS;
}
int MPI_Type_create_struct(int, const int[], const MPI_Aint[], const MPI_Datatype[], MPI_Datatype* type) {
  return *type = MPI_DATATYPE_NULL, MPI_SUCCESS;
}
int MPI_Type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
int MPI_Type_free(MPI_Datatype* type) { return *type = MPI_DATATYPE_NULL, MPI_SUCCESS; }
}
