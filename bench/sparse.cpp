// SPDX-License-Identifier: BSD-3-Clause
#include <bench/sparse.hpp>

#include <algorithm>
#include <array>
#include <deque>

#include <bench/measured.hpp>
#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <bench/sparse_products.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>

namespace rafter::bench {
namespace {

/// An assembled plan has slices as high as a register, or the planner chooses kernels of cells.
struct PlannedProduct {
  const char *name, *gathers; ///< key of the assembled plan; "": kernels
  std::string plan(const machine::Machine& machine) const {
    return std::string_view(gathers).empty() ? ""
                                             : fmt::format("mapping=assembled gathers={} vector_width={}", gathers,
                                                           std::max(machine.peaks.back().bits / 64, 2));
  }
};
constexpr PlannedProduct planned_products[] = {{"vector", "vector"}, {"scalar", "scalar"}, {"kernels", ""}};

std::vector<std::string> product_names() {
  std::vector<std::string> names;
  for (const auto& product : sparse_products()) names.emplace_back(product.name);
  for (const auto& product : planned_products) names.emplace_back(product.name);
  return names;
}

struct SparseChoices {
  Settings common;
  std::vector<std::string> cases{"bp3"}, geometries{"tetrahedra"}, products = product_names();
};
SparseChoices sparse_defaults() {
  SparseChoices choices;
  choices.common.degrees = {1, 2};
  return choices;
}
std::vector<Option> options_of(SparseChoices& choices) {
  std::vector<Option> options{
      names_option("--cases", "operators", choices.cases, names_of(bake_off_cases())),
      names_option("--geometry", "cells of the square or cube", choices.geometries, geometry_names()),
      names_option("--products", "what multiplies, beside compressed rows", choices.products, product_names())};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout sparse_layout(bool has_mesh) {
  return {.suite = "sparse",
          .title = "products of a sparse matrix with a vector, side by side",
          .columns = {{"case", {"case", "operator"}, "{:<10}"},
                      has_mesh ? cells_column() : Column{"geometry", {"cells", "of the cube"}, "{:<14}"},
                      {"product",
                       {"product", "storage written by hand, gathers of an assembled plan, or kernels of cells"},
                       "{:<10}"},
                      degree_column(),
                      dofs_column(),
                      rate_column(),
                      spread_column(),
                      {"speed", {"ratio", "rate over that of compressed rows, median over the rounds"}, "{:6.2f}"},
                      bytes_column(),
                      bandwidth_column(),
                      share_column()},
          .identity = {"case", "geometry", "product", "degree", "dofs"},
          .figure = "mdofs_per_second"};
}

/// The products of one matrix.
class Products {
public:
  Products(const Case& problem, const std::shared_ptr<const space::FunctionSpace>& space,
           const std::shared_ptr<device::Device>& device, const machine::Machine& machine,
           const std::vector<std::string>& names) {
    const auto assembled = make_operator(problem, space, device, {.plan = "mapping=assembled"});
    const auto matrix = assembled.sparse_matrix();
    constexpr double rounding = 1e-12;
    const bool is_symmetric = matrix.asymmetry() < rounding;
    for (const auto& product : sparse_products()) {
      const bool is_first = products_.empty(); // all are compared with compressed rows
      if (!is_first && std::ranges::find(names, product.name) == names.end()) continue;
      if ((product.is_symmetric && !is_symmetric) || (product.is_serial && device->num_threads() > 1)) continue;
      products_.push_back(make_sparse_product(product.name, matrix, device));
      names_.emplace_back(product.name);
    }
    for (const auto& product : planned_products) {
      if (std::ranges::find(names, product.name) == names.end()) continue;
      operators_.push_back(make_operator(problem, space, device, {.plan = product.plan(machine)}));
      products_.push_back(measured(operators_.back()));
      names_.emplace_back(product.name);
    }
    require_equal();
  }
  std::span<const Measured> all() const { return products_; }
  const std::string& name(std::size_t product) const { return names_[product]; }

private:
  void require_equal() const {
    constexpr double bound = 1e-10;
    const auto found = differences(products_);
    for (std::size_t p = 0; p < found.size(); ++p)
      if (!(found[p] < bound))
        throw base::InternalError(
            fmt::format("bench sparse: '{}' differs from compressed rows by {}", names_[p], found[p]));
  }

  std::deque<op::Operator> operators_; ///< `products_` refer to them
  std::vector<Measured> products_;
  std::vector<std::string> names_;
};

void measure(Report& report, const SparseChoices& choices, const std::string& name, const std::string& geometry,
             const SpaceChoice& choice, const std::shared_ptr<device::Device>& device) {
  const auto& problem = find_case(bake_off_cases(), name);
  const auto space = make_space(problem, choice);
  const Products products(problem, space, device, report.machine(), choices.products);
  const auto rows = measure(products.all(), *space, report.machine(), choices.common);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    Json row{{"case", name}, {"geometry", geometry}, {"product", products.name(p)}};
    row.update(rows[p]);
    row["speed"] = 1 / row["relative_seconds"].get<double>();
    if (products.all()[p].kernels.empty()) row.erase("plan");
    report.add(std::move(row));
  }
}

} // namespace

int run_sparse(std::span<const std::string> arguments) {
  SparseChoices choices = sparse_defaults();
  const auto given = parse("sparse", arguments, options_of(choices));
  const std::vector<std::string> of_boxes{"--geometry"};
  read_mesh_file("sparse", choices.common, given, of_boxes);
  const bool has_mesh = choices.common.mesh != nullptr;
  if (has_mesh) choices.geometries = {choices.common.mesh->name};
  Report report(sparse_layout(has_mesh), choices.common, arguments);
  const auto device = device::make_device("host", choices.common.threads);
  for (const auto& name : choices.cases)
    for (const auto& geometry : choices.geometries)
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs) {
          SpaceChoice choice{
              .degree = degree, .million_dofs = size, .geometry = geometry, .mesh = mesh_of(choices.common)};
          if (size == 0)
            choice.million_dofs =
                beyond_caches(find_case(bake_off_cases(), name), choice, report.machine(), device, "mapping=assembled");
          measure(report, choices, name, geometry, choice, device);
        }
  const std::array plots{
      report::Plot{"products of a sparse matrix",
                   {"degree", false, true},
                   {"MDoF/s"},
                   series(report.rows(), {"case", "geometry", "product"}, "degree", "mdofs_per_second")}};
  return report.finish(plots);
}

std::string sparse_options() {
  SparseChoices choices = sparse_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
