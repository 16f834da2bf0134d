// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/storage_ways.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::problem {
namespace {

namespace key = schedule::key;

struct Way {
  const char *name, *keys;
};
constexpr std::array ways{Way{"assembled", "mapping=assembled"}, Way{"cell-matrices", "contraction=cell-matrices"},
                          Way{"stored", "factors=store-merged"}, Way{"recomputed", "factors=recompute-merged"}};

/// The plan from which the ways differ: that of the first kernel of cells, or the default one where it is a matrix, and
/// without the contraction where this is itself a way, or would take the place of the factors (separable).
schedule::Plan base_plan(const op::GeneratedForm& form) {
  if (form.matrix != nullptr || form.blocks.empty()) return schedule::usual_plan(form.options.target->target);
  auto plan = form.blocks.front().kernel.info.plan;
  if (plan[key::contraction] == kernel::Contraction::cell_matrices ||
      plan[key::contraction] == kernel::Contraction::separable)
    plan.set(key::contraction, schedule::Plan()[key::contraction]);
  return plan;
}

/// Says whether all kernels of cells follow the way's key: plans change into those that a form has.
bool is_followed(const op::GeneratedForm& built, const schedule::Plan& plan) {
  if (schedule::is_assembled(plan)) return built.matrix != nullptr;
  for (std::size_t b = 0; b < built.num_cell_blocks; ++b) {
    const auto& found = built.blocks[b].kernel.info.plan;
    const bool stores_matrices = plan[key::contraction] == kernel::Contraction::cell_matrices;
    if ((found[key::contraction] == kernel::Contraction::cell_matrices) != stores_matrices) return false;
    if (!stores_matrices && found[key::factors].kind != plan[key::factors].kind) return false; // merged or not
  }
  return built.num_cell_blocks > 0;
}

} // namespace

std::vector<std::string> storage_way_names() {
  std::vector<std::string> result;
  for (const auto& way : ways) result.emplace_back(way.name);
  return result;
}

std::vector<StorageWay> storage_ways(const op::Operator& A, const std::vector<std::string>& names) {
  const auto& form = A.built();
  if (form.matrix == nullptr && form.num_cell_blocks == 0) return {};
  const auto base = base_plan(form);
  std::vector<StorageWay> result;
  for (const auto& way : ways) {
    if (std::ranges::find(names, way.name) == names.end()) continue;
    if (way.name == std::string_view("assembled") && !form.is_square()) continue;
    auto options = form.options;
    options.plan = std::make_shared<const schedule::Plan>(schedule::parse_plan(way.keys, base));
    options.num_applications = 0;
    auto built = op::build_form(form.form, op::Systems(form.system, form.trial_system), op::Purpose::action, options);
    if (!is_followed(*built, *options.plan)) continue;
    op::compile(std::span(&built, 1));
    const auto begin = std::chrono::steady_clock::now();
    op::Operator B(built, A.constraints());
    B.set_missing();
    B.refresh();
    const std::chrono::duration<double> set_up = std::chrono::steady_clock::now() - begin;
    const auto& info = built->matrix != nullptr ? built->matrix->info : built->blocks.front().kernel.info;
    result.push_back({way.name, schedule::to_string(info.plan), set_up.count(), std::move(B)});
  }
  return result;
}

} // namespace rafter::problem
