// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

namespace {

using schedule::Launch;
using schedule::LoopBuffer;
using schedule::LoopProgram;
using schedule::Space;
using schedule::Type;

std::string prelude(int) {
  return "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
         "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
}

/// The name has a prefix because programs may be called `kernel`, which is a word of the language. Buffers come with
/// the number of bytes at their begin that the kernel does not see.
std::string head(const LoopProgram& program) {
  const auto& items = program.launch.items;
  std::string parameters;
  for (std::size_t i = 0; i < program.arguments().size(); ++i)
    parameters += fmt::format("global char* memory_{0}, long offset_{0}, ", i);
  return fmt::format(
      "kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid entry_{}({}long begin, long end)\n{{\n", items[0],
      items[1], items[2], program.name, parameters);
}

std::string argument(const LoopBuffer& buffer, int i) {
  const char* element = buffer.type == Type::integer ? "int" : buffer.type == Type::real32 ? "float" : "double";
  return fmt::format("  global {0}{1}* restrict {2} = (global {0}{1}*)(memory_{3} + offset_{3});\n",
                     buffer.is_written ? "" : "const ", element, buffer.name, i);
}

std::string batches(const Launch& launch) {
  return fmt::format("  {{\n    const long batch = begin + {}*(long)get_group_id(0);\n", launch.batches);
}

std::string function(form::ScalarOp op, Type) { return op == form::ScalarOp::abs ? "fabs" : form::info(op).name; }

std::string item(int axis) { return fmt::format("(long)get_local_id({})", axis); }

/// OpenCL 1.2 has no atomic addition of reals: the sum is exchanged for the number that was seen, until nobody came
/// between.
std::string atomic_add(const std::string& name, Space space, Type type) {
  const bool is_float = type == Type::real32;
  const char* real = is_float ? "float" : "double";
  const char* bits = is_float ? "uint" : "ulong";
  return fmt::format(R"(static inline void {0}(volatile {1} {2}* p, {2} value) {{
  volatile {1} {3}* bits = (volatile {1} {3}*)p;
  {3} seen = *bits, expected;
  do {{ expected = seen; seen = {4}(bits, expected, as_{3}(as_{2}(expected) + value)); }} while (seen != expected);
}}
)",
                     name, space == Space::shared ? "local" : "global", real, bits,
                     is_float ? "atomic_cmpxchg" : "atom_cmpxchg");
}

} // namespace

const Spelling& opencl_spelling() {
  static const Spelling spelling{
      .name = "opencl",
      .doubles = {"double", "", "", "", "K", ""},
      .floats = {"float", "", "", "f", "KF", "f"},
      .prelude = prelude,
      .head = head,
      .argument = argument,
      .batches = batches,
      .function = function,
      .groups = {.group = "(long)get_group_id(0)",
                 .item = item,
                 .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
                 .shared = "local ",
                 .atomic_add = atomic_add},
      .constant = "constant ",
      .function_head = "static inline ",
  };
  return spelling;
}

} // namespace rafter::emit
