// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/common_keys.hpp>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::schedule {

std::string_view name(Precision precision) { return precision == Precision::double_precision ? "double" : "float"; }

int KeyOf<const Mapping&>::number(const Mapping& value) {
  const auto all = named_mappings();
  const auto found = std::ranges::find(all, value.name, &Mapping::name);
  if (found == all.end()) throw base::InternalError("plans cannot name the mapping " + value.name);
  return static_cast<int>(found - all.begin());
}
const Mapping& KeyOf<const Mapping&>::value(int number) { return named_mappings()[static_cast<std::size_t>(number)]; }

namespace {

using Tried = std::vector<std::string>;

/// Factorised contractions need a grid of points. Dense ones do more operations from the lowest degrees on: they may
/// win while a table fits the nearest cache with room to spare.
Tried contractions_tried(const PlanningProblem& problem, const Plan&) {
  if (problem.matrix_plan != nullptr) {
    Tried result{problem.is_tensor ? "collocated" : "dense"}; // tables
    if (problem.has_point_matrices) result.emplace_back("pointwise");
    return result;
  }
  constexpr int largest_table = 1024;
  Tried result{"dense"};
  if (problem.is_tensor) {
    result = {"collocated", "per-derivative"};
    if (problem.is_separable) result.emplace_back("separable");
    if (problem.num_dofs * problem.num_points <= largest_table) result.emplace_back("dense");
  } else if (problem.has_modes)
    result = {"modal", "dense"};
  if (problem.has_stored_matrices) result.emplace_back("cell-matrices");
  return result;
}

/// Matrices of cells are no factors.
Tried factors_tried(const PlanningProblem& problem, const Plan& plan) {
  if (plan[key::contraction] == kernel::Contraction::cell_matrices) return {kernel::name(Plan()[key::factors])};
  Tried result;
  for (const auto factors : problem.factor_storages) result.emplace_back(kernel::name(factors));
  return result;
}

/// Targets with lanes take items when they are asked for, since only interpreters have both.
Tried mappings_tried(const PlanningProblem& problem, const Plan& plan) {
  auto target = problem.target;
  target.has_groups = !target.has_lanes;
  Tried result;
  for (const auto& mapping : mappings())
    if (mapping.has_axes(target) && (mapping.is_tried == nullptr || mapping.is_tried(problem, plan)))
      result.push_back(mapping.name);
  return result;
}

/// Few registers: of vectors that fill one, clang made nothing faster than gcc in any recorded sweep, and dense
/// products slower by up to a half.
Tried compilers_tried(const PlanningProblem& problem, const Plan& plan) {
  if (!problem.target.has_lanes) return problem.compilers;
  if (is_split(problem, plan[key::vector_width])) return {splitting_compiler};
  return has_few_registers(problem) ? Tried{problem.compilers.front()} : problem.compilers;
}

/// Large kernels: -O2 is as fast and compiles in half the time; small ones lose a tenth.
Tried flags_tried(const PlanningProblem& problem, const Plan&) {
  constexpr int many_points = 216;
  Tried result{problem.flag_sets.front()};
  const bool has_o2 = std::ranges::find(problem.flag_sets, "O2") != problem.flag_sets.end();
  if (problem.is_tensor && problem.num_points >= many_points && has_o2) result.emplace_back("O2");
  return result;
}

std::optional<int> factors_number(const std::string& text) {
  const auto factors = kernel::parse_factor_storage(text);
  if (!factors) return std::nullopt;
  return KeyOf<kernel::FactorStorage>::number(*factors);
}

/// Checks the name of a compiler: control characters would break the one line that a plan is, and a zero byte would end
/// the name early.
void check_compiler(const std::string& text) {
  if (text.empty())
    throw base::InputError("plan: compiler is empty; accepted is default, or the name or path of a C compiler");
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    throw base::InputError("plan: compiler holds a control character; accepted is the name or path of a C compiler");
}

void check_flags(const std::string& text) {
  const auto names = device::flag_set_names();
  if (std::ranges::find(names, text) == names.end()) refuse("flags", text, names);
}

constexpr Names precisions = names_up_to<Precision::single_precision>();

} // namespace

namespace key {

constexpr KeyOf<kernel::Contraction> contraction{{.name = "contraction",
                                                  .place = 10,
                                                  .values = names_up_to<kernel::last_contraction>(),
                                                  .initial = static_cast<int>(kernel::Contraction::collocated),
                                                  .shared = 0.4,
                                                  .tried = contractions_tried,
                                                  .is_tried_in_matrices = true}};
constexpr KeyOf<kernel::FactorStorage> factors{
    {.name = "factors",
     .place = 20,
     .values = Spelling{[](int number) { return kernel::name(KeyOf<kernel::FactorStorage>::value(number)); },
                        factors_number, kernel::factor_storage_names},
     .initial = KeyOf<kernel::FactorStorage>::number(kernel::FactorStorage::store_merged),
     .shared = 0.6,
     .matters = [](const Plan& plan) { return plan[contraction] != kernel::Contraction::cell_matrices; },
     .tried = factors_tried}};
constexpr KeyOf<const Mapping&> mapping{
    {.name = "mapping",
     .place = 30,
     .values = Names{[] { return static_cast<int>(named_mappings().size()); },
                     [](int number) { return KeyOf<const Mapping&>::value(number).name; }},
     .shared = 0.4,
     .tried = mappings_tried}};
constexpr KeyOf<Precision> storage{{.name = "storage", .place = 150, .values = precisions}};
constexpr KeyOf<Precision> compute{{.name = "compute", .place = 160, .values = precisions}};
constexpr KeyOf<Precision> accumulate{{.name = "accumulate", .place = 170, .values = precisions}};
constexpr TextKey compiler{
    {.name = "compiler", .place = 180, .values = Texts{check_compiler}, .shared = 0.8, .tried = compilers_tried}};
constexpr TextKey flags{
    {.name = "flags", .place = 190, .values = Texts{check_flags}, .shared = 0.8, .tried = flags_tried}};

} // namespace key

std::span<const Key* const> common_keys() {
  static constexpr std::array<const Key*, 8> keys{&key::contraction, &key::factors,    &key::mapping,  &key::storage,
                                                  &key::compute,     &key::accumulate, &key::compiler, &key::flags};
  return keys;
}

} // namespace rafter::schedule
