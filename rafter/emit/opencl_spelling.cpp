// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/emit/lane_macros.hpp>

namespace rafter::emit {

namespace {

using schedule::Space;
using schedule::Type;

std::string prelude(int lanes) {
  const std::string text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                           "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
  if (lanes == 1) return text;
  return text + fmt::format(R"(enum {{ LANES = {0} }};
typedef double{0} vec; typedef float{0} fvec; typedef int{0} ivec;
#define vmin_i min
#define to_vec convert_double{0}
#define to_fvec convert_float{0}
#define load_vec vload{0}
#define store_vec vstore{0}
)",
                            lanes);
}

std::string load_whole(const std::string& array, const std::string& y, Type) {
  return fmt::format("load_vec({}, {})", y, array);
}
std::string store_whole(const std::string& array, const std::string& y, const char* assignment,
                        const std::string& value, Type type) {
  const std::string before = *assignment == '+' ? load_whole(array, y, type) + " + " : "";
  return fmt::format("store_vec({}{}, {}, {})", before, value, y, array);
}
/// Vectors are private memory of the item.
std::string as_numbers(const std::string& array, Type type, bool) {
  return fmt::format("(({}*){})", type == Type::real32 ? "float" : "double", array);
}
std::string of_numbers(const std::string& vector, const std::vector<std::string>& numbers) {
  return fmt::format("(({})({}))", vector, fmt::join(numbers, ", "));
}
std::string load_run(int width, const std::string& address) { return fmt::format("vload{}(0, {})", width, address); }
std::string add_run(int width, const std::string& address, const std::string& value) {
  return fmt::format("vstore{0}(vload{0}(0, {1}) + {2}, 0, {1})", width, address, value);
}

/// The name has a prefix because programs may be called `kernel`, which is a word of the language. Buffers come with
/// the number of bytes at their begin that the kernel does not see.
std::string head(const schedule::LoopProgram& program) {
  const auto& items = program.launch.items;
  std::string parameters;
  for (std::size_t i = 0; i < program.arguments().size(); ++i)
    parameters += fmt::format("global char* memory_{0}, long offset_{0}, ", i);
  return fmt::format(
      "kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid entry_{}({}long begin, long end)\n{{\n", items[0],
      items[1], items[2], program.name, parameters);
}

std::string plain_pointer(const schedule::LoopBuffer& buffer) {
  const char* element = buffer.type == Type::integer ? "int" : buffer.type == Type::real32 ? "float" : "double";
  return fmt::format("global {}{}*", buffer.is_written ? "" : "const ", element);
}

std::string pointer(const schedule::LoopBuffer& buffer) { return plain_pointer(buffer) + " restrict"; }

std::string argument(const schedule::LoopBuffer& buffer, int i) {
  return fmt::format("  {0} {1} = ({2})(memory_{3} + offset_{3});\n", pointer(buffer), buffer.name,
                     plain_pointer(buffer), i);
}

std::string batches(const schedule::Launch& launch) {
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
  static const auto spelling = with_lane_macros({
      .name = "opencl",
      .doubles = {"double", "vec", "", "", "K", ""},
      .floats = {"float", "fvec", "", "f", "KF", "f"},
      .prelude = prelude,
      .pointer = pointer,
      .head = head,
      .argument = argument,
      .batches = batches,
      .function = function,
      .vectors = {.load_whole = load_whole,
                  .store_whole = store_whole,
                  .as_numbers = as_numbers,
                  .of_numbers = of_numbers,
                  .element = [](const std::string& vector, int lane) { return fmt::format("{}.s{:x}", vector, lane); },
                  .load_run = load_run,
                  .add_run = add_run},
      .groups = {.group = "(long)get_group_id(0)",
                 .item = item,
                 .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
                 .shared = "local ",
                 .atomic_add = atomic_add},
      .constant = "constant ",
      .function_head = "static inline ",
  });
  return spelling;
}

} // namespace rafter::emit
