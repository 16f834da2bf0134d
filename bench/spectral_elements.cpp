// SPDX-License-Identifier: BSD-3-Clause
#include <bench/spectral_elements.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

constexpr std::array table{
    FactorSource{"baseline", "deformed", "store-merged", "store-merged", published_full_access},
    FactorSource{"parallelepiped", "sheared", "store-merged", "partial-2-merged", published_parallelepiped},
    FactorSource{"trilinear", "deformed", "recompute-merged", "recompute-merged", published_trilinear},
    FactorSource{"merged", "deformed", nullptr, "partial-2-merged", published_partial},
    FactorSource{"partial", "deformed", "partial-1-merged", nullptr, published_partial}};

} // namespace

const std::vector<Case>& spectral_equations() {
  using enum element::QuadratureKind;
  static const std::string poisson = "inner(grad(u), grad(v))*dx",
                           helmholtz = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + (2 + x[1]*x[2])*inner(u, v))*dx";
  static const std::vector<Case> cases{{"poisson", "1 component", poisson, 0, 1, gll},
                                       {"helmholtz", "1 component", helmholtz, 0, 1, gll},
                                       {"poisson-3", "3 components", poisson, 3, 1, gll},
                                       {"helmholtz-3", "3 components", helmholtz, 3, 1, gll}};
  return cases;
}

Column equation_column() {
  return {"equation", {"equation", "Poisson's or Helmholtz's; -3: of three components"}, "{:<11}"};
}
Column kernel_column() { return {"kernel", {"kernel", "where geometric factors come from"}, "{:<14}"}; }

bool is_helmholtz(const Case& equation) { return equation.name.starts_with("helmholtz"); }

std::vector<std::string> factor_source_names() {
  std::vector<std::string> names;
  for (const auto& source : table) names.emplace_back(source.name);
  return names;
}

const char* FactorSource::factors(const Case& equation, Coefficients coefficients) const {
  if (!is_helmholtz(equation)) return poisson;
  return coefficients != Coefficients::expressions && helmholtz != nullptr ? poisson : helmholtz;
}

std::vector<FactorSource> factor_sources(const Case& equation, std::span<const std::string> names,
                                         Coefficients coefficients) {
  std::vector<FactorSource> chosen;
  std::ranges::copy_if(table, std::back_inserter(chosen), [&](const FactorSource& source) {
    return source.factors(equation, coefficients) != nullptr && std::ranges::find(names, source.name) != names.end();
  });
  return chosen;
}

void require_variants(const std::string& suite, std::span<const std::string> equations,
                      std::span<const std::string> names, Coefficients coefficients) {
  std::vector<std::string> accepted;
  for (const auto& name : equations) {
    const auto& equation = find_case(spectral_equations(), name);
    if (!factor_sources(equation, names, coefficients).empty()) return;
    std::vector<std::string> variants;
    for (const auto& source : factor_sources(equation, factor_source_names(), coefficients))
      variants.emplace_back(source.name);
    accepted.push_back(fmt::format("{}: {}", name, base::join(variants, ", ")));
  }
  throw base::InputError(fmt::format("bench {}: --kernels {}: no variant of these equations; accepted for {}", suite,
                                     base::join(names, ","), base::join(accepted, "; ")));
}

namespace {

/// Returns the Helmholtz operator whose coefficients, those of spectral_equations(), are nodal values.
op::Operator make_array_operator(const std::shared_ptr<const space::FunctionSpace>& space,
                                 const std::shared_ptr<device::Device>& device, const std::string& plan) {
  const auto coefficient = [&](const char* name) {
    return space::FunctionSpace::make(space->discretisation(),
                                      {.degree = space->degree, .name = name, .is_broken = space->is_broken()});
  };
  const std::shared_ptr<const form::FieldSpace> unknown = space;
  form::Scope scope(3);
  scope.add_arguments({&unknown, 1});
  const std::array spaces{coefficient("lambda0"), coefficient("lambda1")};
  for (const auto& known : spaces) scope.add_field(known);
  op::Operator A(form::parse_form("(lambda0*inner(grad(u), grad(v)) + lambda1*inner(u, v))*dx", scope),
                 {.shared_device = device,
                  .quadrature = {.kind = element::QuadratureKind::gll, .points = space->degree + 1},
                  .plan = plan});
  const auto set = [&](const space::FunctionSpace& known, const space::SpatialFunction& function) {
    op::Vector values(device, static_cast<std::size_t>(known.num_local()));
    space::interpolate(known, function, values.host_overwrite());
    A.set(known.name, values);
  };
  set(*spaces[0], [](std::span<const double> x, std::span<double> value) { value[0] = 1 + x[0] * x[0]; });
  set(*spaces[1], [](std::span<const double> x, std::span<double> value) { value[0] = 2 + x[1] * x[2]; });
  return A;
}

/// Says whether the factors are those of the cells: parallelepipeds have factors that are constant in them, a mesh with
/// other cells has those that follow the points, and stored factors go with both.
bool is_of(const FactorSource& source, const space::FunctionSpace& space) {
  if (std::string_view(source.name) == "baseline") return true;
  const bool has_parallelepipeds = std::ranges::all_of(space.discretisation()->batches().blocks,
                                                       [](const auto& block) { return mesh::is_constant(block.map); });
  return has_parallelepipeds == (std::string_view(source.geometry) == "sheared");
}

} // namespace

std::optional<op::Operator> make_spectral_operator(Report& report, const Case& equation, const FactorSource& source,
                                                   const std::shared_ptr<const space::FunctionSpace>& space,
                                                   const std::shared_ptr<device::Device>& device,
                                                   const SpectralChoice& choice) {
  const char* factors = source.factors(equation, choice.coefficients);
  const auto missing = [&](const std::string& why) {
    auto row = choice.row;
    row.update({{"equation", equation.name},
                {"kernel", source.name},
                {"factors", std::string("no ") + factors},
                {"degree", space->degree},
                {"dofs", std::llround(counted_dofs(*space))},
                {"cells", space->mesh().num_cells()},
                {"missing", why}});
    report.add(std::move(row));
  };
  if (!is_of(source, *space)) {
    missing(fmt::format("cells are {}",
                        std::string_view(source.geometry) == "sheared" ? "no parallelepipeds" : "parallelepipeds"));
    return std::nullopt;
  }
  const std::string plan = std::string("factors=") + factors + " " + choice.plan;
  auto variant = equation;
  if (is_helmholtz(equation) && choice.coefficients == Coefficients::ones)
    variant.form = "(inner(grad(u), grad(v)) + inner(u, v))*dx";
  const bool has_arrays = is_helmholtz(equation) && choice.coefficients == Coefficients::array;
  auto A = has_arrays
               ? make_array_operator(space, device, plan)
               : make_operator(variant, space, device, {.plan = plan, .has_zero_boundary = choice.has_zero_boundary});
  const bool is_followed = std::ranges::all_of(A.info(), [factors](const op::KernelInfo& info) {
    return kernel::name(info.plan[schedule::key::factors]) == factors;
  });
  if (is_followed) return A;
  missing(fmt::format("no factors {} {}", factors,
                      A.info().size() == 1 ? "at this degree" : "for all cells at this degree"));
  return std::nullopt;
}

} // namespace rafter::bench
