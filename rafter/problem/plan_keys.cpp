// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/plan_keys.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/point_loops.hpp>

namespace rafter::problem {
namespace {

/// The kernels of a form that a plan is meant for: those of cells, where it has any, and the product of a matrix.
std::vector<const op::KernelInfo*> planned_kernels(const op::GeneratedForm& form) {
  std::vector<const op::KernelInfo*> result;
  if (form.matrix != nullptr) result.push_back(&form.matrix->info);
  const auto& cells = form.matrix != nullptr ? *form.matrix->cells : form;
  const auto count = cells.num_cell_blocks > 0 ? cells.num_cell_blocks : cells.blocks.size();
  for (std::size_t i = 0; i < count; ++i) result.push_back(&cells.blocks[i].kernel.info);
  return result;
}

/// All that kernels are compiled of: their texts, and compilers with flags where the device takes any.
std::vector<std::string> programs_of(const op::GeneratedForm& form) {
  std::vector<std::string> result;
  const bool has_compilers = form.options.target->target.language == "c";
  const auto add = [&](const op::KernelInfo& info, const std::string& setup) {
    result.push_back(info.source);
    result.push_back(setup);
    if (has_compilers) result.push_back(info.plan[schedule::key::compiler] + " " + info.plan[schedule::key::flags]);
  };
  if (form.matrix != nullptr) add(form.matrix->info, "");
  const auto& cells = form.matrix != nullptr ? *form.matrix->cells : form;
  for (const auto& block : cells.blocks) add(block.kernel.info, block.kernel.programs.setup.source);
  return result;
}

/// The value of a key in the full text of a plan; "" where the plan has no such key.
std::string value_of(const schedule::Plan& plan, const std::string& key) {
  for (const auto& word : base::words(schedule::to_string(plan)))
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  return "";
}

/// The plan without one of its words.
std::string without(const std::vector<std::string>& words, std::size_t left_out) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (i != left_out) others.push_back(words[i]);
  return others.empty() ? "default" : base::join(others, " ");
}

/// Says whether some kernel of a form has this value of a key.
bool has_value(const op::GeneratedForm& form, const std::string& key, const std::string& value) {
  return std::ranges::any_of(planned_kernels(form),
                             [&](const auto* info) { return value_of(info->plan, key) == value; });
}

/// A key of a plan with the value that it asks for, and its place among the words of the plan.
struct AskedKey {
  std::size_t place = 0;
  std::string key, value;
};

/// Says whether the kernels of a form are the same, to the letter, without a key that asks for another value than they
/// have by themselves.
bool is_same_without(const AskedKey& asked, const std::vector<std::string>& words, const op::GeneratedForm& built,
                     const op::OperatorOptions& options) {
  auto others = options;
  others.plan = without(words, asked.place);
  try {
    auto kernels = op::kernel_options(others, *built.options.target);
    kernels.device = built.options.device;
    const auto other = op::build_form(built.form, built.system, built.purpose, kernels);
    return !has_value(*other, asked.key, asked.value) && programs_of(*other) == programs_of(built);
  } catch (const base::InputError&) { // other keys need it
    return false;
  }
}

/// Says whether matrices of cells follow a key of the plan, also where the action of the form does not.
bool is_of_matrices(const std::string& key, const schedule::Plan& plan) {
  namespace of = schedule::key;
  return key == of::order.name || key == of::derivatives.name ||
         (key == of::contraction.name && plan[of::contraction] == kernel::Contraction::pointwise);
}

/// Says whether some kernel computes matrices of cells by loops, or multiplies by stored ones.
bool has_matrix_keys(const std::vector<const op::KernelInfo*>& kernels) {
  return std::ranges::any_of(kernels, [](const auto* info) {
    const auto contraction = info->plan[schedule::key::contraction];
    return contraction == kernel::Contraction::pointwise || contraction == kernel::Contraction::cell_matrices;
  });
}

} // namespace

void warn_of_unused_plan_keys(const std::string& name, const op::GeneratedForm& built,
                              const op::OperatorOptions& options) {
  if (!built.options.plan) return;
  const auto words = base::words(options.plan);
  const auto kernels = planned_kernels(built);
  if (kernels.empty()) return;
  // A whole plan, as reports print it, was copied rather than composed: it may have keys that do not matter.
  // Another plan of a matrix would be weighed by setting up its pattern again.
  const bool is_compared =
      built.matrix == nullptr && words.size() < base::words(schedule::to_string(*built.options.plan)).size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    if (equals == std::string::npos) continue; // the word "default"
    AskedKey asked{i, words[i].substr(0, equals), {}};
    asked.value = value_of(schedule::parse_plan(words[i], *built.options.plan), asked.key);
    const auto warn = [&](const std::string& reason) {
      base::warn(fmt::format("{}: {} is not used: {}", name, words[i], reason));
    };
    if (is_of_matrices(asked.key, *built.options.plan) && !has_matrix_keys(kernels)) {
      warn("matrices of cells alone follow it");
      continue;
    }
    if (asked.value.empty() || !has_value(built, asked.key, asked.value)) {
      const auto& last = *kernels.back();
      const auto found = value_of(last.plan, asked.key);
      warn(found.empty()
               ? fmt::format("kernels with mapping={} have no such key", last.plan[schedule::key::mapping].name)
               : fmt::format("the kernel of {} has {}={}", last.name, asked.key, found));
    } else if (is_compared && is_same_without(asked, words, built, options))
      warn("the kernels are the same without it");
  }
}

} // namespace rafter::problem
