// SPDX-License-Identifier: BSD-3-Clause
// This file reads the sections mesh, periodic, numerics, fields and output.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/problem_sections.hpp>
#include <rafter/mesh/box.hpp>
#include <rafter/mesh/cube_split.hpp>
#include <rafter/mesh/readers.hpp>

namespace rafter::io {
namespace {

constexpr int max_refinements = 10;
constexpr int max_cells_per_direction = 1'000'000;
constexpr int max_points = 30;
constexpr int max_components = 9;

namespace fs = std::filesystem;

/// Returns the text of a path, which is relative to the folder of the problem file. `accepted` says what the path
/// names.
std::string read_path(const Value& value, const std::string& key, const std::string& accepted) {
  const std::string text = read_string(value, key);
  if (text.empty() || text.find('\0') != std::string::npos)
    refuse_value(value, key, fmt::format("the path of {}, relative to the problem file", accepted));
  return text;
}

/// Returns the path to open. Throws InputError if there is no such file.
std::string find_file(const Value& value, const std::string& key, const std::string& text,
                      const std::string& directory) {
  const fs::path path = fs::path(text).is_absolute() ? fs::path(text) : fs::path(directory) / text;
  std::error_code error;
  if (!fs::exists(path, error))
    refuse(value.location, key, fmt::format("no such file \"{}\" (looked for {})", text, path.string()));
  return path.string();
}

std::string read_mesh_file(const Value& value, const std::string& directory) {
  const std::string text = read_path(value, "mesh.file", "a mesh file");
  if (const auto objection = mesh::geometry_objection(text); !objection.empty())
    refuse(value.location, "mesh.file", objection);
  return find_file(value, "mesh.file", text, directory);
}

std::vector<int> read_cells(const TableReader& box) {
  const Value& cells = box.require("cells", "a list with the number of cells per direction");
  if (cells.kind != Value::Kind::array || cells.items.empty() || cells.items.size() > 3)
    refuse_value(cells, box.path("cells"), "a list of 1 to 3 integers");
  std::vector<int> result;
  for (const auto& item : cells.items)
    result.push_back(read_integer(item, box.path("cells"), 1, max_cells_per_direction));
  return result;
}

std::vector<double> read_size(const TableReader& box, std::size_t dim) {
  const Value* size = box.find("size");
  if (!size) return std::vector<double>(dim, 1.0);
  if (size->kind != Value::Kind::array || size->items.size() != dim)
    refuse_value(*size, box.path("size"), fmt::format("a list of {} numbers, as cells has", dim));
  std::vector<double> result;
  for (const auto& item : size->items) {
    result.push_back(read_number(item, box.path("size"), "a positive number"));
    if (result.back() <= 0) refuse_value(item, box.path("size"), "a positive number");
  }
  return result;
}

std::string read_shape(const TableReader& box, std::size_t dim) {
  const auto shape = box.string("shape");
  if (!shape) return dim == 1 ? "interval" : dim == 2 ? "quadrilateral" : "hexahedron";
  std::vector<std::string> accepted;
  for (const auto candidate : element::all_cell_shapes)
    if (element::dimension(candidate) == static_cast<int>(dim)) accepted.emplace_back(element::name(candidate));
  if (dim > 1) accepted.emplace_back("mixed");
  if (std::find(accepted.begin(), accepted.end(), *shape) == accepted.end())
    refuse(box.find("shape")->location, box.path("shape"),
           fmt::format("\"{}\" is not a shape of dimension {}{}; accepted: {}", *shape, dim,
                       base::suggestion(*shape, accepted), base::join(accepted, ", ")));
  return *shape;
}

mesh::BoxOptions read_box(const Value& value) {
  const TableReader box(value, "mesh.box");
  box.accept_only(std::vector<std::string>{"cells", "size", "shape"});
  mesh::BoxOptions options;
  options.cells = read_cells(box);
  options.size = read_size(box, options.cells.size());
  options.shape = read_shape(box, options.cells.size());
  if (const auto fault = mesh::range_fault(options); !fault.empty()) {
    const auto* size = box.find("size");
    refuse(size != nullptr ? size->location : value.location, box.path("size"), fault);
  }
  const int least = mesh::least_mixed_columns(static_cast<int>(options.cells.size()));
  if (options.shape == "mixed" && options.cells[0] < least)
    refuse(box.find("cells")->location, box.path("cells"),
           fmt::format("found {} along x; accepted for the shape \"mixed\" are {} or more", options.cells[0], least));
  return options;
}

/// Boxes that are too large for any memory are refused before anything is allocated.
void require_representable(const MeshSource& mesh, const Location& location) {
  double cells = std::pow(2.0, mesh.refine * static_cast<double>(mesh.box->cells.size()));
  for (const int count : mesh.box->cells) cells *= count;
  if (cells > std::numeric_limits<std::int32_t>::max())
    refuse(location, "mesh.box",
           fmt::format("the box would have at least {:.3g} cells{}; accepted are at most {}", cells,
                       mesh.refine > 0 ? fmt::format(" after {} refinements", mesh.refine) : "",
                       std::numeric_limits<std::int32_t>::max()));
}

PointsRule read_points(const Value& value) {
  constexpr auto accepted = "an integer from 1 to 30, or \"p\" or \"p+1\", \"p+2\", ... relative to the degree";
  if (value.kind == Value::Kind::integer && value.integer >= 1 && value.integer <= max_points)
    return {false, static_cast<int>(value.integer)};
  if (value.kind != Value::Kind::string) refuse_value(value, "numerics.points", accepted);
  std::string text;
  std::copy_if(value.text.begin(), value.text.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  if (text == "p") return {true, 0};
  int added = 0;
  const char* end = text.data() + text.size();
  const bool is_sum = text.size() > 2 && text.starts_with("p+") && text[2] != '-';
  if (!is_sum || std::from_chars(text.data() + 2, end, added).ptr != end || added > max_points)
    refuse_value(value, "numerics.points", accepted);
  return {true, added};
}

element::Family read_family(const Value& value, const std::string& path) {
  static const std::vector<std::string> known{"Lagrange"}, later{"modal", "DG", "BDM", "RT", "N1curl"};
  if (read_string(value, path) != known[0]) refuse_name(value, path, known, later);
  return element::Family::lagrange;
}

Field read_field(const std::string& name, const Value& value, const Location& location, const std::string& directory) {
  const TableReader table(value, "fields." + name);
  table.accept_only(std::vector<std::string>{"components", "degree", "family", "initial"});
  Field field{.name = name, .location = location};
  const int components = table.integer("components", 1, max_components).value_or(1);
  field.components = components == 1 ? 0 : components;
  field.degree = table.integer("degree", 1, element::max_lagrange_degree).value_or(1);
  if (const Value* family = table.find("family")) field.family = read_family(*family, table.path("family"));
  const Value* initial = table.find("initial");
  if (initial != nullptr && initial->kind == Value::Kind::table) {
    const TableReader source(*initial, table.path("initial"));
    source.accept_only(std::vector<std::string>{"file", "field"});
    field.initial_source = read_result_source(source, directory);
  } else if (initial != nullptr)
    field.initial = read_values(*initial, table.path("initial"), field.num_components());
  return field;
}

} // namespace

ResultSource read_result_source(const TableReader& table, const std::string& directory) {
  const auto& file = table.require("file", "the path of a VTK-HDF file that an earlier solve has written");
  const auto text = read_path(file, table.path("file"), "a VTK-HDF file");
  ResultSource source{.location = table.value().location};
  source.file = find_file(file, table.path("file"), text, directory);
  source.field = read_string(table.require("field", "the name of a field in the file"), table.path("field"));
  return source;
}

void read_merge(const TableReader& table, MeshSource& mesh) {
  const Value* merge = table.find("merge");
  if (!merge) return;
  constexpr auto accepted = "a positive length: nodes that are closer are one";
  const double length = read_number(*merge, "mesh.merge", accepted);
  if (!(length > 0 && std::isfinite(length))) refuse_value(*merge, "mesh.merge", accepted);
  mesh.read_options.merge = length;
  mesh.merge_location = merge->location;
}

void read_mesh_section(const TableReader& table, const std::string& directory, Problem& problem) {
  table.accept_only(std::vector<std::string>{"file", "box", "refine", "degree", "merge"});
  auto& mesh = problem.mesh;
  mesh.location = table.value().location;
  const Value *file = table.find("file"), *box = table.find("box");
  if (!file && !box) refuse(mesh.location, "mesh", "missing key file (a mesh file) or box (a generated box)");
  if (file && box) refuse(box->location, "mesh.box", "given together with mesh.file; accepted is one of them");
  mesh.refine = table.integer("refine", 0, max_refinements).value_or(0);
  const auto degree = table.integer("degree", 1, element::max_lagrange_degree);
  if (file) {
    if (degree)
      refuse(table.find("degree")->location, "mesh.degree",
             "given together with mesh.file; the degree of the geometry is that of the file (the key is for mesh.box)");
    mesh.file = read_mesh_file(*file, directory);
    read_merge(table, mesh);
    return;
  }
  if (const Value* merge = table.find("merge"))
    refuse(merge->location, "mesh.merge",
           "given together with mesh.box, all of whose cells share their nodes; the key "
           "is for mesh.file");
  mesh.box = read_box(*box);
  mesh.box->degree = degree.value_or(1);
  require_representable(mesh, TableReader(*box, "mesh.box").find("cells")->location);
}

void read_periodic(const Value& list, Problem& problem) {
  if (list.kind != Value::Kind::array) refuse_value(list, "periodic", "a list of tables [[periodic]]");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const TableReader table(list.items[i], fmt::format("periodic[{}]", i));
    table.accept_only(std::vector<std::string>{"from", "to", "tolerance"});
    constexpr auto accepted = "a tag (number or name of a physical group) or a list of tags";
    Periodic pair{.location = list.items[i].location};
    pair.from = read_tag_list(table.require("from", accepted), table.path("from"));
    pair.to = read_tag_list(table.require("to", accepted), table.path("to"));
    pair.tolerance = table.number("tolerance", 0, 1, true).value_or(pair.tolerance);
    problem.periodic.push_back(std::move(pair));
  }
}

void read_numerics(const TableReader& table, Problem& problem) {
  table.accept_only(std::vector<std::string>{"quadrature", "points", "degree", "max_degree"});
  auto& numerics = problem.numerics;
  if (const Value* kind = table.find("quadrature")) {
    static const std::vector<std::string> known{"gauss", "gll"};
    const std::string text = read_string(*kind, "numerics.quadrature");
    if (text != known[0] && text != known[1]) refuse_name(*kind, "numerics.quadrature", known);
    numerics.quadrature = text == "gll" ? element::QuadratureKind::gll : element::QuadratureKind::gauss;
  }
  if (const Value* points = table.find("points")) {
    numerics.points = read_points(*points);
    const int number = numerics.points->points(problem.max_degree());
    const int lowest = numerics.quadrature == element::QuadratureKind::gll ? 2 : 1;
    if (number < lowest || number > max_points)
      refuse_value(*points, "numerics.points",
                   fmt::format("what gives {} to {} points per direction (this gives {})", lowest, max_points, number));
  }
  numerics.degree = table.integer("degree", 0, element::max_quadrature_degree);
  numerics.max_degree = table.integer("max_degree", 1, element::max_quadrature_degree);
  if (numerics.points && numerics.degree)
    refuse(table.find("degree")->location, "numerics.degree",
           "given together with numerics.points; accepted is one of them");
}

void read_fields(const TableReader& table, const std::string& directory, Problem& problem) {
  for (std::size_t i = 0; i < table.value().keys.size(); ++i) {
    const auto& [name, location] = table.value().keys[i];
    problem.fields.push_back(read_field(name, table.value().items[i], location, directory));
  }
  if (problem.fields.empty())
    refuse(table.value().location, "fields", "no field; accepted is one or more tables [fields.NAME]");
  for (const auto& field : problem.fields) {
    require_name(field.name, field.location, "fields." + field.name, problem);
    // [check] has these keys beside the names of fields.
    if (field.name == "max_l2_error" || field.name == "max_h1_error")
      refuse(field.location, "fields." + field.name, "is the name of a key of [check]; choose another name");
  }
}

namespace {

bool read_is_per_cell(const TableReader& table) {
  const Value* value = table.find("per");
  if (!value) return false;
  static const std::vector<std::string> known{"point", "cell"};
  const std::string text = read_string(*value, table.path("per"));
  if (text != known[0] && text != known[1]) refuse_name(*value, table.path("per"), known);
  return text == "cell";
}

OutputExpression read_output_field(const std::string& name, const Value& value, const Location& location,
                                   const std::string& path) {
  OutputExpression result{.name = name, .expression = {}, .location = location};
  if (value.kind != Value::Kind::table) {
    if (value.kind != Value::Kind::string)
      refuse_value(value, path, "an expression (string), or { expression = \"...\", per = \"point\" or \"cell\" }");
    result.expression = read_expression(value, path);
    return result;
  }
  const TableReader table(value, path);
  table.accept_only(std::vector<std::string>{"expression", "per"});
  result.expression = read_expression(table.require("expression", "an expression (string)"), table.path("expression"));
  result.is_per_cell = read_is_per_cell(table);
  return result;
}

void read_output_fields(const TableReader& table, Problem& problem) {
  for (std::size_t i = 0; i < table.value().keys.size(); ++i) {
    const auto& [name, location] = table.value().keys[i];
    const std::string path = table.path(name);
    if (!is_identifier(name))
      refuse(location, table.value().keys[i].name.empty() ? "output.fields" : path,
             fmt::format("'{}' is not a name: accepted are letters, digits and _, not starting with a digit", name));
    if (std::ranges::any_of(problem.fields, [&key = name](const Field& field) { return field.name == key; }))
      refuse(location, path, fmt::format("'{}' is a field, which is written under that name already", name));
    problem.output.fields.push_back(read_output_field(name, table.value().items[i], location, path));
    if (name == "tag" && problem.output.fields.back().is_per_cell)
      refuse(location, path, "'tag' is the name under which the tags of the cells are written");
  }
}

} // namespace

void read_output(const TableReader& table, Problem& problem) {
  namespace fs = std::filesystem;
  table.accept_only(std::vector<std::string>{"file", "on_failure", "fields", "every"});
  const Value& file = table.require("file", "the path of the output, with extension .vtkhdf");
  const std::string text = read_string(file, "output.file");
  const fs::path path(text);
  if (text.find('\0') != std::string::npos || (path.extension() != ".vtkhdf" && base::is_regular_output(text)))
    refuse_value(file, "output.file",
                 "a path with extension .vtkhdf, relative to the current folder, or \"-\" for standard output");
  // A problem file may come from somebody else, so that its output must stay in the folder in which the user runs it.
  const bool is_from_file = file.location.line > 0;
  if (is_from_file && (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()))
    refuse_value(file, "output.file",
                 "a path relative to the current folder, without \"..\" (give others on the command line: --set "
                 "output.file=...)");
  problem.output = {
      .file = text, .location = file.location, .on_failure = table.boolean("on_failure").value_or(false), .fields = {}};
  if (const Value* every = table.find("every")) {
    if (!problem.time) refuse(every->location, "output.every", "counts time steps: the problem has no [time]");
    problem.output.every = read_integer(*every, "output.every", 1, 1'000'000'000);
  }
  if (const Value* fields = table.find("fields"))
    read_output_fields(TableReader(*fields, table.path("fields")), problem);
}

} // namespace rafter::io
