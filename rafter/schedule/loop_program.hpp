// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <rafter/device/launch.hpp>
#include <rafter/form/scalar_graph.hpp>

/// The loop program: how a kernel runs. A small loop-nest language with address spaces and hardware axes: groups of
/// items that share memory, and SIMD lanes of an item; an immutable tree over the table of node kinds below.
namespace rafter::schedule {

/// Semantics. A run covers a range of batches, which groups take: each group runs the body once, with the variable
/// `batch` bound to the number of its first batch and `last_batch` to that of the last one of the run. A program states
/// in its Launch how many batches a group takes and how many items it has. In a host program both are one: its groups
/// run one after the other in ascending order. Otherwise groups run in any order, also at the same time, and so do the
/// items of a group between two barriers: what one item or group writes no other may touch, unless a barrier of the
/// group lies between, or both add atomically.
///
/// Integer expressions (i...) have one value or, when they contain `lane`, one per lane 0 .. lanes-1; the same holds
/// for reals. A store or add with a lane-varying index runs lane by lane in ascending order; with an `active` count,
/// lanes from that count on write nothing. Every real is of one type, double or float; operations and writes take
/// numbers of one type, and what is computed from floats is rounded to a float: types meet only through `widen` and
/// `narrow`.
enum class Kind : std::uint8_t {
  // integers
  integer,  ///< literal
  variable, ///< loop variable, `batch` or the name of an ilet
  lane,     ///< number of the SIMD lane
  group,    ///< number of the group in the run
  item,     ///< number of the item in its group along an axis
  iadd,
  isub,
  imul,
  imin,
  idiv, ///< rounded down, of what is not negative, by a positive literal
  ieq,
  ilt,   ///< 1 where the first operand is less than the second, else 0
  iload, ///< buffer[index] of an integer buffer
  // reals
  number,    ///< literal
  reg,       ///< name of a let
  load,      ///< buffer[index] of a buffer of reals
  widen,     ///< a float as a double
  narrow,    ///< a double rounded to a float
  operation, ///< form::ScalarOp on reals
  // statements
  block,    ///< statements in order
  loop,     ///< body for name = 0 .. count-1: operands (count, body)
  let,      ///< name = real, visible to the end of the enclosing block
  ilet,     ///< name = integer
  store,    ///< buffer[index] = value: operands (index, value[, active])
  add,      ///< buffer[index] += value
  barrier,  ///< no item goes on before all items of its group are here and see what each has written
  prefetch, ///< buffer[index] will be used soon; the index may leave the buffer
  branch    ///< operand 1 if operand 0 is not 0, else operand 2 (condition without lane)
};

/// The style in which the emitter writes a loop; its meaning is the same.
enum class LoopStyle : std::uint8_t {
  rolled,
  unrolled, ///< every iteration is written out; literal count
  run ///< the body is one load into a work array or one addition from it, iteration k that of entry k of one run of
      ///< consecutive entries per lane: runs move as vectors, turned in registers; literal count
};

/// The type of elements of buffers, and of reals. `real32` are floats.
enum class Type : std::uint8_t { real, integer, real32 };
inline bool is_real(Type type) { return type != Type::integer; }
inline int size_bytes(Type type) { return type == Type::real ? 8 : 4; }

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Node {
  Kind kind = Kind::block;
  Type type = Type::real; ///< type of the value of a real
  std::vector<NodePtr> operands;
  std::string name;         ///< variable, register or buffer
  std::int64_t integer = 0; ///< value of a literal, axis of an item
  double value = 0;
  form::ScalarOp op = form::ScalarOp::constant;
  LoopStyle style = LoopStyle::rolled;
  bool has_lane = false;     ///< integers: contains `lane`
  bool is_atomic = false;    ///< adds: see atomic_add()
  bool is_streaming = false; ///< stores: past the caches, see stream()
  bool is_by_lane = false;   ///< loads: one instruction per lane, see load_by_lane()
  bool is_nearest = false;   ///< prefetches: into the nearest cache, see prefetch_nearest()
};

// Builders. Integer arithmetic folds literals.
NodePtr integer(std::int64_t value);
/// `has_lane`: the ilet of that name holds one value per lane.
NodePtr variable(const std::string& name, bool has_lane = false);
NodePtr lane();
NodePtr group();
/// `axis`: 0, 1 or 2, those of Launch::items.
NodePtr item(int axis);
NodePtr iadd(NodePtr a, NodePtr b);
NodePtr isub(NodePtr a, NodePtr b);
NodePtr imul(NodePtr a, NodePtr b);
NodePtr imin(NodePtr a, NodePtr b);
NodePtr idiv(NodePtr a, std::int64_t b);
NodePtr ieq(NodePtr a, NodePtr b);
NodePtr ilt(NodePtr a, NodePtr b);
NodePtr iload(const std::string& buffer, NodePtr index);
/// A literal, which is rounded to a float if `type` is real32.
NodePtr number(double value, Type type = Type::real);
/// `type`: type of the value that the let defines.
NodePtr reg(const std::string& name, Type type = Type::real);
/// `type`: type of the buffer.
NodePtr load(const std::string& buffer, NodePtr index, Type type = Type::real);
/// A load whose lanes lie apart, which the emitter writes as one load per lane instead of one gather instruction. The
/// meaning is that of load(); an index that does not vary in that way makes a plain load.
NodePtr load_by_lane(const std::string& buffer, NodePtr index, Type type = Type::real);
/// Says whether an index has the form x + lane: that of consecutive numbers.
bool is_contiguous(const Node& index);
/// The value as one of `type`: itself, widened or narrowed.
NodePtr converted(NodePtr value, Type type);
/// The result has the type of the operands.
NodePtr operation(form::ScalarOp op, std::vector<NodePtr> operands);
NodePtr block(std::vector<NodePtr> statements);
NodePtr loop(const std::string& name, NodePtr count, NodePtr body, LoopStyle style = LoopStyle::rolled);
NodePtr let(const std::string& name, NodePtr value);
NodePtr ilet(const std::string& name, NodePtr value);
NodePtr store(const std::string& buffer, NodePtr index, NodePtr value, NodePtr active = nullptr);
/// A store of what is not read again soon: the emitter may let it pass the caches by. The index is x + lane, the buffer
/// global.
NodePtr stream(const std::string& buffer, NodePtr index, NodePtr value);
NodePtr add(const std::string& buffer, NodePtr index, NodePtr value, NodePtr active = nullptr);
/// An add of a number that others may add to at the same time, also atomically; the order of the sum is open. The
/// buffer is shared or global.
NodePtr atomic_add(const std::string& buffer, NodePtr index, NodePtr value, NodePtr active = nullptr);
NodePtr barrier();
NodePtr prefetch(const std::string& buffer, NodePtr index);
/// A prefetch of what is used so soon that the emitter may choose the nearest cache.
NodePtr prefetch_nearest(const std::string& buffer, NodePtr index);
NodePtr branch(NodePtr condition, NodePtr then, NodePtr otherwise);

/// The owner of the memory of a buffer.
enum class Space : std::uint8_t {
  global,   ///< an argument, the same for all groups
  constant, ///< a table of numbers, which nobody writes
  work,     ///< memory of each item alone, in a host program that of its batch; undefined when the item begins
  shared    ///< memory of each group; undefined when the group begins
};

/// Roles of global buffers: what they are bound to, by name (device::BufferRegistry). Owners of further data have roles
/// of their own (rafter/space/index_tables.hpp); programs take any.
namespace role {
inline constexpr const char* mode =
    "mode"; ///< 1 if results are added; behind that, the number of coefficients of a cell
inline constexpr const char* parameters = "parameters";
inline constexpr const char* input_vector =
    "input_vector"; ///< vectors of trial functions, then of data fields, by number of the field
inline constexpr const char* output_vector = "output_vector"; ///< vectors by number of the test field
inline constexpr const char* integral =
    "integral"; ///< values of a functional, one sum per batch and cell: by number of the value
inline constexpr const char* num_active = "num_active"; ///< cells of a batch
inline constexpr const char* facet = "facet"; ///< position of the facet of a batch along TensorProgram::facet_axis
inline constexpr const char* chunk_bounds =
    "chunk_bounds"; ///< first batch of a chunk, and that behind its last one: shape (chunk, 2)
inline constexpr const char* mask =
    "mask"; ///< masks of the tensor program, floats by number: shape (batch, run, component, cell)
/// Lists of what the cells of a sub-batch own: where each begins and the last one ends, shape (batch, sub-batch) and
/// one more; the places of its numbers in the work array, entry * lanes + lane; their entries of the vector.
inline constexpr const char *owned_begins = "owned_begins", *owned_places = "owned_places",
                            *owned_entries = "owned_entries";
inline constexpr const char* data_rows = "data_rows"; ///< row of the data per cell that a batch reads
inline constexpr const char* map = "map";             ///< coefficients of the maps of cells
inline constexpr const char* nodes = "nodes";         ///< geometry nodes of cells
inline constexpr const char* cell_coefficients = "cell_coefficients";
inline constexpr const char* stored_point = "stored_point";         ///< data that set-up stores per point
inline constexpr const char* stored_cell = "stored_cell";           ///< and per cell
inline constexpr const char* reference_normal = "reference_normal"; ///< normals, shape (facet, axis)
inline constexpr const char* points = "points";
inline constexpr const char* weights = "weights";
inline constexpr const char* matrix = "matrix";             ///< matrices of the tensor program, see packed_tables
inline constexpr const char* table = "table";               ///< the buffer's own values
inline constexpr const char* slice_starts = "slice_starts"; ///< assembled matrices, as the rest: see matrix_product
inline constexpr const char* rows = "rows";
inline constexpr const char* columns = "columns";
inline constexpr const char* entries = "entries";
} // namespace role

struct LoopBuffer {
  std::string name;
  Space space = Space::global;
  Type type = Type::real;
  std::int64_t size = 0;      ///< elements (lanes included); 0: unknown (global)
  bool is_written = false;    ///< global
  bool is_lane = false;       ///< element = (entry, lane): used as whole vectors
  std::string role;           ///< role of a global buffer
  int index = 0;              ///< distinguishes the buffers of one role: those of fields, spaces, matrices
  std::vector<double> values; ///< constant, and of role::table
  bool operator==(const LoopBuffer&) const = default;
};

using device::Launch;
inline constexpr int most_items = 1024; ///< number of items that a group may have

struct LoopProgram {
  std::string name = "kernel";
  int vector_width = 1;
  Launch launch;
  std::vector<LoopBuffer> buffers; ///< the global ones, in order, are the kernel's arguments
  NodePtr body;

  const LoopBuffer* find(const std::string& buffer) const;
  std::vector<LoopBuffer> arguments() const;
};

/// Text as S-expressions; read(print(p)) has the same text.
std::string print(const LoopProgram& program);
/// Text of a statement or an expression.
std::string print(const Node& node);
LoopProgram read(const std::string& text);

/// Throws InternalError: unknown or doubly defined names, wrong types, types that meet without a conversion, lanes
/// where there may be none, writes to what is read-only, constant indices out of range, groups without items or with
/// more than most_items, barriers where the text does not show that all items of the group get there: under conditions
/// and in loops whose counts vary with the item.
void verify(const LoopProgram& program);

/// Array of an argument of a kernel (real: double, integer: int32, real32: float, as the buffers say).
struct Argument {
  std::span<double> reals;
  std::span<std::int32_t> integers;
  std::span<float> singles = {};
};
/// Bytes that loads and stores exchange with the nearest cache: every access of every lane to work arrays, vectors,
/// data, tables and lists of indices, each as often as it is executed. Not among them are registers (see
/// in_registers()), prefetches, and stores that pass the caches by.
struct Traffic {
  double read_bytes = 0, written_bytes = 0;
  bool operator==(const Traffic&) const = default;
};

/// Names of the work arrays and constant tables that need no memory: every place in them is known once unrolled loops
/// are written out.
std::set<std::string> in_registers(const LoopProgram& program);

/// The meaning of host programs: runs batches begin .. end-1. Returns what was moved, that of all the batches. Throws
/// InternalError for programs with other groups, which interpret_launch() runs (launch_interpreter.hpp).
Traffic interpret(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                  std::int64_t end);

} // namespace rafter::schedule
