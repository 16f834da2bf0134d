// SPDX-License-Identifier: BSD-3-Clause
// A text becomes a problem, then its forms, conditions and functions on the smallest mesh of its kind. Nothing is
// solved and no mesh is read. Lines that begin with "#--set " are also overrides.
#include <array>
#include <map>

#include <rafter/base/text.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/space/discretisation.hpp>

#include "rafter/problem_data.hpp"
#include "rafter/problem_forms.hpp"
#include "target.hpp"

namespace {

using namespace rafter;

std::vector<std::string> overrides_in(std::string_view text) {
  constexpr std::string_view mark = "#--set ";
  std::vector<std::string> found;
  for (const auto& line : base::split(text, '\n'))
    if (line.starts_with(mark)) found.push_back(line.substr(mark.size()));
  return found;
}

/// Returns a space of degree 1 on a box of one cell; mesh files are not read, and get a cube.
const op::System& smallest_system(const io::MeshSource& source) {
  static std::map<std::pair<std::string, std::size_t>, op::System> systems;
  const auto options = source.box.value_or(mesh::BoxOptions{});
  const auto dim = options.cells.size();
  const std::pair key(options.shape, dim);
  if (const auto found = systems.find(key); found != systems.end()) return found->second;
  const auto mesh =
      std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = std::vector<int>(dim, 1), .shape = options.shape}));
  const auto discretisation = std::make_shared<const space::Discretisation>(mesh, space::DiscretisationOptions{});
  return systems.emplace(key, op::make_system({space::FunctionSpace::make(discretisation, {.degree = 1})}))
      .first->second;
}

app::ProblemForms::Spaces spaces_of(const io::Problem& problem, int gdim) {
  app::ProblemForms::Spaces spaces;
  for (const auto& field : problem.fields) {
    form::FieldSpace space;
    space.name = field.name;
    space.degree = field.degree;
    space.components = field.components;
    space.gdim = gdim;
    spaces.push_back(std::make_shared<const form::FieldSpace>(space));
  }
  return spaces;
}

void use(const io::Problem& problem) {
  const auto& system = smallest_system(problem.mesh);
  const auto& mesh = *system.mesh;
  app::ProblemData data(problem, system, system.discretisation->device("host", 1));
  const app::ProblemForms forms(problem, mesh, spaces_of(problem, mesh.gdim), data);
  if (problem.time)
    fuzz::refusal([&] { forms.residual_in_time(); });
  else if (problem.forms.F)
    fuzz::refusal([&] { forms.residual(); });
  else {
    fuzz::refusal([&] { forms.bilinear(); });
    fuzz::refusal([&] { forms.linear(); });
  }
  for (const auto& functional : problem.functionals) fuzz::refusal([&] { forms.functional(functional); });
  for (const auto& field : problem.output.fields) fuzz::refusal([&] { forms.output_field(field); });
  const std::array x{0.25, 0.5, 0.75};
  for (const auto& condition : problem.dirichlet)
    fuzz::refusal([&] {
      const int num_components = problem.fields.at(condition.field).num_components();
      const auto value = forms.qfunction(condition.values, condition.components, num_components, "value");
      std::vector<double> values(static_cast<std::size_t>(num_components));
      value(std::span(x).first(static_cast<std::size_t>(mesh.gdim)), values);
    });
  for (const auto& [field, exact] : problem.check.exact)
    for (const auto& text : exact) fuzz::refusal([&] { forms.point_expression(text, "check"); });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::as_text(data, size);
  fuzz::refusal([&] { use(io::parse_problem(text, "fuzzed.toml", "/nonexistent", overrides_in(text))); });
  return 0;
}
