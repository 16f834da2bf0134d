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
#include <rafter/mesh/generations.hpp>
#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/levels/coarsening.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/solve/newton.hpp>

/// This is the problem file (TOML) as plain data. It is completely validated except for the expressions, which stay
/// text with their place in the file: the form parser reads them later, and its errors are located with
/// `Expression::at`.
namespace rafter::io {

/// An expression is a text of the form language, or a number, whose text reads back as the same number.
struct Expression {
  std::string text;
  std::optional<double> number; ///< value if the file gives a number
  Location location;            ///< place of the first character of the text
  /// Returns the place of a character of the text (in bytes from 0). It is exact if the file writes the text without
  /// escapes.
  Location at(std::size_t offset) const;
};

/// A tensor expression is a scalar, vector or matrix of expressions.
struct TensorExpression {
  std::vector<int> shape;             ///< {} for a scalar, {n} for a vector, {n, m} for a matrix
  std::vector<Expression> components; ///< row-major
  Location location;
  bool is_constant() const;           ///< whether all components are numbers
  std::vector<double> values() const; ///< components of a constant, shape (component)
};

struct MeshSource {
  std::string file; ///< path to open; if empty, the mesh is `box`
  std::optional<mesh::BoxOptions> box;
  int refine = 0;                 ///< uniform refinements, 0 to 10
  mesh::ReadOptions read_options; ///< options for `file`
  Location merge_location;        ///< place of the key `merge`, where the file has it
  Location location;
};

/// Tags of cells or facets are kept as the file gives them: numbers as text, or names of physical groups.
struct TagList {
  std::vector<std::string> tags;
  std::vector<Location> places; ///< places of the tags in the file
};

/// These two parts of the boundary are identified.
struct Periodic {
  TagList from, to;
  double tolerance = mesh::PeriodicPair::default_tolerance; ///< relative to the size of the mesh
  Location location;
};

/// The number of quadrature points per direction is given directly, or relative to the degree of the fields.
struct PointsRule {
  bool is_relative = false;
  int number = 0; ///< number of points, or what is added to the highest degree of the fields
  int points(int degree) const { return is_relative ? degree + number : number; }
};

struct Numerics {
  element::QuadratureKind quadrature = element::QuadratureKind::gauss;
  std::optional<PointsRule> points; ///< no more than one of `points` and `degree` is given
  std::optional<int> degree;     ///< degree that the rule integrates exactly; without it and `points`, the form decides
  std::optional<int> max_degree; ///< upper bound for degrees that are derived from the form
};

/// This names an array of point data in a VTK-HDF file that an earlier solve has written.
struct ResultSource {
  std::string file;  ///< path to open
  std::string field; ///< name of the array
  Location location; ///< place of the table that has both keys
};

struct Field {
  std::string name;
  int components = 0; ///< 0 for a scalar
  int degree = 1;
  element::Family family = element::Family::lagrange;
  /// The value at the first time, or the one that Newton's method starts from, has the layout of Dirichlet::values; if
  /// empty, it is zero.
  std::vector<Expression> initial;
  std::optional<ResultSource> initial_source; ///< file that the starting value is read from; `initial` is empty then
  Location location;
  int num_components() const { return components == 0 ? 1 : components; }
};

/// This coefficient is a function of a Lagrange space on the mesh.
struct DataField {
  /// The coefficient is read from here if given; otherwise it is the projection of Coefficient::value.
  std::optional<ResultSource> source;
  std::optional<int> components; ///< given only with `source`; without it, the file decides
  std::optional<int> degree;     ///< absent: the order of the file, or else the highest degree of the fields
};

struct Coefficient {
  std::string name;
  TensorExpression value; ///< numbers or expressions; unused with `by_tag` and with DataField::source
  std::optional<DataField> data;
  bool is_by_tag = false;
  /// The pairs map a cell tag (a number as text, or the name of a physical group) to numbers. All have the shape of
  /// `value`, which has no components of its own then.
  std::vector<std::pair<std::string, TensorExpression>> by_tag;
  Location location;
};

/// A definition is written as name = expression, or as name(parameters) = expression.
struct Definition {
  std::string name;
  bool is_function = false;
  std::vector<std::string> parameters;
  Expression expression;
  Location location;
};

/// A problem has a bilinear form a with a linear form L, or a residual form F.
struct Forms {
  Expression a;
  std::optional<Expression> L;              ///< absent: L is zero
  std::optional<Expression> F;              ///< if given, a is empty
  std::optional<Expression> preconditioner; ///< bilinear form that the blocks of preconditioners are taken of; else a
  /// These return the form that holds the unknowns, and its key in the file.
  const Expression& main() const { return F ? *F : a; }
  std::string main_key() const { return F ? "forms.F" : "forms.a"; }
};

struct Dirichlet {
  std::size_t field = 0;          ///< index in Problem::fields
  bool is_all = false;            ///< whether the condition holds on the whole boundary
  TagList tags;                   ///< parts of the boundary, unless `is_all`
  std::vector<int> components;    ///< constrained components, in the order of the file; all if empty
  std::vector<Expression> values; ///< one expression per constrained component, or one vector
  Location location;
};

/// A constraint fixes the part of a field that forms.a leaves open, in one of three ways.
struct Constraint {
  enum class Kind { mean, point, rigid_modes };
  std::size_t field = 0; ///< index in Problem::fields
  Kind kind = Kind::mean;
  std::vector<int> components; ///< fixed components of a vector field; all if empty
  std::vector<double> values;  ///< means, or values at the point, one per fixed component; empty for rigid modes
  std::vector<double> point;   ///< coordinates of the point
  Location location;           ///< place of the key that selects the kind
};

/// A problem in time has an interval and steps of a theta scheme.
struct Time {
  double start = 0, end = 0, step = 0;
  double theta = 1; ///< 1 is the implicit Euler method, 0.5 that of Crank and Nicolson
  /// If not empty, this run continues the one that has written this output, in place of `start`.
  std::string restart;
  Location location;
  Location end_location, theta_location, restart_location; ///< those of absent keys are `location`
};

struct Functional {
  std::string name;
  Expression form;
};

struct Check {
  /// Each pair has the index of a field and values as in Dirichlet::values.
  std::vector<std::pair<std::size_t, std::vector<Expression>>> exact;
  std::optional<double> max_l2_error, max_h1_error; ///< relative; they hold for every field with an exact solution
};

/// A field of the output that is computed from the solution is written as an expression.
struct OutputExpression {
  std::string name;
  Expression expression;
  bool is_per_cell = false; ///< true: means over the cells; false: values at the points
  Location location;
};

struct Output {
  std::string file; ///< if empty, nothing is written
  Location location;
  bool on_failure = false;              ///< whether a solve that did not converge writes its last iterate
  int every = 1;                        ///< number of time steps from one state that is written to the next
  std::vector<OutputExpression> fields; ///< fields beside those of the problem, in the order of the problem file
};

/// A key that a problem file or --set gives.
struct GivenKey {
  std::string path; ///< such as "solver.restart" or "dirichlet[0].value"
  Location location;
};

struct Problem {
  std::string source;         ///< name of the problem file in messages
  std::vector<GivenKey> keys; ///< all keys that are given, those of tables before the keys within
  std::string title;
  MeshSource mesh;
  std::vector<Periodic> periodic;
  Numerics numerics;
  std::vector<Field> fields; ///< fields in the order of the problem file
  std::vector<Coefficient> coefficients;
  std::vector<Definition> definitions; ///< definitions in the order of the problem file
  Forms forms;
  std::vector<Dirichlet> dirichlet;
  std::vector<Constraint> constraints;
  /// The usual names where the file gives none, and rtol 1e-8.
  solvers::SolverOptions solver{.method = solvers::usual_method, .preconditioner = solvers::usual_preconditioner};
  op::Coarsening coarsening;                                             ///< levels of the preconditioner multigrid
  mesh::BoxCoarsening box_coarsening = mesh::BoxCoarsening::short_edges; ///< way in which its boxes are halved
  schedule::Precision level_precision = schedule::Precision::double_precision; ///< precision of multigrid's levels
  std::vector<std::string> blocks;  ///< preconditioners of the fields, shape (field); empty: there is no such table
  Location preconditioner_location; ///< place of solver.preconditioner, where the file gives it
  bool has_preconditioner = false;  ///< whether the file gives it; if not, a large problem may take multigrid
  Location method_location, coarse_location;   ///< places of solver.method and solver.multigrid.coarse, where given
  std::optional<Location> coarsening_location; ///< place of solver.multigrid.coarsening; absent: it is not given
  bool has_solver_method = false;  ///< whether solver.method is given; if not, a small problem is solved directly
  bool has_iteration_keys = false; ///< whether keys of [solver] are given that only iterative methods read
  solvers::NewtonOptions newton;   ///< options for a residual form; the member `solver` is not used
  std::optional<Time> time;        ///< absent: the problem is stationary
  std::vector<Functional> functionals;
  Check check;
  Output output;

  int max_degree() const; ///< highest degree of the fields
  /// Returns the name of a field's test function: "v" if there is one field only, else "v_" and the field's name.
  std::string test_name(std::size_t field) const;
};

/// Reads and validates a problem file. `overrides` are assignments as --set takes them, applied in order. Paths of
/// meshes are relative to the folder of the file. Throws InputError "file:line:column: key solver.rtol: found ...,
/// accepted is ...".
Problem read_problem(const std::string& path, std::span<const std::string> overrides = {});

/// Does the same for a text. Relative paths start from `directory`, where "" is the current folder.
Problem parse_problem(std::string_view text, const std::string& source, const std::string& directory = "",
                      std::span<const std::string> overrides = {});

} // namespace rafter::io
