// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/form/bilinear_parts.hpp>
#include <rafter/form/form.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/theta_scheme.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/io/matrix_market.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/io/vtkhdf_reader.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/block_setup.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/force_norm.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/solve/theta_stepper.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>

/// The C++ face of Rafter: one header, one namespace. (Long file: users include this one alone.)
///
///     auto mesh = read_mesh("beam-hex.mesh").refined(2);
///     FunctionSpace V(mesh, {.family = Family::lagrange, .degree = 4, .components = 3});
///     auto [u, v] = arguments(V);
///     Operator A(inner(grad(u), grad(v)) * dx, {.dirichlet = {V.fixed({1}, {0, 0, 0})}});
///     auto result = solve(A, b, {.preconditioner = "jacobi"});
///
/// Forms may read data fields and parameters, which are bound by name and may change at any time:
///
///     auto w = field(V, "w"), t = parameter("t");
///     Operator B(form);  B.set("w", values);  B.set("t", 0.5);
///
/// The modules behind it (rafter::form, rafter::mesh, ...) stay within reach for more.
namespace rafter {

using base::EnvironmentError;
using base::InputError;
using base::SolverError;

using schedule::Precision;

using mesh::box_generations;
using mesh::BoxCoarsening;
using mesh::BoxOptions;
using mesh::Generations;
using mesh::make_box;
using mesh::Mesh;
using mesh::MeshFormat;
using mesh::PeriodicPair;
using mesh::read_mesh; // with {.merge = 1e-9}: nodes that are closer than that are one
using mesh::tags_for;  // numbers for V.fixed: tags_for(mesh, "clamped", TagUse::dirichlet)
using mesh::TagUse;
using mesh::write_mesh;

using element::Family;
using element::QuadratureKind;
using element::Shape;

// The form language; its operators are found by argument-dependent lookup
using form::action;
using form::adjoint;
using form::arguments;
using form::as_matrix;
using form::as_tensor;
using form::as_vector;
using form::by_tag;
using form::cofac;
using form::conditional;
using form::constant;
using form::cross;
using form::curl;
using form::derivative;
using form::det;
using form::dev;
using form::div;
using form::dot;
using form::ds;
using form::dt;
using form::dx;
using form::Expr;
using form::facet_normal;
using form::field;
using form::Form;
using form::grad;
using form::identity;
using form::inner;
using form::inv;
using form::on;
using form::outer;
using form::parameter;
using form::skew;
using form::spatial_coordinate;
using form::sym;
using form::tr;
using form::transpose;

using op::BlockKind;
using op::cells_per_batch; // that a plan asks for, for DiscretisationOptions
using op::Coarsening;
using op::DiagonalBlocks;
using op::FieldCondition;
using op::Functional;
using op::level_cells_per_batch; // that levels in single precision ask for, likewise
using op::LinearForm;
using op::Operator;
using op::OperatorOptions;
using op::QuadratureOptions;
using op::SparseMatrix; // of an operator: A.sparse_matrix(); its blocks: A.diagonal_blocks(BlockKind::node)
using op::Vector;

using io::write_matrix_market;
using solvers::AmgInterpolation;
using solvers::AmgMethod;
using solvers::BoomerAmgParameters;
using solvers::MultigridParameters;
using solvers::NullSpaceCondition;
using space::DiscretisationOptions;
using space::SpatialFunction;

/// A mesh with the order in which kernels visit its cells: a cheap handle. Spaces on one discretisation may occur in
/// one form. Equal meshes and options give the kernels that the command has for such a problem.
///
///     Discretisation on(mesh, {.degree = 2});
///     FunctionSpace Q(on, {.degree = 1, .name = "p"}), V(on, {.degree = 2, .components = 3});
class Discretisation {
public:
  /// options.degree is the highest degree of the spaces that will be made here: batches of cells are for it. Throws
  /// InputError for meshes that are not valid.
  explicit Discretisation(const Mesh& mesh, const DiscretisationOptions& options = {})
      : Discretisation(std::make_shared<const Mesh>(mesh), options) {}
  /// The same on a mesh that others keep, too, such as the finest of some generations.
  explicit Discretisation(std::shared_ptr<const Mesh> mesh, const DiscretisationOptions& options = {}) {
    require_valid(*mesh);
    discretisation_ = std::make_shared<const space::Discretisation>(std::move(mesh), options);
  }
  explicit Discretisation(std::shared_ptr<const space::Discretisation> made) : discretisation_(std::move(made)) {}

  const std::shared_ptr<const space::Discretisation>& ptr() const { return discretisation_; }
  const space::Discretisation& operator*() const { return *discretisation_; }
  const space::Discretisation* operator->() const { return discretisation_.get(); }

private:
  std::shared_ptr<const space::Discretisation> discretisation_;
};

/// Tags of boundary facets: numbers or names of physical groups, such as {1, 2} or {"inlet"}; none: the whole boundary.
class BoundaryTags {
public:
  BoundaryTags(std::initializer_list<form::Tag> tags) : tags_(tags) {}
  BoundaryTags(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) {}

  /// Throws InputError for names that the mesh does not have.
  std::vector<std::int32_t> numbers_on(const Mesh& mesh) const {
    auto result = numbers_;
    for (const auto& [text] : tags_) {
      const bool is_number = text.size() < 10 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
      if (is_number && mesh.physical_groups.numbers_of(mesh.tdim - 1, text).empty())
        result.push_back(std::stoi(text));
      else
        for (const auto number : mesh.tags_of(text, mesh.tdim - 1)) result.push_back(number);
    }
    return result;
  }

private:
  std::vector<form::Tag> tags_;
  std::vector<std::int32_t> numbers_;
};

/// Values of a data field, with its name. Copies share them, so that lists of these may stand in braces:
/// {{"k", std::move(values)}}.
struct NamedValues {
  NamedValues(std::string of, Vector of_field)
      : name(std::move(of)), values(std::make_shared<const Vector>(std::move(of_field))) {}
  std::string name;
  std::shared_ptr<const Vector> values;
};

/// A finite element space: a cheap handle.
class FunctionSpace {
public:
  /// Throws InputError for degrees out of range.
  FunctionSpace(const Discretisation& on, const space::SpaceOptions& options)
      : space_(space::FunctionSpace::make(on.ptr(), options)) {}
  /// On a discretisation of its own, which is for fields of its degree at most. Throws InputError for meshes that are
  /// not valid and degrees out of range.
  FunctionSpace(const Mesh& mesh, const space::SpaceOptions& options)
      : FunctionSpace(Discretisation(mesh, {.degree = options.degree}), options) {}
  /// The same on the finest of some meshes, for operators that multigrid preconditions.
  FunctionSpace(const Generations& meshes, const space::SpaceOptions& options)
      : FunctionSpace(Discretisation(meshes.finest(), {.degree = options.degree}), options) {}
  /// A further space (another field) on the discretisation of a space.
  FunctionSpace(const FunctionSpace& with, const space::SpaceOptions& options)
      : FunctionSpace(with.discretisation(), options) {}

  Discretisation discretisation() const { return Discretisation(space_->discretisation()); }
  const std::shared_ptr<const space::FunctionSpace>& ptr() const { return space_; }
  const space::FunctionSpace& operator*() const { return *space_; }
  const space::FunctionSpace* operator->() const { return space_.get(); }
  /// So that the form language takes it as it is.
  operator std::shared_ptr<const form::FieldSpace>() const { return space_; }

  /// Condition that fixes the field to constant values (one per component) on boundary facets with these tags.
  FieldCondition fixed(const BoundaryTags& tags, std::vector<double> values) const {
    if (values.size() != static_cast<std::size_t>(space_->num_components()))
      throw InputError("a condition on '" + space_->name + "' needs " + std::to_string(space_->num_components()) +
                       " values, found " + std::to_string(values.size()));
    return fixed(tags, [values = std::move(values)](std::span<const double>, std::span<double> at_point) {
      std::copy(values.begin(), values.end(), at_point.begin());
    });
  }
  /// The same for a field of one component. (A template, so that {0} is a list of values and no number in braces.)
  template <class Number>
  requires std::is_arithmetic_v<Number> FieldCondition fixed(const BoundaryTags& tags, Number value)
  const { return fixed(tags, std::vector{static_cast<double>(value)}); }
  /// The same with the values of an expression of x, constants and parameters: Operator::set("t", ...) changes them.
  template <std::same_as<Expr> Value> FieldCondition fixed(const BoundaryTags& tags, const Value& value) const {
    return op::make_condition(space_, tags.numbers_on(space_->mesh()), value);
  }
  /// The same with values that depend on the point, by a SpatialFunction or what can be called like one.
  template <std::invocable<std::span<const double>, std::span<double>> Function>
  FieldCondition fixed(const BoundaryTags& tags, Function value) const {
    return {space_, {.tags = tags.numbers_on(space_->mesh()), .value = SpatialFunction(std::move(value))}};
  }

  /// Conditions that fix what an operator leaves open (SolveOptions::null_space): integral means of the components,
  /// values of the components at a point of the mesh, or no part in the rigid motions that nothing holds.
  NullSpaceCondition mean(std::vector<double> values) const {
    return {.space = space_, .kind = NullSpaceCondition::Kind::mean, .values = std::move(values)};
  }
  NullSpaceCondition value_at(std::vector<double> point, std::vector<double> values) const {
    return {.space = space_,
            .kind = NullSpaceCondition::Kind::point,
            .values = std::move(values),
            .point = std::move(point)};
  }
  NullSpaceCondition rigid_modes() const { return {.space = space_, .kind = NullSpaceCondition::Kind::rigid_modes}; }

private:
  std::shared_ptr<const space::FunctionSpace> space_;
};

/// (trial, test)
inline std::pair<Expr, Expr> arguments(const FunctionSpace& V) {
  return form::arguments(std::shared_ptr<const form::FieldSpace>(V.ptr()));
}

/// Right-hand side of a linear form with the boundary values of an operator.
inline Vector assemble(const Form& L, const Operator& A) {
  Vector b = A.make_vector();
  LinearForm(L, A.system(), {.shared_device = A.device()}).assemble(b);
  return b;
}

/// The mesh refined so many times, with all meshes between.
inline Generations refined_generations(Mesh mesh, int times) {
  return mesh::refined_generations(std::make_shared<const Mesh>(std::move(mesh)), times);
}

/// What multigrid is made of besides the operator.
struct MultigridOptions {
  Generations meshes{};    ///< the last is the mesh of the operator
  Coarsening coarsening{}; ///< levels below the operator
  /// In which levels are stored and computed, all but the coarsest, whose solver works in double. The operator itself
  /// and the method around the cycles stay in double.
  Precision precision = Precision::double_precision;
  MultigridParameters parameters{}; ///< cycle, smoother and coarse solver
};

/// The name of a preconditioner, with what multigrid needs, or with those of the fields.
struct PreconditionerChoice {
  PreconditionerChoice(const char* text) : name(text) {}
  PreconditionerChoice(std::string text) : name(std::move(text)) {}
  std::string name;
  std::optional<MultigridOptions> multigrid{};
  std::optional<MultigridParameters> parameters{}; ///< for "amg"; absent: the usual ones
  std::vector<std::pair<std::string, PreconditionerChoice>>
      blocks{};                     ///< preconditioners, each with the name of its field
  std::optional<Form> block_form{}; ///< form that the blocks are taken of; absent: that of the operator
  /// Values of data fields of `block_form` that the operator does not have, by name.
  std::vector<NamedValues> block_data{};
};

/// Multigrid as a preconditioner of solve(), whose levels have the form and the conditions of the operator:
///
///     auto meshes = refined_generations(read_mesh("beam-hex.mesh"), 2);
///     FunctionSpace V(meshes, {.degree = 4, .components = 3});
///     auto result = solve(A, b, {.preconditioner = multigrid({.meshes = meshes})});
inline PreconditionerChoice multigrid(MultigridOptions options) {
  PreconditionerChoice result("multigrid");
  result.multigrid = std::move(options);
  return result;
}

/// Algebraic multigrid of the assembled matrix as a preconditioner of solve(): its cycle and smoothers, or BoomerAMG.
///
///     solve(A, b, {.preconditioner = amg({.amg = AmgMethod::boomeramg})});
inline PreconditionerChoice amg(MultigridParameters parameters) {
  PreconditionerChoice result("amg");
  result.parameters = parameters;
  return result;
}

/// A preconditioner for each field as a preconditioner of solve(), by the names of their spaces. Fields without a block
/// in the form, as the pressure of Stokes flow, get their mass matrix; `form` may give others, with `data` for fields
/// that the operator does not have.
///
///     solve(A, b, {.method = "minres", .preconditioner = block({{"u", multigrid({.meshes = meshes})}, {"p",
///     "jacobi"}})});
inline PreconditionerChoice block(std::vector<std::pair<std::string, PreconditionerChoice>> fields,
                                  std::optional<Form> form = {}, std::vector<NamedValues> data = {}) {
  PreconditionerChoice result("block");
  result.blocks = std::move(fields);
  result.block_form = std::move(form);
  result.block_data = std::move(data);
  return result;
}

/// The blocks of an operator, compiled and bound. Throws InputError for fields that are unknown, named twice or not
/// named, for forms without a source, and what solvers::generate_blocks refuses.
inline std::vector<solvers::FieldBlock> make_blocks(const Operator& A, const PreconditionerChoice& choice,
                                                    const solvers::NullSpace& null_space = {},
                                                    std::span<const NullSpaceCondition> conditions = {}) {
  if (!choice.block_form && A.form().source == nullptr)
    throw InputError("block: the operator was made without its form");
  if (!A.constraints().entries.empty() && A.conditions().empty())
    throw InputError("block: the operator was made with constrained entries, blocks need conditions");
  const auto& spaces = A.system().spaces;
  std::vector<solvers::FieldPreconditioner> preconditioners;
  for (const auto& space : spaces) {
    const auto is_of_space = [&](const auto& of) { return of.first == space->name; };
    if (std::ranges::count_if(choice.blocks, is_of_space) != 1)
      throw InputError("block: field '" + space->name + "' has no preconditioner, or several; accepted is one");
    const auto& of = std::ranges::find_if(choice.blocks, is_of_space)->second;
    solvers::FieldPreconditioner made{.name = of.name};
    made.multigrid = of.parameters;
    if (of.multigrid) {
      made.meshes = std::make_shared<const Generations>(of.multigrid->meshes);
      made.coarsening = of.multigrid->coarsening;
      made.precision = of.multigrid->precision;
      made.multigrid = of.multigrid->parameters;
    }
    preconditioners.push_back(std::move(made));
  }
  if (choice.blocks.size() != spaces.size())
    throw InputError("block: a preconditioner is named for a field that the operator does not have");
  auto generated = solvers::generate_blocks(choice.block_form ? *choice.block_form : *A.form().source, A.system(),
                                            A.conditions(), A.options(), std::move(preconditioners));
  op::compile(solvers::kernels_of(generated));
  return solvers::make_blocks(std::move(generated), A, null_space, conditions, [&](Operator& block) {
    const auto& names = block.form().field_names;
    for (const auto& [name, values] : choice.block_data)
      if (std::ranges::find(names, name) != names.end()) block.set(name, *values);
  });
}

/// The levels of multigrid below an operator, or below its symmetric part where it is not seen to be symmetric,
/// compiled and bound; their data fields and parameters follow those of A, which must outlive them. `form_on` makes the
/// forms of levels where A has no source. Throws InputError where both are missing, and what op::generate_levels
/// refuses.
inline std::shared_ptr<const solvers::MultigridHierarchy>
make_hierarchy(const Operator& A, const MultigridOptions& options, std::span<const NullSpaceCondition> null_space = {},
               op::FormOnSpaces form_on = {}) {
  if (A.form().source == nullptr && !form_on) throw InputError("multigrid: the operator was made without its form");
  if (!A.constraints().entries.empty() && A.conditions().empty())
    throw InputError("multigrid: the operator was made with constrained entries, coarser levels need conditions");
  const auto meshes = std::make_shared<const Generations>(options.meshes);
  auto own = A.options();
  own.precision = options.precision;
  auto levels = op::generate_levels({.form = form_on ? Form() : *A.form().source,
                                     .form_on = std::move(form_on),
                                     .system = A.system(),
                                     .meshes = meshes,
                                     .conditions = {A.conditions().begin(), A.conditions().end()},
                                     .kernels = own,
                                     .coarsening = options.coarsening});
  if (levels.empty()) own.precision = Precision::double_precision;
  const auto finest = op::generate_own_level(A.form(), A.system(), A.conditions(), own);
  auto kernels = op::kernels_of(levels);
  for (auto& kernel : op::kernels_of(finest)) kernels.push_back(std::move(kernel));
  op::compile(kernels);
  const auto own_level = op::make_auxiliary(finest, A);
  return solvers::make_hierarchy(op::make_levels(std::move(levels), own_level.A ? *own_level.A : A, *meshes),
                                 A.system(), null_space, own_level);
}

struct SolveOptions {
  std::string method = "cg";                      ///< cg, gmres, minres, bicgstab, direct
  PreconditionerChoice preconditioner = "jacobi"; ///< none, jacobi, chebyshev, amg, amg({...}), multigrid({...}),
                                                  ///< block({...})
  double rtol = 1e-8;                             ///< of the residual, relative to the loads (solvers::force_norm)
  solvers::Norm norm = solvers::Norm::residual;   ///< or preconditioned (cg, minres)
  std::optional<int> max_iterations;              ///< absent: at most 5000, fewer where nothing is gained any more
  solvers::Monitor monitor;                       ///< called once per iteration; false stops
  std::vector<NullSpaceCondition>
      null_space; ///< of a singular operator: what fixes the solution, one per field at most
};

struct SolveResult {
  Vector solution;
  solvers::Result info; ///< status, iterations, history
  /// Part of b in the null space, relative to its size, which no solution can balance and which was removed: in effect
  /// a source of the shape of the null vectors. Rounding where the problem is well-posed.
  double removed = 0;
  bool is_converged() const { return info.status == solvers::Status::converged; }
};

/// Solves A x = b with the operator's Dirichlet conditions, starting from zero; `b` is the vector of the linear form
/// (assemble), not yet changed for the conditions. Numerical failures are reported in the result; InputError where
/// conditions on the null space do not fit the operator. For the pressure of enclosed flow, an elastic body that
/// nothing holds, and a pure Neumann problem:
///
///     solve(A, b, {.method = "gmres", .preconditioner = "none", .null_space = {Q.mean({0.0})}});
///     solve(A, b, {.null_space = {V.rigid_modes()}});
///     solve(A, b, {.null_space = {V.value_at({0.0, 0.0}, {1.0})}});
inline SolveResult solve(const Operator& A, const Vector& b, const SolveOptions& options = {}) {
  Vector right = A.make_vector(), load = A.make_vector(), x = A.make_vector();
  const solvers::VectorOps ops(A);
  ops.copy(b, right);
  ops.copy(b, load);
  ops.fill(0, x);
  A.apply_boundary_values(right, x);
  const auto null_space = solvers::make_null_space(A, options.null_space);
  const double removed = null_space.balance(right, load);
  solvers::SolverOptions parameters{.method = options.method, .preconditioner = options.preconditioner.name};
  if (const auto& of_multigrid = options.preconditioner.multigrid; of_multigrid && options.method != "direct") {
    parameters.multigrid = of_multigrid->parameters;
    parameters.hierarchy = make_hierarchy(A, *of_multigrid, options.null_space);
  }
  if (options.preconditioner.parameters) parameters.multigrid = *options.preconditioner.parameters;
  parameters.near_null_space = [&A] { return solvers::make_near_null_space(A.system()); };
  if (parameters.preconditioner == "block" && options.method != "direct")
    parameters.blocks = make_blocks(A, options.preconditioner, *null_space.null_space(), options.null_space);
  parameters.control.norm = options.norm;
  parameters.control.reference = solvers::force_norm(A, load);
  parameters.control.rtol = options.rtol;
  parameters.control.max_iterations = options.max_iterations;
  parameters.control.monitor = options.monitor;
  parameters.null_space = null_space.null_space();
  parameters.fields = std::make_shared<const solvers::FieldBalance>(A);
  auto info = solvers::solve(A, right, x, parameters);
  null_space.constrain(x);
  return {std::move(x), std::move(info), removed};
}

/// The system of fields that are solved for, and their names.
inline std::pair<op::System, std::vector<std::string>> system_of_unknowns(const std::vector<Expr>& unknowns,
                                                                          const std::string& who) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  std::vector<std::string> names;
  for (const auto& unknown : unknowns) {
    auto on = unknown.kind() == form::NodeKind::field
                  ? std::dynamic_pointer_cast<const space::FunctionSpace>(unknown.node().space)
                  : nullptr;
    if (on == nullptr) throw InputError(who + ": the unknowns are fields on function spaces: field(V.ptr(), \"u\")");
    spaces.push_back(std::move(on));
    names.push_back(unknown.node().name);
  }
  return {op::make_system(std::move(spaces)), std::move(names)};
}

/// The state that a solve begins with: the given one, or 0.
inline void set_initial(const std::optional<Vector>& given, Vector& u) {
  if (given) op::check_size(static_cast<std::int64_t>(u.size()), given->size(), "the initial state");
  const solvers::VectorOps ops(u.device());
  if (given)
    ops.copy(*given, u);
  else
    ops.fill(0, u);
}

struct NonlinearOptions {
  solvers::NewtonOptions newton; ///< tolerances, line search, load steps; newton.solver: of the linear systems
  std::optional<Form> energy;    ///< functional whose derivative is F, for the line search
  std::optional<Vector> initial; ///< state to start from, absent: 0
  std::vector<NamedValues> data; ///< values of the other data fields of F, by name
  std::vector<std::pair<std::string, double>> parameters; ///< of F, the energy and boundary values, by name
  OperatorOptions discretisation;                         ///< of residual and tangent, with Dirichlet conditions
  /// Levels below the tangent, by whose cycles newton.solver is then preconditioned.
  std::optional<MultigridOptions> multigrid;
};

struct NonlinearResult {
  Vector solution;            ///< one field of `unknowns` after the other
  solvers::NewtonResult info; ///< status, steps with their residuals
  bool is_converged() const { return info.status == solvers::Status::converged; }
};

/// Solves F(u; v) = 0 for all test functions v by Newton's method, with the derivative of F by the unknowns as its
/// tangent. `unknowns`: the coefficient fields that F is to be solved for, one for each space of its test functions. F
/// may hold `constant("load_factor", 1)`, which goes up to 1 with the load steps, as boundary values do. Throws
/// InputError for forms that do not fit and where F is not finite at the start; other failures are in the result.
///
///     auto u = field(V.ptr(), "u");
///     auto F = (inner((1 + u * u) * grad(u), grad(v)) - f * v) * dx;
///     auto result = solve_nonlinear(F, {u}, {.discretisation = {.dirichlet = {V.fixed({1}, {0.0})}}});
inline NonlinearResult solve_nonlinear(const Form& F, const std::vector<Expr>& unknowns,
                                       const NonlinearOptions& options = {}) {
  auto [system, names] = system_of_unknowns(unknowns, "solve_nonlinear");
  auto discretisation = options.discretisation;
  discretisation.shared_device = op::device_of(discretisation, *system.discretisation);
  op::warn_of_left_out(*system.mesh, F);
  const auto residual = op::build(F, 1, system, discretisation);
  std::shared_ptr<op::GeneratedForm> energy;
  std::vector built{residual};
  if (options.energy) built.push_back(energy = op::build(*options.energy, 0, system, discretisation));
  op::compile(built);
  auto tangent = std::make_shared<Operator>(derivative(F, unknowns), system, discretisation);
  solvers::ResidualProblem problem(residual, tangent, std::move(names), energy);
  for (const auto& [name, values] : options.data) problem.set(name, *values);
  for (const auto& [name, value] : options.parameters) problem.set(name, value);
  Vector u = tangent->make_vector();
  set_initial(options.initial, u);
  auto own = options.newton;
  if (!own.solver.near_null_space)
    own.solver.near_null_space = [tangent] { return solvers::make_near_null_space(tangent->system()); };
  if (options.multigrid) {
    own.solver.preconditioner = "multigrid";
    own.solver.multigrid = options.multigrid->parameters;
    own.solver.hierarchy = make_hierarchy(*tangent, *options.multigrid);
  }
  auto info = solvers::newton(problem, u, own);
  return {std::move(u), std::move(info)};
}

/// A field of a VTK-HDF file that an earlier solve has written, as a vector of a space: at its nodes, exact where the
/// file has the same mesh and a field of no higher degree. Throws InputError as io::VtkHdfReader::function() and the
/// function itself.
inline Vector read_vtkhdf(const std::string& path, const std::string& name, const FunctionSpace& V,
                          const OperatorOptions& options = {}) {
  Vector values(op::device_of(options, *V->discretisation()), static_cast<std::size_t>(V->num_local()));
  space::interpolate(*V, io::VtkHdfReader(path).function(name, V->num_components()), values.host_overwrite());
  return values;
}

struct TimeOptions {
  double start = 0, end = 1, step = 0.1; ///< the last step may be shorter
  double theta = 1;                      ///< 1: implicit Euler method; 0.5: Crank and Nicolson's
  /// Of linear systems, with tolerances relative to the loads of a step; of problems that are not linear.
  solvers::TimeSolverOptions solvers{.solver = {.control = {.rtol = 1e-8}}, .newton = {}};
  std::optional<Vector> initial; ///< state at the first time, made consistent (ThetaStepper::project); absent: 0
  /// Called with each time and the state then, from the first on, the consistent one.
  std::function<void(double time, const Vector& state)> monitor;
  std::vector<NamedValues> data; ///< values of the other data fields of F, by name; their dt() is 0
  std::vector<std::pair<std::string, double>> parameters; ///< of F and boundary values, by name, but for the time
  OperatorOptions discretisation; ///< with Dirichlet conditions, whose values may hold parameter("t")
  /// Levels below the operator of the steps, by whose cycles solvers.solver is then preconditioned.
  std::optional<MultigridOptions> multigrid;
};

struct TimeResult {
  Vector solution;                            ///< at the last time that was reached, or the initial state
  double time = 0;                            ///< that one
  std::vector<solvers::TimeStepResult> steps; ///< first the projection of the initial state
  bool is_converged() const { return steps.back().status == solvers::Status::converged; }
};

/// Solves F(dt(u), u, t; v) = 0 for all test functions v in time by a theta scheme (form::ThetaForms). Every field that
/// is solved for is in `unknowns`; those without dt() in F get the order of the others, and need a theta above 0.
/// Throws InputError for forms that do not fit; steps that fail end the run, with the reason in the result.
///
///     auto u = field(V.ptr(), "u"), t = parameter("t");
///     auto F = (dt(u) * v + inner(grad(u), grad(v)) - sin(t) * v) * dx;
///     auto result = solve_in_time(F, {u}, {.end = 1, .step = 0.01, .theta = 0.5});
inline TimeResult solve_in_time(const Form& F, const std::vector<Expr>& unknowns, const TimeOptions& options) {
  const solvers::TimeGrid grid(options.start, options.end, options.step, options.theta);
  auto [system, names] = system_of_unknowns(unknowns, "solve_in_time");
  std::vector<std::string> known;
  for (const auto& given : options.data) known.push_back(given.name);
  auto forms = form::make_theta_forms(F, unknowns, known, options.theta);
  form::require_theta(forms, options.theta);
  const auto device = op::device_of(options.discretisation, *system.discretisation);
  const auto kernels = op::kernel_options(options.discretisation, device);
  op::warn_of_left_out(*system.mesh, F);
  const std::vector built{op::build_form(forms.tangent, system, op::Purpose::action, kernels),
                          op::build_form(forms.load, system, op::Purpose::action, kernels)};
  op::compile(built);
  auto tangent = std::make_shared<Operator>(built[0], options.discretisation.dirichlet);
  auto own = options.solvers;
  if (!own.solver.near_null_space)
    own.solver.near_null_space = [tangent] { return solvers::make_near_null_space(tangent->system()); };
  if (options.multigrid) {
    own.solver.preconditioner = "multigrid";
    own.solver.multigrid = options.multigrid->parameters;
  }
  solvers::ThetaStepper stepper(std::move(forms), std::move(names), tangent, built[1], std::move(own));
  for (const auto& [name, values] : options.data) stepper.set_data(name, *values);
  for (const auto& [name, value] : options.parameters) stepper.set_parameter(name, value);
  Vector u = tangent->make_vector();
  const solvers::VectorOps ops(tangent->device());
  set_initial(options.initial, u);
  if (options.multigrid) {
    stepper.bind(grid.step(1), u); // boundary values of the operator need the time
    stepper.use_hierarchy(make_hierarchy(*tangent, *options.multigrid, {}, [&](const auto& spaces) {
      return form::theta_tangent_on(F, unknowns, known, options.theta, spaces);
    }));
  }
  TimeResult result{tangent->make_vector(), options.start, {}};
  ops.copy(u, result.solution);
  result.steps.push_back(stepper.project(options.start, u));
  for (std::int64_t number = 0; result.is_converged(); ++number) {
    ops.copy(u, result.solution); // a step that fails leaves no state of any time
    result.time = grid.time(number);
    if (options.monitor) options.monitor(result.time, result.solution);
    if (number == grid.num_steps()) break;
    result.steps.push_back(stepper.advance(grid.step(number + 1), u));
  }
  return result;
}

/// Writes the fields of a system's vector as VTK-HDF.
inline void write_vtkhdf(const std::string& path, const Operator& A, const Vector& x) {
  const auto& system = A.system();
  std::vector<io::OutputField> fields;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    fields.push_back({system.spaces[f]->name, system.spaces[f],
                      x.host_read().subspan(static_cast<std::size_t>(system.offset(f)),
                                            static_cast<std::size_t>(system.spaces[f]->num_local()))});
  io::write_vtkhdf(path, *system.mesh, fields);
}

} // namespace rafter
