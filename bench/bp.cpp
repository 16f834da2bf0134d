// SPDX-License-Identifier: BSD-3-Clause
#include "bp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/operator.hpp>
#include <sched.h>

namespace rafter::bench {

namespace {

using Json = nlohmann::ordered_json;

/// Best peer's figures; the file stands in bench/data and is compiled in.
constexpr const char* peer_text =
#include "cpu_peers.inc"
    ;

struct Case {
  const char* name;
  const char* description;
  const char* form;
  int components;
  int extra_points; ///< points per direction: degree + extra
  element::QuadratureKind rule;
};
const std::array cases{
    Case{"bp1", "mass, Gauss p+2", "u*v*dx", 0, 2, element::QuadratureKind::gauss},
    Case{"bp2", "mass, 3 components, Gauss p+2", "inner(u, v)*dx", 3, 2, element::QuadratureKind::gauss},
    Case{"bp3", "Laplace, Gauss p+2", "inner(grad(u), grad(v))*dx", 0, 2, element::QuadratureKind::gauss},
    Case{"bp4", "Laplace, 3 components, Gauss p+2", "inner(grad(u), grad(v))*dx", 3, 2, element::QuadratureKind::gauss},
    Case{"bp5", "Laplace, Gauss-Lobatto p+1", "inner(grad(u), grad(v))*dx", 0, 1, element::QuadratureKind::gll},
    Case{"bp6", "Laplace, 3 components, Gauss-Lobatto p+1", "inner(grad(u), grad(v))*dx", 3, 1,
         element::QuadratureKind::gll},
    Case{"elasticity", "isotropic elasticity, Gauss p+1",
         "inner(lmbda*div(u)*Identity(3) + 2*mu*sym(grad(u)), sym(grad(v)))*dx", 3, 1, element::QuadratureKind::gauss}};

constexpr std::array geometries{"cartesian", "deformed", "tetrahedra"};

struct Options {
  std::vector<std::string> case_names{"bp1", "bp3", "bp5", "elasticity"};
  std::vector<int> degrees{2, 4};
  double million_dofs = 3;
  int threads = 1;
  std::string geometry = "cartesian";
  std::string plan, json;
};

Options parse(std::span<const std::string> arguments) {
  const std::vector<std::string> keys{"--cases", "--degrees", "--mdofs", "--threads", "--geometry", "--plan", "--json"};
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& key = arguments[i];
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw base::InputError(fmt::format("bench bp: unknown option '{}'{}; options: {}", key,
                                         base::suggestion(key, keys), base::join(keys, " ")));
    if (i + 1 == arguments.size()) throw base::InputError("bench bp: option " + key + " needs a value");
    const std::string& value = arguments[i + 1];
    if (key == "--cases")
      options.case_names = base::split(value, ',');
    else if (key == "--mdofs")
      options.million_dofs = base::parse_double(value);
    else if (key == "--threads")
      options.threads = static_cast<int>(base::parse_integer(value));
    else if (key == "--plan")
      options.plan = value;
    else if (key == "--json")
      options.json = value;
    else if (key == "--geometry") {
      if (std::ranges::find(geometries, value) == geometries.end())
        throw base::InputError(
            fmt::format("bench bp: --geometry is one of {}, found '{}'", fmt::join(geometries, ", "), value));
      options.geometry = value;
    } else {
      options.degrees.clear();
      for (const auto& degree : base::split(value, ','))
        options.degrees.push_back(static_cast<int>(base::parse_integer(degree)));
    }
  }
  for (const int degree : options.degrees)
    if (degree < 1 || degree > element::max_lagrange_degree)
      throw base::InputError(
          fmt::format("bench bp: degree {} is out of range (1 to {})", degree, element::max_lagrange_degree));
  if (options.threads < 1 || !(options.million_dofs > 0 && options.million_dofs < 1000))
    throw base::InputError("bench bp: --threads is at least 1 and --mdofs between 0 and 1000");
  return options;
}

const Case& find_case(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& c : cases) {
    if (name == c.name) return c;
    names.emplace_back(c.name);
  }
  throw base::InputError(fmt::format("bench bp: unknown case '{}'{}; cases: {}", name, base::suggestion(name, names),
                                     base::join(names, ", ")));
}

/// A cube of n^3 hexahedra, or of six tetrahedra each; deformed: vertices moved smoothly, so that no cell is affine and
/// edges stay straight.
std::shared_ptr<const mesh::Mesh> cube(int n, const std::string& geometry) {
  auto mesh = mesh::make_box(
      {.cells = {n, n, n}, .size = {1, 1, 1}, .shape = geometry == "tetrahedra" ? "tetrahedron" : "hexahedron"});
  if (geometry == "deformed")
    for (std::size_t i = 0; i < mesh.points.size(); i += 3) {
      const double x = mesh.points[i], y = mesh.points[i + 1], z = mesh.points[i + 2];
      mesh.points[i] += 0.05 * std::sin(3 * y + z);
      mesh.points[i + 1] += 0.05 * std::sin(3 * z + x);
      mesh.points[i + 2] += 0.05 * std::sin(3 * x + y);
    }
  return std::make_shared<const mesh::Mesh>(std::move(mesh));
}

struct Timing {
  double median = 0, best = 0, worst = 0; ///< seconds of one application and thread, by the CPU clock
};
/// Two applications to warm up, then nine samples of 0.15 s each.
Timing time_apply(const op::Operator& A, int threads) {
  auto x = A.make_vector(), y = A.make_vector();
  double phase = 0;
  for (double& value : x.host_overwrite()) value = std::sin(phase += 0.1);
  for (double& value : y.host_overwrite()) value = 0; // pages are touched before the clock runs
  A.apply(x, y);
  A.apply(x, y);
  std::vector<double> samples;
  while (samples.size() < 9) {
    const double start = base::cpu_seconds();
    double elapsed = 0;
    int count = 0;
    while ((elapsed = base::cpu_seconds() - start) < 0.15 * threads) {
      A.apply(x, y);
      ++count;
    }
    elapsed = base::cpu_seconds() - start;
    samples.push_back(elapsed / count / threads);
  }
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front(), samples.back()};
}

std::optional<double> peer_rate(const Json& peers, const Case& problem, int degree, const std::string& geometry) {
  const auto& rows = peers.at(geometry);
  if (!rows.contains(problem.name) || degree > static_cast<int>(rows.at(problem.name).size())) return std::nullopt;
  return rows.at(problem.name).at(static_cast<std::size_t>(degree - 1)).get<double>();
}

Json measure(const Case& problem, int degree, const Options& options, const machine::Machine& machine,
             const Json& peers) {
  const int components = std::max(problem.components, 1);
  // an even number of cells lets batches be clusters of 2 x 2 x 2
  const int n =
      std::max(2, 2 * static_cast<int>(std::round(std::cbrt(options.million_dofs * 1e6 / components) / degree / 2)));
  const auto mesh = cube(n, options.geometry);
  const auto batches = std::make_shared<const mesh::CellBatches>(mesh::make_cell_batches(*mesh));
  const std::shared_ptr<const form::FieldSpace> space =
      space::FunctionSpace::make(mesh, batches, {.degree = degree, .components = problem.components});
  form::Scope scope(3);
  scope.add_arguments({&space, 1});
  scope.add("lmbda", form::constant("lmbda", 1.0));
  scope.add("mu", form::constant("mu", 0.7));
  op::OperatorOptions settings;
  settings.threads = options.threads;
  settings.plan = options.plan;
  if (options.geometry != "tetrahedra") { // there: the smallest rule that is exact
    settings.quadrature.points = degree + problem.extra_points;
    settings.quadrature.kind = problem.rule;
  }
  const op::Operator A(form::parse_form(problem.form, scope), settings);
  const auto timing = time_apply(A, options.threads);
  const auto counts = A.kernels().counts();
  const auto bound = machine::bound(counts, machine, options.threads);
  const auto& kernel = A.kernels().info().front();
  const auto dofs = static_cast<double>(A.size());
  Json row{{"case", problem.name},
           {"degree", degree},
           {"dofs", A.size()},
           {"cells", mesh->num_cells()},
           {"mdofs_per_second", dofs / timing.median / 1e6},
           {"spread", (timing.worst - timing.best) / timing.median},
           {"effective_gflops", counts.effective_flops / timing.median / 1e9},
           {"executed_flops_per_dof", counts.flops / dofs},
           {"gbytes_per_second", (counts.global_bytes_read + counts.global_bytes_written) / timing.median / 1e9},
           {"bound_seconds", bound.seconds},
           {"seconds", timing.median},
           {"share", bound.seconds / timing.median},
           {"limited_by", bound.limited_by},
           {"text_bytes", kernel.source.size()},
           {"plan", schedule::to_string(kernel.plan)}};
  if (const auto peer = peer_rate(peers, problem, degree, options.geometry)) {
    const double scale = machine.peak_flops(1) / peers.at("machine").at("fma_flops_per_second").get<double>();
    row["peer_mdofs_per_second_scaled"] = *peer * scale * options.threads;
    row["ratio_to_peer"] = row["mdofs_per_second"].get<double>() / row["peer_mdofs_per_second_scaled"].get<double>();
  }
  return row;
}

void print_row(const Json& row) {
  std::string peer = "        -      -";
  if (row.contains("ratio_to_peer"))
    peer = fmt::format("{:9.1f} {:6.2f}", row["peer_mdofs_per_second_scaled"].get<double>(),
                       row["ratio_to_peer"].get<double>());
  fmt::print("{:<11} {:2} {:7.2f} {:8.1f} {:5.0f} % {:8.1f} {:8.0f} {:7.1f} {:6.0f} %  {:<8} {}\n",
             row["case"].get<std::string>(), row["degree"].get<int>(), row["dofs"].get<double>() / 1e6,
             row["mdofs_per_second"].get<double>(), 100 * row["spread"].get<double>(),
             row["effective_gflops"].get<double>(), row["executed_flops_per_dof"].get<double>(),
             row["gbytes_per_second"].get<double>(), 100 * row["share"].get<double>(),
             row["limited_by"].get<std::string>(), peer);
}

void write_json(const std::string& path, const Json& report) {
  std::ofstream file(path);
  file << report.dump(2) << '\n';
  if (!file) throw base::EnvironmentError("bench bp: cannot write " + path);
}

/// One thread is bound to the core that it runs on; several are left to the system.
void pin(int threads) {
  if (threads != 1) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

} // namespace

int run_bp(std::span<const std::string> arguments) {
  const Options options = parse(arguments);
  std::vector<const Case*> chosen;
  for (const auto& name : options.case_names) chosen.push_back(&find_case(name));
  const auto peers = Json::parse(peer_text);
  const auto machine = machine::probe({.cores = options.threads});
  pin(options.threads);
  const auto& memory = machine.memory();
  fmt::print("{}: FMA {:.0f} GFLOP/s, memory read {:.1f} GB/s per core; {} geometry, {} thread(s), CPU clock\n",
             machine.model, machine.peak_flops(1) / 1e9, memory.read.one_core / 1e9, options.geometry, options.threads);
  fmt::print("peer: best of {}, scaled by FMA peak\n\n", peers.at("source").get<std::string>());
  fmt::print("case         p   MDoF   MDoF/s  spread   GFLOP/s flop/DoF    GB/s   share  limit         peer  ratio\n");
  Json rows = Json::array();
  for (const auto* problem : chosen)
    for (const int degree : options.degrees) {
      rows.push_back(measure(*problem, degree, options, machine, peers));
      print_row(rows.back());
    }
  if (!options.json.empty())
    write_json(options.json, {{"suite", "bp"},
                              {"geometry", options.geometry},
                              {"threads", options.threads},
                              {"rows", rows},
                              {"machine", Json::parse(machine::to_json(machine))}});
  return 0;
}

} // namespace rafter::bench
