// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <rafter/emit/c_vectors.hpp>

namespace rafter::emit {

namespace {

using schedule::Type;

std::string head(const schedule::LoopProgram& program) {
  return fmt::format("void {}(void* const* arguments, long begin, long end)\n{{\n", program.name);
}

/// A group of one item that takes all batches is a program whose body has the loop.
std::string batches(const schedule::Launch& launch) {
  if (launch.batches == schedule::Launch::all_batches) return "  if (begin < end) {\n    const long batch = begin;\n";
  return "  for (long batch = begin; batch < end; ++batch) {\n";
}

const char* element_type(Type type) { return type == Type::integer ? "int" : c::names_of(type).scalar; }

std::string pointer(const schedule::LoopBuffer& buffer) {
  return fmt::format("{}{}* restrict", buffer.is_written ? "" : "const ", element_type(buffer.type));
}

std::string argument(const schedule::LoopBuffer& buffer, int i) {
  return fmt::format("  {} {} = arguments[{}];\n", pointer(buffer), buffer.name, i);
}

std::string function(form::ScalarOp op, Type type) {
  return std::string("__builtin_") + (op == form::ScalarOp::abs ? "fabs" : form::info(op).name) +
         c::names_of(type).suffix;
}

/// Text of a prefetch, for reading: a line that a single core uses need not be requested for writing. Usually it is one
/// into the second cache, since the few line buffers of the first would be held for as long as memory takes.
std::string prefetch(const std::string& place, bool is_nearest) {
  return fmt::format("__builtin_prefetch({}, 0, {})", place, is_nearest ? 3 : 2);
}

// Vector types may alias the numbers that they consist of.
std::string load_whole(const std::string& array, const std::string& y, Type type) {
  return fmt::format("((const {}*){})[{}]", type == Type::integer ? "ivec" : c::names_of(type).vector, array, y);
}

std::string store_whole(const std::string& array, const std::string& y, const char* assignment,
                        const std::string& value, Type type) {
  return fmt::format("(({}*){})[{}] {} {}", c::names_of(type).vector, array, y, assignment, value);
}

std::string as_numbers(const std::string& array, Type type, bool is_written) {
  return fmt::format("(({}{}*){})", is_written ? "" : "const ", c::names_of(type).scalar, array);
}

std::string load(const std::string& address, Type type) {
  const auto& names = c::names_of(type);
  return fmt::format("({})*(const {}*)({})", names.vector, names.loose, address);
}

std::string store(const std::string& address, const char* assignment, const std::string& value, Type type) {
  return fmt::format("*({}*)({}) {} {}", c::names_of(type).loose, address, assignment, value);
}

std::string lane(const std::string& vector, const std::string& number, Type) {
  return fmt::format("{}[{}]", vector, number);
}

/// Clears the bit of the sign: compilers keep a loop of functions of single lanes, which goes through memory.
std::string absolute(const std::string& vector, Type type) {
  return fmt::format("({1})((__typeof__({0} < {0})){0} & ~(__typeof__({0} < {0}))-({1}){{0}})", vector,
                     c::names_of(type).vector);
}

std::string converted(const std::string& value, Type type) {
  return fmt::format("__builtin_convertvector({}, {})", value, c::names_of(type).vector);
}

} // namespace

const Spelling& c_spelling() {
  static const Spelling spelling{
      .name = "c",
      .doubles = {"double", "vec", "uvec", "", "K", ""},
      .floats = {"float", "fvec", "ufvec", "f", "KF", "f"},
      .prelude = c::prelude,
      .float_prelude = c::float_prelude,
      .pointer = pointer,
      .head = head,
      .argument = argument,
      .batches = batches,
      .function = function,
      .vectors = {.load_whole = load_whole,
                  .store_whole = store_whole,
                  .as_numbers = as_numbers,
                  .load = load,
                  .store = store,
                  .lane = lane,
                  .absolute = absolute,
                  .function = c::vector_function,
                  .function_prelude = c::vector_function_prelude,
                  .converted = converted},
      .prefetch = prefetch,
      .run_prelude = c::exchanges,
      .run_mover = c::run_mover,
      .lane_gather = c::lane_gather,
      .stream = c::stream,
      .constant = "static const ",
      .function_head = "static inline ",
      .large_work = "static __thread ",
  };
  return spelling;
}

} // namespace rafter::emit
