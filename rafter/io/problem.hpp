// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/element/element.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/io/value.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/solve/newton.hpp>

/// The problem file (TOML) as plain data, completely validated except for the expressions, which stay text with their
/// place in the file: the form parser reads them later and reports its errors with `Expression::at`.
namespace rafter::io {

/// An expression of the form language, or a number (whose text reads back as the same number).
struct Expression {
  std::string text;
  std::optional<double> number; ///< given as a number
  Location location;            ///< of the first character of the text
  /// Place of a character of the text (bytes from 0); exact as long as the file writes it without escapes.
  Location at(std::size_t offset) const;
};

/// A scalar, vector or matrix of expressions.
struct TensorExpression {
  std::vector<int> shape;             ///< {} scalar, {n} vector, {n, m} matrix
  std::vector<Expression> components; ///< row-major
  Location location;
  bool is_constant() const;           ///< only numbers
  std::vector<double> values() const; ///< of a constant, shape (component)
};

struct MeshSource {
  std::string file; ///< path to open; empty: `box`
  std::optional<mesh::BoxOptions> box;
  int refine = 0; ///< uniform refinements, 0 to 10
  Location location;
};

/// Tags as the file gives them: numbers as text, or names of physical groups.
struct TagList {
  std::vector<std::string> tags;
  std::vector<Location> places; ///< of the tags
};

/// Two parts of the boundary that are identified.
struct Periodic {
  TagList from, to;
  double tolerance = mesh::PeriodicPair::default_tolerance; ///< relative to the size of the mesh
  Location location;
};

/// Points per direction: a number, or the degree of the fields plus something.
struct PointsRule {
  bool is_relative = false;
  int number = 0; ///< of points, or what is added to the highest degree of the fields
  int points(int degree) const { return is_relative ? degree + number : number; }
};

struct Numerics {
  element::QuadratureKind quadrature = element::QuadratureKind::gauss;
  std::optional<PointsRule> points; ///< with `degree` absent
  std::optional<int> degree;        ///< that the rule integrates exactly; neither: from the form
  std::optional<int> max_degree;    ///< cap of degrees that are taken from the form
};

/// An array of point data in a VTK-HDF file that an earlier solve has written.
struct ResultSource {
  std::string file;  ///< path to open
  std::string field; ///< name of the array
  Location location; ///< of the table that names both
};

struct Field {
  std::string name;
  int components = 0; ///< 0: scalar
  int degree = 1;
  element::Family family = element::Family::lagrange;
  /// Value at the first time, or that Newton's method starts from, as Dirichlet::values; empty: zero.
  std::vector<Expression> initial;
  std::optional<ResultSource> initial_source; ///< where that value is read from; then `initial` is empty
  Location location;
  int num_components() const { return components == 0 ? 1 : components; }
};

/// A coefficient that is a function of a Lagrange space on the mesh.
struct DataField {
  std::optional<ResultSource> source; ///< where it is read from; absent: it is the projection of Coefficient::value
  std::optional<int> components;      ///< with `source`; absent: as the file has
  std::optional<int> degree;          ///< absent: the order of the file, or the highest degree of the fields
};

struct Coefficient {
  std::string name;
  TensorExpression value; ///< constant numbers or expressions; unused with by_tag and DataField::source
  std::optional<DataField> data;
  bool is_by_tag = false;
  /// Cell tag (number as text, or name of a physical group) -> numbers; all of one shape (that of `value`, which is
  /// empty of components).
  std::vector<std::pair<std::string, TensorExpression>> by_tag;
  Location location;
};

/// name = expression, or name(parameters) = expression.
struct Definition {
  std::string name;
  bool is_function = false;
  std::vector<std::string> parameters;
  Expression expression;
  Location location;
};

/// A bilinear form a with a linear form L, or a residual form F.
struct Forms {
  Expression a;
  std::optional<Expression> L; ///< absent: zero
  std::optional<Expression> F; ///< then a is empty
  /// The form that holds the unknowns, and its key.
  const Expression& main() const { return F ? *F : a; }
  std::string main_key() const { return F ? "forms.F" : "forms.a"; }
};

struct Dirichlet {
  std::size_t field = 0;          ///< index in Problem::fields
  bool is_all = false;            ///< the whole boundary
  TagList tags;                   ///< where it is not all
  std::vector<int> components;    ///< constrained ones, ascending as given; empty: all
  std::vector<Expression> values; ///< one per constrained component, or one vector
  Location location;
};

/// What fixes the part of a field that forms.a leaves open: one of the three.
struct Constraint {
  enum class Kind { mean, point, rigid_modes };
  std::size_t field = 0; ///< index in Problem::fields
  Kind kind = Kind::mean;
  std::vector<int> components; ///< that are fixed, of vector fields; empty: all
  std::vector<double> values;  ///< one per fixed component: means, or values at the point; none for rigid modes
  std::vector<double> point;   ///< coordinates
  Location location;           ///< of the key that says which
};

/// Steps of a theta scheme.
struct Time {
  double start = 0, end = 0, step = 0;
  double theta = 1;    ///< 1: implicit Euler method; 0.5: Crank and Nicolson's
  std::string restart; ///< output to go on from, in place of `start`; empty: none
  Location location;
  Location end_location, restart_location;
};

struct Functional {
  std::string name;
  Expression form;
};

struct Check {
  std::vector<std::pair<std::size_t, std::vector<Expression>>> exact; ///< field index; as Dirichlet::values
  std::optional<double> max_l2_error, max_h1_error; ///< relative; of every field with an exact solution
};

/// A field of the output that is computed from the solution.
struct OutputExpression {
  std::string name;
  Expression expression;
  bool is_per_cell = false; ///< means of the cells; else values at the points
  Location location;
};

struct Output {
  std::string file; ///< empty: no output
  Location location;
  bool on_failure = false;              ///< a solve that did not converge writes its last iterate
  int every = 1;                        ///< time steps from one state that is written to the next
  std::vector<OutputExpression> fields; ///< beside those of the problem, in the order of the file
};

struct Problem {
  std::string source; ///< the problem file, for messages
  std::string title;
  MeshSource mesh;
  std::vector<Periodic> periodic;
  Numerics numerics;
  std::vector<Field> fields; ///< in the order of the file
  std::vector<Coefficient> coefficients;
  std::vector<Definition> definitions; ///< in the order of the file
  Forms forms;
  std::vector<Dirichlet> dirichlet;
  std::vector<Constraint> constraints;
  solvers::SolverOptions solver; ///< rtol defaults to 1e-8
  bool has_solver_method =
      false; ///< solver.method is given; else a small problem that cg cannot take is solved directly
  solvers::NewtonOptions newton; ///< of a residual form; its `solver` is not used
  std::optional<Time> time;      ///< absent: a stationary problem
  std::vector<Functional> functionals;
  Check check;
  Output output;

  int max_degree() const; ///< highest degree of the fields
  /// Name of the test function of a field: "v" of the only one, else "v_" and the field's name.
  std::string test_name(std::size_t field) const;
};

/// Reads and validates a problem file; `overrides` as for --set, in order. Paths of meshes are relative to the file's
/// folder. Throws InputError "file:line:column: key solver.rtol: found ..., accepted is ...".
Problem read_problem(const std::string& path, std::span<const std::string> overrides = {});

/// The same from text; `directory` is where paths start from ("" = current).
Problem parse_problem(std::string_view text, const std::string& source, const std::string& directory = "",
                      std::span<const std::string> overrides = {});

} // namespace rafter::io
