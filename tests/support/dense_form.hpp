// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <vector>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/cell_reference.hpp>

/// Matrices and vectors of forms on any systems, with any data fields, are computed here cell by cell and point by
/// point from tabulated basis functions. They share nothing with the kernels but the tables and the integrand as the
/// form states it. Only integrals over cells are supported.
namespace rafter::test {

/// A form reads these values, by name: local vectors of its data fields, and components of its parameters.
struct DenseData {
  std::map<std::string, std::vector<double>> fields, parameters;
};

class DenseForm {
public:
  DenseForm(const op::GeneratedForm& built, const DenseData& data) : built_(built), data_(data) {
    values.assign(num_rows() * num_columns(), 0.0);
    for (const auto& block : built.blocks)
      for (std::int32_t item = 0; item < block.cells.num_items; ++item) add_cell(block, item);
    if (built.form.rank == 2 && built.is_square()) // padding holds no unknowns, and operators are the identity there
      for (const auto entry : built.system.padding()) values[static_cast<std::size_t>(entry) * (num_columns() + 1)] = 1;
  }
  std::vector<double> values; ///< shape (row, column); of a linear form (row); of a functional one number

  std::vector<double> times(std::span<const double> x) const {
    std::vector<double> y(num_rows(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j) y[i] += values[i * x.size() + j] * x[j];
    return y;
  }

private:
  using Space = std::shared_ptr<const form::FieldSpace>;
  /// A space has these unknowns on a cell.
  struct OnCell {
    std::vector<std::int32_t> entries; ///< entries of the local vector of the space, shape (component, dof)
    element::Table table;
    int num_dofs = 0;
    std::int64_t offset = 0; ///< offset of the space in its system
  };

  std::size_t num_rows() const { return built_.form.rank == 0 ? 1 : static_cast<std::size_t>(built_.system.size()); }
  std::size_t num_columns() const {
    return built_.form.rank < 2 ? 1 : static_cast<std::size_t>(built_.trial_system.size());
  }

  static TestCell cell_of(const mesh::Mesh& mesh, const op::BatchedCells& cells, std::int32_t item) {
    const auto& group = mesh.groups[static_cast<std::size_t>(cells.group)];
    TestCell result{mesh::geometry_element(group), {}, cells.map};
    const auto num_nodes = static_cast<std::size_t>(result.geometry->num_dofs()),
               dim = static_cast<std::size_t>(mesh.gdim);
    const auto cell = static_cast<std::size_t>(cells.cells[static_cast<std::size_t>(item)]);
    for (std::size_t i = 0; i < num_nodes; ++i)
      for (std::size_t a = 0; a < dim; ++a)
        result.nodes.push_back(mesh.points[static_cast<std::size_t>(group.nodes()[cell * num_nodes + i]) * dim + a]);
    return result;
  }

  std::vector<OnCell> on_cell(const std::vector<Space>& spaces, const op::System* system,
                              const op::GeneratedBlock& block, std::int32_t item) const {
    std::vector<OnCell> result;
    for (const auto& any : spaces) {
      const auto& space = dynamic_cast<const space::FunctionSpace&>(*any);
      const auto element = space.element(block.cells.shape);
      auto& found = result.emplace_back();
      found.num_dofs = element->num_dofs();
      found.entries.resize(static_cast<std::size_t>(found.num_dofs * space.num_components()));
      space.cell_dofs(block.cell_block, item / block.cells.cells_per_batch, item % block.cells.cells_per_batch,
                      found.entries);
      found.table = element->tabulate(block.rule.points);
      if (system != nullptr) found.offset = system->offset(system->index_of(space));
    }
    return result;
  }

  void add_cell(const op::GeneratedBlock& block, std::int32_t item) {
    const auto& form = built_.form;
    const auto cell = cell_of(*built_.system.mesh, block.cells, item);
    const auto map = cell.geometry->tabulate(block.rule.points);
    const auto tests = on_cell(form.test_spaces, &built_.system, block, item),
               trials = on_cell(form.trial_spaces, &built_.trial_system, block, item),
               known = on_cell(form.fields, nullptr, block, item);
    for (int q = 0; q < block.rule.num_points(); ++q) {
      const auto geometry = geometry_at(cell, map, q, -1);
      const double factor = block.rule.weights[static_cast<std::size_t>(q)] * geometry.scale;
      for (const auto& part : op::integral_parts(form, block))
        if (form.rank < 2)
          add_point(*part.integral, {geometry, q, factor}, tests, known, {}, 0);
        else
          for (std::size_t t = 0; t < trials.size(); ++t)
            for (int k = 0; k < static_cast<int>(trials[t].entries.size()); ++k)
              add_point(*part.integral, {geometry, q, factor}, tests, known, {&trials[t], static_cast<int>(t), k},
                        trials[t].offset + trials[t].entries[static_cast<std::size_t>(k)]);
    }
  }

  struct Point {
    const PointGeometry& geometry;
    int q;
    double factor;
  };
  /// A trial function is number k of its space on the cell.
  struct Trial {
    const OnCell* space = nullptr;
    int field = 0, k = 0;
  };
  static double basis(const Point& point, const OnCell& space, int i, int derivative) {
    if (derivative < 0) return space.table(0, point.q, i);
    double sum = 0;
    for (std::size_t b = 0; b < static_cast<std::size_t>(space.table.dim); ++b)
      sum += point.geometry.inverse[b][static_cast<std::size_t>(derivative)] *
             space.table(static_cast<int>(b) + 1, point.q, i);
    return sum;
  }

  void add_point(const form::LoweredIntegral& integral, const Point& point, const std::vector<OnCell>& tests,
                 const std::vector<OnCell>& known, const Trial& trial, std::int64_t column) {
    const auto atom = [&](const form::Atom& a) {
      const auto index = static_cast<std::size_t>(a.a);
      switch (a.kind) {
      case form::AtomKind::parameter: {
        const auto& [coefficient, component] = built_.form.parameters.at(index);
        return data_.parameters.at(coefficient->name).at(static_cast<std::size_t>(component));
      }
      case form::AtomKind::coordinate:
        return point.geometry.x[index];
      case form::AtomKind::trial:
        if (a.a != trial.field || a.b != trial.k / trial.space->num_dofs) return 0.0;
        return basis(point, *trial.space, trial.k % trial.space->num_dofs, a.c);
      default:
        break;
      }
      const auto& space = known.at(index);
      const auto& values_of_field = data_.fields.at(built_.form.field_names.at(index));
      double value = 0;
      for (int i = 0; i < space.num_dofs; ++i)
        value += values_of_field[static_cast<std::size_t>(
                     space.entries[static_cast<std::size_t>(a.b * space.num_dofs + i)])] *
                 basis(point, space, i, a.c);
      return value;
    };
    if (integral.rank == 0)
      values[0] += point.factor * integral.graph->evaluate(std::array{integral.integrand}, atom)[0];
    for (const auto& term : integral.test_terms) {
      const double value = point.factor * integral.graph->evaluate(std::array{term.coefficient}, atom)[0];
      const auto& test = tests[static_cast<std::size_t>(term.field)];
      for (int i = 0; i < test.num_dofs && value != 0; ++i) {
        const auto row = test.offset + test.entries[static_cast<std::size_t>(term.component * test.num_dofs + i)];
        values[static_cast<std::size_t>(row) * num_columns() + static_cast<std::size_t>(column)] +=
            value * basis(point, test, i, term.derivative);
      }
    }
  }

  const op::GeneratedForm& built_;
  const DenseData& data_;
};

} // namespace rafter::test
