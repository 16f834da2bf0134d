// SPDX-License-Identifier: BSD-3-Clause
#include <bench/operators.hpp>

#include <algorithm>
#include <cmath>

#include <bench/measured.hpp>
#include <bench/mesh_file.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

constexpr const char* laplace = "inner(grad(u), grad(v))*dx";

/// Returns the unknowns per cell of a large mesh without its boundary: p^dim times the part of the reference square or
/// cube that the reference cell fills.
double scalar_dofs_per_cell(element::Shape shape, int degree) {
  return std::pow(degree, element::dimension(shape)) *
         std::ldexp(element::reference_volume(shape), -element::dimension(shape));
}
/// Returns the unknowns of all cells of such a mesh together.
double dofs_of_cells(const space::FunctionSpace& space) {
  double dofs = 0;
  for (const auto& group : space.mesh().groups)
    dofs += group.num_cells() * scalar_dofs_per_cell(group.shape, space.degree) * space.num_components();
  return dofs;
}

/// Returns the components of the space: none of a scalar, else as many as there are dimensions.
int num_components(const Case& problem, int dim) { return std::min(problem.components, dim); }

/// Returns the plans of the kernels, each once.
std::string plans_of(std::span<const op::KernelInfo> kernels) {
  std::vector<std::string> plans;
  for (const auto& kernel : kernels)
    if (auto plan = schedule::to_string(kernel.plan); std::ranges::find(plans, plan) == plans.end())
      plans.push_back(std::move(plan));
  return base::join(plans, "; ");
}

/// Makes the unit square or cube with about so many unknowns.
mesh::Mesh make_cube(const Case& problem, const SpaceChoice& choice) {
  const auto& geometry = find_geometry(choice.geometry);
  const double dofs_per_cube = std::max(num_components(problem, geometry.dim()), 1) * geometry.cells_per_cube() *
                               scalar_dofs_per_cell(geometry.shape, choice.degree);
  const double cubes = std::pow(choice.million_dofs * 1e6 / dofs_per_cube, 1.0 / geometry.dim());
  const int step = choice.degree == 1 ? 4 : 2; // cells along an axis of patches, or of a batch
  const int n = std::max(2, step * static_cast<int>(std::round(cubes / step)));
  return make_cube(n, geometry, choice.degree);
}

Json figures(const machine::Counts& counts, std::span<const op::KernelInfo> kernels, const std::vector<double>& samples,
             double dofs, const machine::Machine& machine, int threads) {
  const auto timing = base::timing_of(samples);
  const double bytes = counts.global_bytes_read + counts.global_bytes_written;
  const auto seen = machine::resident(machine, bytes, threads);
  const auto bound = machine::bound(counts, seen, threads);
  std::size_t text_bytes = 0;
  double work_bytes = 0;
  for (const auto& kernel : kernels) {
    text_bytes += kernel.source.size();
    work_bytes += kernel.work_bytes;
  }
  return {{"mdofs_per_second", 1e-6 * dofs / timing.median},
          {"spread", timing.spread()},
          {"effective_gflops", 1e-9 * counts.effective_flops / timing.median},
          {"executed_flops_per_dof", counts.flops / dofs},
          {"effective_flops_per_dof", counts.effective_flops / dofs},
          {"bytes_per_dof", bytes / dofs},
          {"local_bytes_per_dof", (counts.local_bytes_read + counts.local_bytes_written) / dofs},
          {"least_local_bytes_per_dof", (counts.least_local_bytes_read + counts.least_local_bytes_written) / dofs},
          {"gbytes_per_second", 1e-9 * bytes / timing.median},
          {"bound_seconds", bound.seconds},
          {"seconds", timing.median},
          {"share", bound.seconds / timing.median},
          {"limited_by", bound.limited_by},
          {"resident", seen.levels.back().name},
          {"text_bytes", text_bytes},
          {"work_bytes", work_bytes}};
}

std::vector<Measured> all_measured(std::span<const op::Operator* const> operators) {
  std::vector<Measured> result;
  for (const auto* A : operators) result.push_back(measured(*A));
  return result;
}

/// Times the calls, which apply the operators, and returns a row for each.
std::vector<Json> sampled(const std::vector<std::function<void()>>& calls, std::span<const Measured> operators,
                          const space::FunctionSpace& space, const machine::Machine& machine,
                          const Settings& settings) {
  auto sampling = settings.sampling;
  sampling.threads = settings.threads;
  sampling.finish = device::finish_of(operators.front().device);
  const auto samples = base::sample(calls, sampling);
  const double dofs = counted_dofs(space);
  std::vector<Json> rows;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    Json row{{"degree", space.degree}, {"dofs", std::llround(dofs)}, {"cells", space.mesh().num_cells()}};
    row.update(figures(operators[i].counts, operators[i].kernels, samples[i], dofs, machine, settings.threads));
    row.update(kernels_json(operators[i].kernels));
    row["relative_seconds"] = base::median_ratio(samples[i], samples[0]);
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace

const std::vector<Case>& bake_off_cases() {
  using enum element::QuadratureKind;
  static const std::vector<Case> cases{
      {"bp1", "mass, Gauss p+2", "u*v*dx", 0, 2, gauss},
      {"bp2", "mass, 3 components, Gauss p+2", "inner(u, v)*dx", 3, 2, gauss},
      {"bp3", "Laplace, Gauss p+2", laplace, 0, 2, gauss},
      {"bp4", "Laplace, 3 components, Gauss p+2", laplace, 3, 2, gauss},
      {"bp5", "Laplace, Gauss-Lobatto p+1", laplace, 0, 1, gll},
      {"bp6", "Laplace, 3 components, Gauss-Lobatto p+1", laplace, 3, 1, gll},
      {"elasticity", "isotropic elasticity, Gauss p+1", "inner(lmbda*div(u)*I + 2*mu*sym(grad(u)), sym(grad(v)))*dx", 3,
       1, gauss},
      {"helmholtz", "Laplace and mass, Gauss p+2", "(inner(grad(u), grad(v)) + u*v)*dx", 0, 2, gauss}};
  return cases;
}

std::vector<std::string> names_of(std::span<const Case> cases) {
  std::vector<std::string> names;
  for (const auto& c : cases) names.push_back(c.name);
  return names;
}

const Case& find_case(std::span<const Case> cases, const std::string& name) {
  const auto found = std::ranges::find(cases, name, &Case::name);
  if (found == cases.end()) throw base::InternalError("no case " + name);
  return *found;
}

std::shared_ptr<const mesh::Mesh> mesh_of(const Settings& settings) {
  return settings.mesh == nullptr ? nullptr : settings.mesh->mesh;
}

std::shared_ptr<const space::FunctionSpace> make_space(const Case& problem, const SpaceChoice& choice) {
  const auto mesh =
      choice.mesh != nullptr ? choice.mesh : std::make_shared<const mesh::Mesh>(make_cube(problem, choice));
  auto options = space::batch_options(*mesh, {.degree = choice.degree, .cells_per_batch = choice.cells_per_batch});
  if (choice.is_broken && options.patch_width > 1) { // cell vectors share no unknowns
    options.patch_width = 1;
    options.cells_per_batch = choice.cells_per_batch;
  }
  return space::FunctionSpace::make(
      std::make_shared<const space::Discretisation>(mesh, mesh::make_cell_batches(*mesh, options)),
      {.degree = choice.degree, .components = num_components(problem, mesh->tdim), .is_broken = choice.is_broken});
}

double beyond_caches(const Case& problem, SpaceChoice choice, const machine::Machine& machine,
                     const std::shared_ptr<device::Device>& device, const std::string& plan) {
  if (choice.mesh != nullptr) return 0;
  const double last_cache =
      machine.levels.size() < 2 ? 0 : static_cast<double>(machine.levels[machine.levels.size() - 2].bytes);
  // The bytes per cell are those of a small mesh. At low degrees it is large enough for the patches of large meshes.
  const auto& geometry = find_geometry(choice.geometry);
  const double scalar_dofs = std::pow(32, geometry.dim());
  choice.million_dofs =
      choice.degree > 2 ? 0 : 1e-6 * std::max(num_components(problem, geometry.dim()), 1) * scalar_dofs;
  const auto space = make_space(problem, choice);
  const auto A = make_operator(problem, space, device, {.plan = plan});
  const auto cells = static_cast<double>(space->mesh().num_cells());
  const auto counts = A.counts();
  const double data = counts.global_bytes_read - 8.0 * static_cast<double>(space->num_dofs());
  const double dofs_per_cell = dofs_of_cells(*space) / cells;
  const double entries = choice.is_broken ? static_cast<double>(space->num_dofs()) / cells : dofs_per_cell;
  return 1e-6 * 2 * last_cache * dofs_per_cell / (data / cells + 16 * entries);
}

form::Expr isotropic_tensor(const std::string& name, double lmbda, double mu) {
  std::vector<double> values(81, 0.0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      values[9 * (3 * i + i) + 3 * j + j] += lmbda;
      values[9 * (3 * i + j) + 3 * i + j] += mu;
      values[9 * (3 * i + j) + 3 * j + i] += mu;
    }
  return form::constant(name, {9, 9}, std::move(values));
}

void add_material(form::Scope& scope) {
  scope.add("lmbda", form::constant("lmbda", 1.0));
  scope.add("mu", form::constant("mu", 0.7));
  scope.add("I", form::identity(scope.gdim()));
  if (scope.gdim() == 3) scope.add("C", isotropic_tensor("C", 1.0, 0.7));
}

std::string components_of(const std::string& gradient) {
  std::vector<std::string> components;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) components.push_back(fmt::format("{}[{}, {}]", gradient, i, j));
  return "[" + base::join(components, ", ") + "]";
}

op::Operator make_operator(const Case& problem, const std::shared_ptr<const space::FunctionSpace>& space,
                           const std::shared_ptr<device::Device>& device, const OperatorChoice& choice) {
  const std::shared_ptr<const form::FieldSpace> field = space;
  form::Scope scope(space->mesh().tdim);
  scope.add_arguments({&field, 1});
  add_material(scope);
  op::OperatorOptions options{
      .shared_device = device, .plan = choice.plan, .num_applications = choice.num_applications};
  if (choice.has_zero_boundary) {
    const auto zero = [](std::span<const double>, std::span<double> values) { std::ranges::fill(values, 0.0); };
    options.dirichlet.push_back({space, {.is_all = true, .value = zero}});
  }
  options.quadrature.tensor_points = space->degree + problem.extra_points;
  options.quadrature.kind = problem.rule;
  options.quadrature.curved_degree = 2 * space->degree;
  return op::Operator(form::parse_form(problem.form, scope), options);
}

double counted_dofs(const space::FunctionSpace& space) {
  return space.is_broken() ? dofs_of_cells(space) : static_cast<double>(space.num_dofs());
}

namespace {
template <class T> void fill_with_waves(device::Array<T>& vector) {
  double phase = 0;
  for (T& value : vector.host_overwrite()) value = static_cast<T>(std::sin(phase += 0.1));
}
} // namespace

void fill(op::Vector& vector) { fill_with_waves(vector); }
void fill(op::SingleVector& vector) { fill_with_waves(vector); }

Measured measured(const op::Operator& A) {
  const auto kernels = A.info();
  return {.apply = [&A](const op::Vector& x, op::Vector& y) { A.apply(x, y); },
          .size = A.num_unknowns(),
          .device = A.device(),
          .counts = A.counts(),
          .kernels = {kernels.begin(), kernels.end()}};
}

std::vector<double> differences(std::span<const op::Operator* const> operators) {
  return differences(all_measured(operators));
}

std::vector<double> differences(std::span<const Measured> operators) {
  const auto& device = operators.front().device;
  const auto size = static_cast<std::size_t>(operators.front().size);
  op::Vector x(device, size), expected(device, size), y(device, size);
  fill(x);
  operators.front().apply(x, expected);
  double scale = 0;
  for (const double value : expected.host_read()) scale = std::max(scale, std::fabs(value));
  std::vector<double> result;
  for (const auto& A : operators) {
    A.apply(x, y);
    double difference = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      difference = std::max(difference, std::fabs(y.host_read()[i] - expected.host_read()[i]));
    result.push_back(difference / scale);
  }
  return result;
}

std::vector<Json> measure(std::span<const op::Operator* const> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings) {
  op::Vector x = operators.front()->make_vector(), y = operators.front()->make_vector();
  op::SingleVector single_x = operators.front()->make_single_vector(),
                   single_y = operators.front()->make_single_vector();
  fill(x);
  fill(y);
  fill(single_x);
  fill(single_y);
  std::vector<std::function<void()>> calls;
  for (const auto* A : operators)
    if (A->is_single())
      calls.push_back([A, &single_x, &single_y] { A->apply(single_x, single_y); });
    else
      calls.push_back([A, &x, &y] { A->apply(x, y); });
  return sampled(calls, all_measured(operators), space, machine, settings);
}

std::vector<Json> measure(std::span<const Measured> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings) {
  const auto& device = operators.front().device;
  const auto size = static_cast<std::size_t>(operators.front().size);
  op::Vector x(device, size), y(device, size);
  fill(x);
  fill(y);
  std::vector<std::function<void()>> calls;
  for (const auto& A : operators) calls.push_back([&A, &x, &y] { A.apply(x, y); });
  return sampled(calls, operators, space, machine, settings);
}

Json kernels_json(std::span<const op::KernelInfo> kernels) {
  Json result{{"plan", plans_of(kernels)}, {"kernels", Json::array()}};
  for (const auto& kernel : kernels)
    result["kernels"].push_back({{"name", kernel.name},
                                 {"cells", kernel.num_cells},
                                 {"points", kernel.num_points},
                                 {"plan", schedule::to_string(kernel.plan)}});
  return result;
}

void add_memory(Json& row, std::optional<std::int64_t> bytes) {
  row["memory_bytes"] = bytes ? *bytes : std::llround(row["bytes_per_dof"].get<double>() * row["dofs"].get<double>());
  row["memory_of"] = bytes ? "process" : "vectors and data";
}

Column degree_column() { return {"degree", {"p", "degree"}, "{:2}"}; }
Column cells_column() { return {"cells", {"cells", "of the mesh"}, "{:8}"}; }
Column dofs_column() { return {"dofs", {"MDoF", "10^6 unknowns"}, "{:6.2f}", 1e-6}; }
Column rate_column() { return {"mdofs_per_second", {"MDoF/s", "10^6 unknowns per second"}, "{:7.1f}"}; }
Column spread_column() {
  return {"spread", {"spread %", "slowest minus fastest sample, over the median"}, "{:8.0f}", 100};
}
Column gflops_column() {
  return {"effective_gflops", {"GFLOP/s", "10^9 operations of the algorithm as written per second"}, "{:7.1f}"};
}
Column bytes_column() {
  return {"bytes_per_dof", {"B/DoF", "bytes per unknown that must cross the memory, each counted once"}, "{:5.0f}"};
}
Column bandwidth_column() { return {"gbytes_per_second", {"GB/s", "10^9 such bytes per second"}, "{:6.1f}"}; }
Column share_column() {
  return {"share",
          {"share %", "least time that the machine's ceilings allow (roofline) over the measured one"},
          "{:7.0f}",
          100};
}
Column limit_column() {
  return {"limited_by",
          {"limit", "what that least time is of: flops, memory, or local memory (bytes of the nearest cache)"},
          "{:<12}"};
}
Column level_column() {
  return {"resident", {"in", "nearest level that holds vectors and data, whose bandwidth counts"}, "{:<6}"};
}
Column memory_column() {
  return {
      "memory_bytes", {"MB", "10^6 bytes that the process takes beyond what it held before this row"}, "{:7.1f}", 1e-6};
}

std::vector<Column> measured_columns() {
  return {degree_column(), dofs_column(),  rate_column(), spread_column(),
          gflops_column(), share_column(), limit_column()};
}

Table counts_table() {
  return {"operations and bytes",
          {{"executed_flops_per_dof", {"flop/DoF", "operations per unknown that are executed"}, "{:8.0f}"},
           {"effective_flops_per_dof", {"algorithm", "operations per unknown of the algorithm as written"}, "{:9.0f}"},
           bytes_column(),
           {"local_bytes_per_dof", {"L1 B/DoF", "bytes per unknown to and from the nearest cache"}, "{:8.0f}"},
           bandwidth_column(),
           level_column(),
           memory_column()}};
}

} // namespace rafter::bench
