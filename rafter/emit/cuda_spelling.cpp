// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

namespace {

using schedule::Space;
using schedule::Type;

/// The compiler may give each item as many registers as leave room for `resident` items on a multiprocessor, which has
/// 65536: all 255 that there are for 256 items. Fewer registers for more items were slower (0083).
std::string cuda_bounds(int items) {
  constexpr int resident = 256;
  return fmt::format("{}, {}", items, std::max(1, resident / items));
}
/// A second number would be that of waves per processor of a unit, which items of 256 registers leave at one.
std::string hip_bounds(int items) { return std::to_string(items); }

std::string head(const schedule::LoopProgram& program, std::string (*bounds)(int items)) {
  std::string parameters;
  for (std::size_t i = 0; i < program.arguments().size(); ++i) parameters += fmt::format("void* memory_{}, ", i);
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) entry_{}({}long begin, long end)\n{{\n",
                     bounds(program.launch.num_items()), program.name, parameters);
}

std::string plain_pointer(const schedule::LoopBuffer& buffer) {
  const char* element = buffer.type == Type::integer ? "int" : buffer.type == Type::real32 ? "float" : "double";
  return fmt::format("{}{}*", buffer.is_written ? "" : "const ", element);
}

std::string pointer(const schedule::LoopBuffer& buffer) { return plain_pointer(buffer) + " __restrict__"; }

std::string argument(const schedule::LoopBuffer& buffer, int i) {
  return fmt::format("  {} {} = ({})memory_{};\n", pointer(buffer), buffer.name, plain_pointer(buffer), i);
}

constexpr const char* group = "(long)blockIdx.x";

std::string batches(const schedule::Launch& launch) {
  return fmt::format("  {{\n    const long batch = begin + {}*{};\n", launch.batches, group);
}

std::string function(form::ScalarOp op, Type type) {
  return std::string(op == form::ScalarOp::abs ? "fabs" : form::info(op).name) + (type == Type::real32 ? "f" : "");
}

std::string item(int axis) { return fmt::format("(long)threadIdx.{}", "xyz"[axis]); }

std::string atomic_add(const std::string& name, Space, Type type) {
  const char* real = type == Type::real32 ? "float" : "double";
  return fmt::format("static __device__ inline void {0}({1}* p, {1} value) {{ atomicAdd(p, value); }}\n", name, real);
}

} // namespace

namespace {

/// CUDA C++ and HIP differ in what bounds of a launch say.
Spelling gpu_spelling(const char* name, std::string (*bounds)(int items)) {
  return {
      .name = name,
      .doubles = {"double", "", "", "", "K", ""},
      .floats = {"float", "", "", "f", "KF", "f"},
      .prelude = [](int) { return std::string(); },
      .float_prelude = [](int) { return std::string(); },
      .pointer = pointer,
      .head = [bounds](const schedule::LoopProgram& program) { return head(program, bounds); },
      .argument = argument,
      .batches = batches,
      .function = function,
      .groups = {.group = group,
                 .item = item,
                 .barrier = "__syncthreads()",
                 .shared = "__shared__ ",
                 .atomic_add = atomic_add},
      .has_atomic_doubles = true,
      .constant = "static __constant__ const ",
      .most_constant_bytes = std::int64_t{48} << 10,
      .large_constant = "static __device__ const ",
      .function_head = "static __device__ inline ",
      .rolled_loops = {.line = "#pragma unroll 1\n", .register_bytes = 1020, .most_statements = 64},
  };
}

} // namespace

const Spelling& cuda_spelling() {
  static const auto spelling = gpu_spelling("cuda", cuda_bounds);
  return spelling;
}

const Spelling& hip_spelling() {
  static const auto spelling = gpu_spelling("hip", hip_bounds);
  return spelling;
}

} // namespace rafter::emit
