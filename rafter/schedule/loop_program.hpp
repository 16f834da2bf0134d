// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <rafter/form/scalar_graph.hpp>

/// The loop program: how a kernel runs. A small loop-nest language with address spaces and one hardware axis, the SIMD
/// lane; an immutable tree over the table of node kinds below.
namespace rafter::schedule {

/// Semantics. A program runs its body once per batch, with the variable `batch` bound to its number and `last_batch` to
/// that of the last one of the run. Integer expressions (i...) have
/// one value or, when they contain `lane`, one per lane 0 .. lanes-1; the same holds for reals. A store or add with a
/// lane-varying index runs lane by lane in ascending order; with an `active` count, lanes from that count on write
/// nothing. Every real is of one type, double or float; operations and writes take numbers of one type, and what is
/// computed from floats is rounded to a float: types meet only through `widen` and `narrow`.
enum class Kind : std::uint8_t {
  // integers
  integer,  ///< literal
  variable, ///< loop variable, `batch` or the name of an ilet
  lane,     ///< number of the SIMD lane
  iadd,
  isub,
  imul,
  imin,
  idiv, ///< rounded down, of what is not negative, by a positive literal
  ieq,
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
  loop,     ///< for name = 0 .. count-1: operands (count, body)
  let,      ///< name = real, visible to the end of the enclosing block
  ilet,     ///< name = integer
  store,    ///< buffer[index] = value: operands (index, value[, active])
  add,      ///< buffer[index] += value
  prefetch, ///< buffer[index] will be used soon; the index may leave the buffer
  branch    ///< if operand 0 is not 0 then operand 1 else operand 2 (condition without lane)
};

/// How the emitter writes a loop; its meaning is the same.
enum class LoopStyle : std::uint8_t {
  rolled,
  unrolled, ///< every iteration is written out; literal count
  run ///< the body is one load into a work array or one addition from it, iteration k that of entry k of one run of
      ///< consecutive entries per lane: runs move as vectors, turned in registers; literal count
};

/// Of elements of buffers, and of reals. `real32` are floats.
enum class Type : std::uint8_t { real, integer, real32 };
inline bool is_real(Type type) { return type != Type::integer; }
inline int size_bytes(Type type) { return type == Type::real ? 8 : 4; }

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Node {
  Kind kind = Kind::block;
  Type type = Type::real; ///< of the value of a real
  std::vector<NodePtr> operands;
  std::string name; ///< variable, register or buffer
  std::int64_t integer = 0;
  double value = 0;
  form::ScalarOp op = form::ScalarOp::constant;
  LoopStyle style = LoopStyle::rolled;
  bool has_lane = false;     ///< integers: contains `lane`
  bool is_streaming = false; ///< stores: past the caches, see stream()
};

// Builders. Integer arithmetic folds literals.
NodePtr integer(std::int64_t value);
/// `has_lane`: the ilet of that name holds one value per lane.
NodePtr variable(const std::string& name, bool has_lane = false);
NodePtr lane();
NodePtr iadd(NodePtr a, NodePtr b);
NodePtr isub(NodePtr a, NodePtr b);
NodePtr imul(NodePtr a, NodePtr b);
NodePtr imin(NodePtr a, NodePtr b);
NodePtr idiv(NodePtr a, std::int64_t b);
NodePtr ieq(NodePtr a, NodePtr b);
NodePtr iload(const std::string& buffer, NodePtr index);
/// Of type real32: rounded to a float.
NodePtr number(double value, Type type = Type::real);
/// `type`: of what the let defines.
NodePtr reg(const std::string& name, Type type = Type::real);
/// `type`: of the buffer.
NodePtr load(const std::string& buffer, NodePtr index, Type type = Type::real);
/// The value as one of `type`: itself, widened or narrowed.
NodePtr converted(NodePtr value, Type type);
/// Of the type of its operands.
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
NodePtr prefetch(const std::string& buffer, NodePtr index);
NodePtr branch(NodePtr condition, NodePtr then, NodePtr otherwise);

enum class Space : std::uint8_t { global, constant, work }; ///< work: private to the batch that runs

/// What a global buffer is bound to (`index`: field, matrix, ...).
enum class Role : std::uint8_t {
  none,
  mode,
  parameters,
  input_vector,
  output_vector,
  run_starts,
  run_permutations,
  permutations,
  interior_starts,
  interior_strides,
  first_touch,
  pattern_numbers, ///< of batches, see space::BlockDofs
  patterns,
  patch_starts,
  patch_numbers,
  patch_patterns,
  num_active,
  data_rows, ///< row of the data per cell that a batch reads
  map,
  nodes,
  cell_coefficients,
  stored_point,
  stored_cell,
  reference_normal,
  points,
  weights,
  matrix,
  table,        ///< the buffer's own values
  slice_starts, ///< of an assembled matrix, as the rest of it: see matrix_product
  rows,
  columns,
  entries,
  integral
};
std::string_view name(Role role);

struct LoopBuffer {
  std::string name;
  Space space = Space::global;
  Type type = Type::real;
  std::int64_t size = 0;   ///< elements (lanes included); 0: unknown (global)
  bool is_written = false; ///< global
  bool is_lane = false;    ///< element = (entry, lane): used as whole vectors
  Role role = Role::none;
  int index = 0;
  std::vector<double> values; ///< constant, and of role table
  bool operator==(const LoopBuffer&) const = default;
};

struct LoopProgram {
  std::string name = "kernel";
  int vector_width = 1;
  std::vector<LoopBuffer> buffers; ///< the global ones, in order, are the kernel's arguments
  NodePtr body;

  const LoopBuffer* find(const std::string& buffer) const;
  std::vector<LoopBuffer> arguments() const;
};

/// Text as S-expressions; read(print(p)) has the same text.
std::string print(const LoopProgram& program);
LoopProgram read(const std::string& text);

/// Throws InternalError: unknown or doubly defined names, wrong types, types that meet without a conversion, lanes
/// where there may be none, writes to what is read-only, constant indices out of range.
void verify(const LoopProgram& program);

/// The meaning: runs batches begin .. end-1 on these argument arrays (real: double, integer: int32, real32: float, as
/// the buffers say).
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

/// Also what was moved: that of all the batches.
Traffic interpret(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                  std::int64_t end);

} // namespace rafter::schedule
