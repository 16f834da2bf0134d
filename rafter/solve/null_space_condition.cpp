// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/null_space_condition.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/form/form.hpp>
#include <rafter/form/language.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/locate.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/operator/precision.hpp>
#include <rafter/solve/rigid_modes.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::solvers {
namespace {

using Kind = NullSpaceCondition::Kind;

constexpr std::size_t max_modes = 64; ///< each mode is three vectors, and every iteration takes two products with it

/// Largest |A v| / (|A| |v|) of null vectors for the precision of the operator's kernels.
double noise_of(const op::Operator& A) {
  return A.is_single() || A.precision_error() > 0 ? op::max_precision_error : null_space_noise;
}

/// Describes the mesh's extent, as in "the box from (0, 0) to (1, 1)".
std::string describe_extent(const mesh::Mesh& mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> low(mesh.points.begin(), mesh.points.begin() + mesh.gdim), high = low;
  for (std::size_t i = 0; i < mesh.points.size(); ++i) {
    low[i % dim] = std::min(low[i % dim], mesh.points[i]);
    high[i % dim] = std::max(high[i % dim], mesh.points[i]);
  }
  return fmt::format("the box from {} to {}", mesh::describe_point(low), mesh::describe_point(high));
}

} // namespace

std::shared_ptr<op::GeneratedForm> build_mass(const NullSpaceCondition& condition, op::OperatorOptions options) {
  const auto [u, v] = form::arguments(std::shared_ptr<const form::FieldSpace>(condition.space));
  options.plan.clear();
  options.quadrature = {};
  options.dirichlet.clear();
  options.num_applications = 0;
  options.runs_few_times = true;
  return op::build(form::inner(u, v) * form::dx, 2, op::make_system({condition.space}), options);
}

ConstrainedOperator::ConstrainedOperator(const op::Operator& A)
    : A_(A),
      connected_components_(mesh::connected_components(*A.system().mesh, op::reach_of(A.form(), A.system()).any)),
      unknowns_(op::make_unknowns(A.system(), connected_components_)), is_free_(static_cast<std::size_t>(A.size()), 1) {
  mesh::require_whole(*A.system().mesh, "null spaces");
  for (const auto entry : A.constraints().entries) is_free_[static_cast<std::size_t>(entry)] = 0;
}

/// Makes the modes of one condition.
class ModeBuilder {
public:
  ModeBuilder(const ConstrainedOperator& on, const NullSpaceCondition& condition,
              const std::shared_ptr<const op::GeneratedForm>& mass)
      : on_(on), condition_(condition), space_(*condition.space), field_(on.A_.system().index_of(space_)),
        components_(condition.components), mass_(mass, space::Constraints{}) {
    if (!components_.empty()) return;
    components_.resize(static_cast<std::size_t>(space_.num_components()));
    std::iota(components_.begin(), components_.end(), 0);
  }

  NullModes run() {
    require_values();
    const bool is_rigid = condition_.kind == Kind::rigid_modes;
    if (is_rigid)
      add_rigid_modes();
    else
      add_constants();
    require_null();
    for (auto& vector : result_.vectors) result_.loads.push_back(load_of(vector));
    return std::move(result_);
  }

private:
  void require_values() const {
    const auto count = components_.size(), dim = static_cast<std::size_t>(space_.gdim);
    for (const int component : components_)
      if (component < 0 || component >= space_.num_components())
        throw base::InputError(fmt::format("component {} is not one of field '{}', which has {}", component,
                                           space_.name, space_.num_components()));
    if (condition_.kind == Kind::rigid_modes) {
      if (space_.num_components() == space_.gdim && count == dim) return;
      throw base::InputError(fmt::format("rigid modes move all components of a field with one per axis, here {}; field "
                                         "'{}' has {}",
                                         dim, space_.name, space_.num_components()));
    }
    if (condition_.values.size() != count)
      throw base::InputError(fmt::format("field '{}' needs {} value{}, one per component; found {}", space_.name, count,
                                         count == 1 ? "" : "s", condition_.values.size()));
    if (condition_.kind == Kind::point && condition_.point.size() != dim)
      throw base::InputError(fmt::format("the point has {} coordinate{}; accepted are {}, as the mesh has",
                                         condition_.point.size(), condition_.point.size() == 1 ? "" : "s", dim));
  }

  void add(const FreeModes& modes, const FreeModes::Combination& combination, std::int32_t connected_component,
           std::size_t kind) {
    if (result_.vectors.size() == max_modes)
      throw base::InputError(fmt::format("more than {} null vectors, on {} connected components of the mesh, are not "
                                         "accepted: hold them, or solve for each of them apart",
                                         max_modes, on_.connected_components_.count));
    Vector vector = on_.A_.make_vector();
    VectorOps(on_.A_.device()).fill(0, vector);
    modes.evaluate(combination, connected_component, vector.host_write());
    result_.vectors.push_back(std::move(vector));
    result_.names.push_back(combination.name);
    kinds_.push_back(kind);
    connected_components_.push_back(connected_component);
  }
  FreeModes free_modes(std::vector<Mode> modes) const {
    return {on_.unknowns_, on_.connected_components_.count, std::move(modes), on_.A_.constraints().entries};
  }

  [[noreturn]] void refuse_held(const std::string& name) const {
    throw base::InputError(fmt::format(
        "{} are held by Dirichlet conditions{}: there is nothing of them left to fix", name,
        on_.connected_components_.count > 1 && condition_.kind != Kind::point ? " on every connected component" : ""));
  }

  /// Adds constants of every component, on the connected components where no condition holds them or on that of the
  /// point.
  void add_constants() {
    const auto constants = constant_modes(on_.A_.system(), field_);
    const auto at = condition_.kind == Kind::point ? std::optional(point_weights()) : std::nullopt;
    for (std::size_t i = 0; i < condition_.values.size(); ++i) {
      const auto component = static_cast<std::size_t>(components_[i]);
      const auto modes = free_modes({constants[component]});
      const auto before = result_.vectors.size();
      for (std::int32_t connected_component = 0; connected_component < on_.connected_components_.count;
           ++connected_component) {
        if (at && at->connected_component != connected_component) continue;
        for (const auto& combination : modes.on(connected_component)) {
          add(modes, combination, connected_component, component);
          result_.weights.push_back(at ? at->weights[component] : std::vector<NullModes::Weight>());
          result_.targets.push_back(condition_.values[i] * (at ? 1 : square_integral(result_.vectors.back())));
        }
      }
      if (result_.vectors.size() == before) refuse_held(constants[component].name);
    }
  }

  /// Returns the integral of the square of the mode, which for a mode of ones is the volume.
  double square_integral(const Vector& vector) const { return VectorOps(vector.device()).dot(load_of(vector), vector); }

  struct PointWeights {
    std::int32_t connected_component = -1;
    std::vector<std::vector<NullModes::Weight>> weights; ///< shape (component, dof of the cell)
  };
  PointWeights point_weights() const {
    const auto& mesh = space_.mesh();
    const auto found = mesh::locate(mesh, condition_.point);
    if (!found)
      throw base::InputError(fmt::format("the point {} is not in the mesh, which lies in {}; {}",
                                         mesh::describe_point(condition_.point), describe_extent(mesh),
                                         mesh::describe_nearest_node(mesh, condition_.point)));
    const auto group = static_cast<std::size_t>(found->group), cell = static_cast<std::size_t>(found->cell);
    PointWeights result{on_.connected_components_.of_cell[group][cell], {}};
    if (result.connected_component < 0)
      throw base::InputError(fmt::format("no integral of the form reaches the cell at the point {}",
                                         mesh::describe_point(condition_.point)));
    const auto basis = space_.element(mesh.groups[group].shape)->tabulate(found->reference);
    std::vector<std::int32_t> entries(static_cast<std::size_t>(basis.num_dofs * space_.num_components()));
    const auto position = space_.position(found->group, found->cell);
    space_.cell_dofs(position.block, position.batch, position.cell, entries);
    const auto offset = static_cast<std::size_t>(on_.A_.system().offset(field_));
    for (int c = 0; c < space_.num_components(); ++c) {
      auto& weights = result.weights.emplace_back();
      for (int i = 0; i < basis.num_dofs; ++i)
        weights.push_back({offset + static_cast<std::size_t>(entries[static_cast<std::size_t>(c * basis.num_dofs + i)]),
                           basis(0, 0, i)});
    }
    return result;
  }

  /// Adds translations and rotations, in the combinations that conditions leave free on each connected component.
  void add_rigid_modes() {
    auto all = constant_modes(on_.A_.system(), field_);
    for (auto& mode : rotation_modes(on_.A_.system(), field_)) all.push_back(std::move(mode));
    const auto modes = free_modes(std::move(all));
    for (std::int32_t connected_component = 0; connected_component < on_.connected_components_.count;
         ++connected_component)
      for (const auto& combination : modes.on(connected_component))
        add(modes, combination, connected_component, combination.mode);
    if (result_.vectors.empty()) refuse_held("all rigid modes of " + space_.name);
    result_.weights.resize(result_.vectors.size());
    result_.targets.assign(result_.vectors.size(), 0.0);
  }

  /// Returns M v in a vector of the system, where M is the mass matrix.
  Vector load_of(const Vector& vector) const {
    const auto entries = on_.A_.system().entries(field_);
    const VectorOps ops(on_.A_.device());
    Vector part = mass_.make_vector(), image = mass_.make_vector(), result = on_.A_.make_vector();
    ops.copy_range({vector, entries}, part);
    mass_.apply(part, image);
    ops.copy_range(image, {result, entries});
    return result;
  }

  /// Keeps of each kind of mode (constants of a component, a rotation) those that the operator maps to zero, on the
  /// connected components where it does; throws InputError where there is none. Constrained entries, which hold
  /// rounding errors, are set to zero.
  void require_null() {
    const auto magnitude = magnitudes(on_.A_, on_.unknowns_, on_.connected_components_.count, field_, on_.is_free_);
    std::vector<double> parts; // |A v| / (|A| |v|)
    for (std::size_t i = 0; i < result_.vectors.size(); ++i) parts.push_back(image_part(i, magnitude));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      double least = parts[i];
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (kinds_[k] == kinds_[i]) least = std::min(least, parts[k]);
      if (!(least <= noise_of(on_.A_)))
        throw base::InputError(fmt::format(
            "{} are not in the null space of the operator: |A v| is {:.1e} of |A| |v| for them, which is more than "
            "rounding; the form sees them, so nothing of them is left to fix",
            result_.names[i], least));
    }
    NullModes kept;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!(parts[i] <= noise_of(on_.A_))) continue;
      kept.names.push_back(std::move(result_.names[i]));
      kept.vectors.push_back(std::move(result_.vectors[i]));
      kept.weights.push_back(std::move(result_.weights[i]));
      kept.targets.push_back(result_.targets[i]);
    }
    result_ = std::move(kept);
  }

  double image_part(std::size_t i, const PerConnectedComponent& magnitude) {
    auto& vector = result_.vectors[i];
    for (const auto entry : on_.A_.constraints().entries) vector.host_write()[static_cast<std::size_t>(entry)] = 0;
    Vector image = on_.A_.make_vector();
    on_.A_.apply(vector, image);
    const VectorOps ops(on_.A_.device());
    const double scale = magnitude[static_cast<std::size_t>(connected_components_[i])];
    return ops.norm(image) / ((scale > 0 ? scale : *std::ranges::max_element(magnitude)) * ops.norm(vector));
  }

  const ConstrainedOperator& on_;
  const NullSpaceCondition& condition_;
  const space::FunctionSpace& space_;
  std::size_t field_;
  std::vector<int> components_;
  op::Operator mass_;
  NullModes result_;
  std::vector<std::size_t> kinds_; ///< kind of each mode: vectors of one kind differ in their connected components
  std::vector<std::int32_t> connected_components_; ///< connected component of each mode
};

NullModes ConstrainedOperator::modes(const NullSpaceCondition& condition,
                                     std::shared_ptr<const op::GeneratedForm> mass) const {
  return ModeBuilder(*this, condition, mass).run();
}

namespace {

double functional(const NullModes& modes, std::size_t i, const Vector& x) {
  if (modes.weights[i].empty()) return VectorOps(x.device()).dot(modes.loads[i], x);
  const auto values = x.host_read();
  double sum = 0;
  for (const auto& weight : modes.weights[i]) sum += weight.value * values[weight.entry];
  return sum;
}

void append(NullModes& all, NullModes modes) {
  std::ranges::move(modes.names, std::back_inserter(all.names));
  std::ranges::move(modes.vectors, std::back_inserter(all.vectors));
  std::ranges::move(modes.loads, std::back_inserter(all.loads));
  std::ranges::move(modes.weights, std::back_inserter(all.weights));
  std::ranges::move(modes.targets, std::back_inserter(all.targets));
}

/// Throws InputError unless A^T n = 0 for all null vectors n: then <n, A x> is zero for a random x.
void require_same_left_null_space(const op::Operator& A, const NullSpace& space) {
  Vector x = A.make_vector(), image = A.make_vector();
  const VectorOps ops(A.device());
  ops.fill_random(3, x);
  for (const auto entry : A.constraints().entries) x.host_write()[static_cast<std::size_t>(entry)] = 0;
  A.apply(x, image);
  for (const auto& vector : space.basis()) {
    double rows = 0, count = 0; // sum of squares, and number, of the rows of A x where the vector is not 0
    const auto values = image.host_read(), n = vector.host_read();
    for (std::size_t i = 0; i < n.size(); ++i)
      if (n[i] != 0) {
        rows += values[i] * values[i];
        count += 1;
      }
    // Rounding of the entries of A x is random: the error of their sum is of the size of one entry.
    const double part = std::abs(ops.dot(vector, image)) / std::sqrt(rows / count);
    if (!(part <= 10 * noise_of(A)) && rows > 0)
      throw base::InputError(fmt::format(
          "the operator is not symmetric, and its transpose has another null space than itself (<n, A x> of a random x "
          "is {:.1e} of its size for a null vector n): which right-hand sides have a solution is not known. Fix the "
          "solution with [[dirichlet]] or a term without derivatives instead",
          part));
  }
}

} // namespace

ConstrainedNullSpace::ConstrainedNullSpace(const op::Operator& A, std::vector<NullModes> modes)
    : fixed_(A.constraints().entries) {
  for (auto& of_condition : modes) append(modes_, std::move(of_condition));
  const auto count = modes_.vectors.size();
  if (count == 0) return;
  std::vector<Vector> copies;
  const VectorOps ops(A.device());
  for (const auto& vector : modes_.vectors) ops.copy(vector, copies.emplace_back(A.make_vector()));
  null_space_ = std::make_shared<const NullSpace>(A.device(), std::move(copies));
  require_same_left_null_space(A, *null_space_);
  std::vector<double> loads, functionals;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      loads.push_back(ops.dot(modes_.vectors[i], modes_.loads[j]));
      functionals.push_back(functional(modes_, i, modes_.vectors[j]));
    }
  inverse_loads_ = element::inverse(std::move(loads), static_cast<int>(count));
  inverse_functionals_ = element::inverse(std::move(functionals), static_cast<int>(count));
}

double ConstrainedNullSpace::balance(Vector& b, Vector* load) const {
  const auto count = static_cast<int>(modes_.vectors.size());
  if (count == 0) return 0;
  const VectorOps ops(b.device());
  const double before = ops.norm(b);
  if (!(before > 0)) return 0;
  Vector removed(b.device(), b.size());
  ops.copy(b, removed);
  std::vector<double> values;
  for (const auto entry : fixed_) values.push_back(b.host_read()[static_cast<std::size_t>(entry)]);
  for (int pass = 0; pass < 2; ++pass) { // the second pass takes what rounding left
    std::vector<double> products;
    for (const auto& vector : modes_.vectors) products.push_back(ops.dot(vector, b));
    const auto factors = element::multiplied(inverse_loads_, products, count);
    for (std::size_t j = 0; j < factors.size(); ++j) {
      ops.axpy(-factors[j], modes_.loads[j], b);
      if (load != nullptr) ops.axpy(-factors[j], modes_.loads[j], *load);
    }
    const auto entries = b.host_write();
    for (std::size_t i = 0; i < fixed_.size(); ++i) entries[static_cast<std::size_t>(fixed_[i])] = values[i];
  }
  ops.axpy(-1, b, removed);
  const double part = ops.norm(removed);
  // If the load had the shape of the modes alone, what is left of it is rounding, and no right-hand side.
  if (ops.norm(b) <= 100 * std::numeric_limits<double>::epsilon() * before) ops.fill(0, b);
  return part / before;
}

void ConstrainedNullSpace::constrain(Vector& x) const {
  const auto count = static_cast<int>(modes_.vectors.size());
  if (count == 0) return;
  const VectorOps ops(x.device());
  for (int pass = 0; pass < 2; ++pass) { // the second pass takes what rounding left
    std::vector<double> missing;
    for (std::size_t i = 0; i < modes_.vectors.size(); ++i)
      missing.push_back(modes_.targets[i] - functional(modes_, i, x));
    const auto factors = element::multiplied(inverse_functionals_, missing, count);
    for (std::size_t j = 0; j < factors.size(); ++j) ops.axpy(factors[j], modes_.vectors[j], x);
  }
}

ConstrainedNullSpace make_null_space(const op::Operator& A, std::span<const NullSpaceCondition> conditions,
                                     const op::OperatorOptions& options) {
  if (conditions.empty()) return {};
  mesh::require_whole(*A.system().mesh, "null spaces");
  auto own = options;
  own.shared_device = A.device();
  std::vector<std::shared_ptr<op::GeneratedForm>> masses;
  for (const auto& condition : conditions) masses.push_back(build_mass(condition, own));
  op::compile(masses);
  const ConstrainedOperator on(A);
  std::vector<NullModes> modes;
  for (std::size_t i = 0; i < conditions.size(); ++i) modes.push_back(on.modes(conditions[i], masses[i]));
  return {A, std::move(modes)};
}

std::string describe_removed(double part) {
  if (part <= balanced_rounding) return {};
  return fmt::format("the right-hand side has a part of {:.1e} of its size in the null space, which no solution can "
                     "balance: it was removed",
                     part);
}

} // namespace rafter::solvers
