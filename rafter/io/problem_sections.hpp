// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/problem.hpp>
#include <rafter/io/table_reader.hpp>

/// Each section of a problem file has a function that reads it into the problem. Sections are read in an order in which
/// later ones can use what earlier ones have set.
namespace rafter::io {

void read_mesh_section(const TableReader& table, const std::string& directory, Problem& problem);
void read_periodic(const Value& list, Problem& problem);
void read_numerics(const TableReader& table, Problem& problem);
void read_fields(const TableReader& table, const std::string& directory, Problem& problem);
void read_coefficients(const TableReader& table, const std::string& directory, Problem& problem);
void read_definitions(const TableReader& table, Problem& problem);
void read_forms(const TableReader& table, Problem& problem);
void read_dirichlet(const Value& list, Problem& problem);
void read_constraints(const Value& list, Problem& problem);
void read_time(const TableReader& table, Problem& problem);
void read_solver(const TableReader& table, Problem& problem);
/// Reads the table solver.multigrid.
void read_multigrid(const TableReader& table, Problem& problem);
void read_newton(const TableReader& table, Problem& problem);
void read_functionals(const TableReader& table, Problem& problem);
void read_check(const TableReader& table, Problem& problem);
void read_output(const TableReader& table, Problem& problem);

/// Reads the keys `file`, a path relative to `directory`, and `field` of a table.
ResultSource read_result_source(const TableReader& table, const std::string& directory);
/// Returns the index of the field that the key `field` names. The key may be left out if the problem has only one
/// field.
std::size_t read_field_name(const TableReader& table, const Problem& problem);
/// Reads one expression per component: a single value for one component, else a list, or an expression that is a
/// vector.
std::vector<Expression> read_values(const Value& value, const std::string& path, int count);
/// Reads the key `components`, a list of numbers from 0 without repetition. The result is empty if the key is absent.
std::vector<int> read_components(const TableReader& table, const Field& field);
/// Reads a number or a string. Throws InputError for anything else, and for empty strings and numbers that are not
/// finite.
Expression read_expression(const Value& value, std::string_view path);
/// Reads an expression, a list of them (vector), or a list of lists of equal length (matrix).
TensorExpression read_tensor(const Value& value, std::string_view path);
/// Reads a tag as text: it is an integer, or a string that is not blank.
std::string read_tag(const Value& value, std::string_view path);
/// Reads a tag or a list of tags without repetition. `or_else` says in messages what else the key accepts.
TagList read_tag_list(const Value& value, const std::string& path, std::string_view or_else = "");

/// Throws InputError unless the name is an identifier that means nothing in the form language and is no test function.
void require_name(const std::string& name, const Location& location, std::string_view path, const Problem& problem);
/// Throws InputError as require_name() does, and for the name of a field, coefficient or definition.
void require_free_name(const std::string& name, const Location& location, std::string_view path,
                       const Problem& problem);

} // namespace rafter::io
