// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/problem.hpp>
#include <rafter/io/table_reader.hpp>

/// The sections of a problem file, one function each; what they read goes into the problem. Later ones use what earlier
/// ones left.
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
void read_newton(const TableReader& table, Problem& problem);
void read_functionals(const TableReader& table, Problem& problem);
void read_check(const TableReader& table, Problem& problem);
void read_output(const TableReader& table, Problem& problem);

/// Keys `file`, relative to the folder `directory`, and `field` of a table.
ResultSource read_result_source(const TableReader& table, const std::string& directory);
/// The field that key `field` names, which may be left out where there is one only.
std::size_t read_field_name(const TableReader& table, const Problem& problem);
/// One expression per component: a single value for one component, else a list, or an expression that is a vector.
std::vector<Expression> read_values(const Value& value, const std::string& path, int count);
/// Key `components`: numbers from 0, none twice; nothing when it is left out.
std::vector<int> read_components(const TableReader& table, const Field& field);
/// A number or a string. Throws InputError for anything else, empty strings and numbers that are not finite.
Expression read_expression(const Value& value, std::string_view path);
/// The same for a list of them (vector) and a list of equal lists (matrix).
TensorExpression read_tensor(const Value& value, std::string_view path);
/// A tag as text: an integer, or a string that is not blank.
std::string read_tag(const Value& value, std::string_view path);
/// A tag or a list of tags, none twice; `or_else` is what else is accepted, for messages.
TagList read_tag_list(const Value& value, const std::string& path, std::string_view or_else = "");

/// Throws InputError unless the name is an identifier with no meaning in forms (language, test functions).
void require_name(const std::string& name, const Location& location, std::string_view path, const Problem& problem);
/// The same, and no field, coefficient or definition has it.
void require_free_name(const std::string& name, const Location& location, std::string_view path,
                       const Problem& problem);

} // namespace rafter::io
