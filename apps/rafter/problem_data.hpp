// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <rafter/base/output_file.hpp>
#include <rafter/form/expr.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/space/expression_evaluator.hpp>
#include <rafter/space/function_space.hpp>

/// Known fields of a problem are coefficients that are functions of a space.
namespace rafter::app {

/// Lists the files that a problem reads, which no output may replace.
std::vector<base::NamedFile> input_files(const io::Problem& problem);

/// Returns the rule of quadrature that a problem asks for.
op::QuadratureOptions quadrature_options(const io::Problem& problem);

/// Reads point data of an earlier result into the nodes of a space. `key` is what messages name as their origin.
void read_result(const io::ResultSource& source, const std::string& key, const space::FunctionSpace& space,
                 std::span<double> values);

/// Holds the coefficients of a problem that are functions of Lagrange spaces on its mesh, with their values.
class ProblemData {
public:
  /// Spaces are made on the discretisation of the system. Their degree is the highest of the problem's fields where
  /// neither the problem nor a file gives one.
  ProblemData(const io::Problem& problem, const op::System& system, std::shared_ptr<device::Device> device)
      : is_in_time_(problem.time.has_value()), default_degree_(problem.max_degree()),
        discretisation_(system.discretisation), device_(std::move(device)) {}

  /// Finds the values of a coefficient with Coefficient::data, and makes it a field that forms may use. If it is not
  /// read from a file, `value` is its expression, which may use the fields that were added before. Throws InputError
  /// that names the coefficient.
  form::Expr add(const io::Coefficient& coefficient, const form::Expr* value);

  /// Returns all these fields with their names.
  std::vector<problem::NamedValues> named_values() const;
  /// Returns all these fields for evaluation at points.
  std::vector<space::FieldValues> values() const;

private:
  struct Field {
    std::shared_ptr<const space::FunctionSpace> space;
    std::shared_ptr<op::Vector> values;
  };
  Field& make(const std::string& name, int components, int degree);
  void fill(Field& field, const form::Expr& value) const;

  bool is_in_time_; ///< whether the problem has [time]
  int default_degree_;
  std::shared_ptr<const space::Discretisation> discretisation_;
  std::shared_ptr<device::Device> device_;
  std::vector<Field> fields_;
};

} // namespace rafter::app
