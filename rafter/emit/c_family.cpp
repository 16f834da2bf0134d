// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/c_family.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/emit/constants.hpp>
#include <rafter/emit/recorder.hpp>
#include <rafter/emit/statement_writer.hpp>

namespace rafter::emit {

namespace {

using schedule::LoopProgram;
using schedule::Node;
using schedule::Space;
using schedule::Type;

bool any_node(const Node& node, const std::function<bool(const Node&)>& holds) {
  return holds(node) ||
         std::ranges::any_of(node.operands, [&](const auto& operand) { return any_node(*operand, holds); });
}

/// Work arrays that do not stand on the stack. Stacks have 8 MiB on most systems, those of threads often less: the
/// largest arrays are moved elsewhere until at most 1 MiB remains.
std::set<std::string> leaving_the_stack(const LoopProgram& program) {
  constexpr std::int64_t stack_bytes = 1 << 20;
  std::vector<std::pair<std::int64_t, std::string>> arrays;
  std::int64_t left = 0;
  for (const auto& buffer : program.buffers)
    if (buffer.space == Space::work) {
      arrays.emplace_back(buffer.size * size_bytes(buffer.type), buffer.name);
      left += arrays.back().first;
    }
  std::ranges::stable_sort(arrays, std::ranges::greater(), &std::pair<std::int64_t, std::string>::first);
  std::set<std::string> result;
  for (std::size_t i = 0; left > stack_bytes; ++i) {
    left -= arrays[i].first;
    result.insert(arrays[i].second);
  }
  return result;
}

/// Declares the pointers to the arguments, and the work arrays.
std::string declarations(const LoopProgram& program, const Spelling& spelling) {
  const auto leaving = leaving_the_stack(program);
  std::string text;
  int i = 0;
  for (const auto& buffer : program.buffers) {
    const auto& names = spelling.names(buffer.type);
    if (buffer.space == Space::global) text += spelling.argument(buffer, i++);
    if (buffer.space == Space::shared)
      text += fmt::format("  {}{} {}[{}];\n", spelling.groups.shared, names.scalar, buffer.name, buffer.size);
    if (buffer.space == Space::work)
      text += fmt::format("  {}{} {}[{}];\n", leaving.contains(buffer.name) ? spelling.large_work : "",
                          buffer.is_lane ? names.vector : names.scalar, buffer.name,
                          buffer.is_lane ? buffer.size / program.vector_width : buffer.size);
  }
  return text;
}

/// The loop over batches, up to the end of the kernel.
std::string batches(const LoopProgram& program, const Spelling& spelling, StatementWriter& statements,
                    const Helpers& helpers) {
  const auto is_last_batch = [](const Node& node) {
    return node.kind == schedule::Kind::variable && node.name == "last_batch";
  };
  const std::string body = statements.text(program.body, 2);
  return fmt::format("{}{}{}  }}\n{}}}\n",
                     any_node(*program.body, is_last_batch) ? "  const long last_batch = end - 1;\n" : "",
                     spelling.batches(program.launch), body, helpers.contains("stream") ? "  finish_streams();\n" : "");
}

/// Refuses programs that a language cannot say.
void require_sayable(const LoopProgram& program, const Spelling& spelling) {
  using schedule::Kind;
  const auto needs_groups = [](const Node& node) {
    return node.kind == Kind::group || node.kind == Kind::item || node.kind == Kind::barrier || node.is_atomic;
  };
  const bool has_shared = std::ranges::any_of(program.buffers, [](const auto& b) { return b.space == Space::shared; });
  const bool has_groups = program.launch.num_items() > 1 || has_shared || any_node(*program.body, needs_groups);
  if (has_groups && !spelling.has_groups())
    throw base::InternalError("emitter: language '" + spelling.name + "' has no groups of items");
  if (program.vector_width > 1 && !spelling.has_vectors())
    throw base::InternalError("emitter: language '" + spelling.name + "' has no vectors");
}

} // namespace

namespace {

/// Types and helpers that stand once before all kernels of a source. These have the same lanes.
std::string preludes(std::span<const LoopProgram> programs, const Spelling& spelling) {
  const int lanes = programs.front().vector_width;
  const auto has_floats = [](const LoopProgram& program) {
    return any_node(*program.body, [](const Node& node) { return node.type == Type::real32; });
  };
  std::string text = spelling.prelude(lanes);
  if (lanes > 1 && std::ranges::any_of(programs, has_floats)) text += spelling.float_prelude(lanes);
  return text;
}

} // namespace

std::string emit(std::span<const LoopProgram> programs, const Spelling& spelling) {
  Helpers helpers;
  std::string kernels, tables;
  for (const auto& program : programs) {
    require_sayable(program, spelling);
    StatementWriter statements(program, spelling, helpers);
    const std::string loop = batches(program, spelling, statements, helpers);
    std::vector<schedule::LoopBuffer> constants;
    std::ranges::copy_if(program.buffers, std::back_inserter(constants),
                         [](const auto& buffer) { return buffer.space == Space::constant; });
    std::ranges::move(statements.literal_tables(), std::back_inserter(constants));
    if (programs.size() > 1 && !constants.empty())
      throw base::InternalError("emitter: kernel " + program.name + " of several in a source has tables of constants");
    tables += constant_tables(constants, program.vector_width, spelling);
    kernels += spelling.head(program) + declarations(program, spelling) + loop;
  }
  std::string text = preludes(programs, spelling);
  for (const auto& [name, helper] : helpers) text += helper;
  return text + tables + kernels;
}

std::string emit(const LoopProgram& program, const Spelling& spelling) {
  return emit(std::span(&program, 1), spelling);
}

namespace {

const char* const language_of_interpreters = "loops";

std::vector<const Spelling*> spellings() {
  return {&c_spelling(), &opencl_spelling(), &cuda_spelling(), &hip_spelling()};
}

const Spelling& spelling_of(const std::string& language) {
  for (const auto* spelling : spellings())
    if (language == spelling->name) return *spelling;
  throw base::InternalError("no emitter for language '" + language + "'");
}

} // namespace

std::string emit(std::span<const LoopProgram> programs, const std::string& language) {
  for (const auto& program : programs) record("loops", program.name, [&] { return schedule::print(program); });
  std::string text;
  if (language == language_of_interpreters)
    for (const auto& program : programs) text += schedule::print(program);
  else {
    text = emit(programs, spelling_of(language));
    record(language, programs.front().name, [&] { return text; });
  }
  return text;
}

std::string emit(const LoopProgram& program, const std::string& language) {
  return emit(std::span(&program, 1), language);
}

std::vector<std::string> languages() {
  std::vector<std::string> result;
  for (const auto* spelling : spellings()) result.push_back(spelling->name);
  return result;
}

schedule::Target target(const std::string& language) {
  schedule::Target result{.language = language};
  if (language == language_of_interpreters) {
    result.has_groups = true;
    return result;
  }
  const auto& spelling = spelling_of(language);
  result.has_lanes = spelling.has_vectors() && !spelling.has_groups();
  result.has_groups = spelling.has_groups();
  result.has_atomic_doubles = spelling.has_atomic_doubles;
  return result;
}

} // namespace rafter::emit
