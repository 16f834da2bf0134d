// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/unused_keys.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/table_reader.hpp>
#include <rafter/solve/residual_problem.hpp>

namespace rafter::io {
namespace {

void add_keys(const Value& value, const std::string& path, std::vector<GivenKey>& keys) {
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (value.kind == Value::Kind::table) {
      const auto& [name, location] = value.keys[i];
      const auto inner = path.empty() ? name : path + "." + name;
      keys.push_back({inner, location});
      add_keys(value.items[i], inner, keys);
    } else
      add_keys(value.items[i], fmt::format("{}[{}]", path, i), keys);
  }
}

using Names = std::set<std::string>;

/// Adds the names in a text of the form language. What follows a point is an operation ("u.dx(0)"). A text that is none
/// of the form language, such as a path, adds words that no harm comes of: they only keep warnings away.
void add_names(std::string_view text, Names& names) {
  const auto is_part = [](char c) { return is_identifier(std::string("a") + c); };
  for (std::size_t i = 0; i < text.size();) {
    if (!is_part(text[i])) {
      ++i;
      continue;
    }
    const auto begin = i;
    while (i < text.size() && is_part(text[i])) ++i;
    const auto word = text.substr(begin, i - begin);
    if (is_identifier(word) && (begin == 0 || text[begin - 1] != '.')) names.emplace(word);
  }
}

void add_names(const Value& value, Names& names) {
  if (value.kind == Value::Kind::string) add_names(value.text, names);
  for (const auto& item : value.items) add_names(item, names);
}

/// The names that the texts of some sections have.
Names names_outside_of(const Value& root, const Names& sections) {
  Names names;
  for (std::size_t i = 0; i < root.keys.size(); ++i)
    if (!sections.contains(root.keys[i].name)) add_names(root.items[i], names);
  return names;
}

/// A name of the problem file, the key that gives it, and the names in its text.
struct NamedText {
  std::string name, path;
  Names names;
};

std::vector<NamedText> named_texts(const Value& root) {
  std::vector<NamedText> result;
  for (const char* section : {"coefficients", "definitions"})
    if (const Value* table = root.find(section))
      for (std::size_t i = 0; i < table->keys.size(); ++i) {
        const auto& key = table->keys[i].name; // of a definition with parameters "P(u, p)"
        auto& text = result.emplace_back(NamedText{
            std::string(base::trimmed(key.substr(0, key.find('(')))), fmt::format("{}.{}", section, key), {}});
        add_names(table->items[i], text.names);
      }
  return result;
}

/// The names that are used, where names of `texts` that are used lead on to those in their texts.
Names with_names_behind(Names names, std::span<const NamedText> texts) {
  for (bool has_grown = true; has_grown;) {
    const auto before = names.size();
    for (const auto& text : texts)
      if (names.contains(text.name)) names.insert(text.names.begin(), text.names.end());
    has_grown = names.size() > before;
  }
  return names;
}

/// Says whether a later condition holds wherever a condition does, as far as the file says: what one tag has another
/// one may have, too, and facets inside the domain have tags without being part of the whole boundary.
bool is_overridden(const Problem& problem, std::size_t number) {
  const auto& condition = problem.dirichlet[number];
  const auto& field = problem.fields[condition.field];
  std::vector<int> components = condition.components;
  for (int c = 0; condition.components.empty() && c < field.num_components(); ++c) components.push_back(c);
  const auto is_held_later = [&](const std::string& tag, int component) { // "": on the whole boundary
    return std::any_of(problem.dirichlet.begin() + static_cast<std::ptrdiff_t>(number) + 1, problem.dirichlet.end(),
                       [&](const Dirichlet& other) {
                         const bool has_component =
                             other.components.empty() || std::ranges::count(other.components, component) > 0;
                         const bool has_tag = tag.empty() ? other.is_all : std::ranges::count(other.tags.tags, tag) > 0;
                         return other.field == condition.field && has_component && has_tag;
                       });
  };
  const std::vector<std::string> tags = condition.is_all ? std::vector<std::string>{""} : condition.tags.tags;
  return std::ranges::all_of(tags, [&](const auto& tag) {
    return std::ranges::all_of(components, [&](int component) { return is_held_later(tag, component); });
  });
}

bool has_boundary_values(const Problem& problem) {
  return std::ranges::any_of(problem.dirichlet, [](const Dirichlet& condition) {
    return std::ranges::any_of(condition.values, [](const Expression& value) { return value.number != 0.0; });
  });
}

} // namespace

std::vector<GivenKey> given_keys(const Value& root) {
  std::vector<GivenKey> keys;
  add_keys(root, "", keys);
  return keys;
}

void warn_unused(const Problem& problem, std::string_view path, std::string_view reason) {
  const auto key = std::ranges::find(problem.keys, path, &GivenKey::path);
  if (key != problem.keys.end())
    base::warn(fmt::format("{}: key {} is not used: {}", key->location.text(), path, reason));
}

void warn_of_unused_names(const Value& root, const Problem& problem) {
  const auto texts = named_texts(root);
  const auto used = with_names_behind(names_outside_of(root, {"title", "coefficients", "definitions"}), texts);
  for (const auto& text : texts)
    if (!used.contains(text.name))
      warn_unused(problem, text.path, fmt::format("no form, condition or output has the name {}", text.name));
}

void warn_of_unused_keys(const Value& root, const Problem& problem) {
  const bool has_blocks =
      problem.solver.preconditioner == "block" && !solvers::find_method(problem.solver.method).is_direct;
  if (!has_blocks)
    warn_unused(problem, "forms.preconditioner",
                fmt::format("it is for solver.preconditioner = \"block\"; the preconditioner is \"{}\"",
                            problem.solver.preconditioner));
  for (const char* rule : {"points", "degree"})
    if (std::ranges::find(problem.keys, fmt::format("numerics.{}", rule), &GivenKey::path) != problem.keys.end())
      warn_unused(problem, "numerics.max_degree",
                  fmt::format("it is for degrees that the form decides; numerics.{} gives the rule", rule));
  if (problem.time && !problem.time->restart.empty())
    for (const auto& field : problem.fields)
      warn_unused(problem, fmt::format("fields.{}.initial", field.name), "time.restart gives the first state");
  for (std::size_t i = 0; i < problem.dirichlet.size(); ++i)
    if (is_overridden(problem, i))
      warn_unused(problem, fmt::format("dirichlet[{}].value", i), "later conditions hold wherever this one does");
  if (!problem.mesh.box)
    warn_unused(problem, "solver.multigrid.semicoarsening", "it is for mesh.box; the mesh is a file");
  const auto names =
      with_names_behind(names_outside_of(root, {"title", "coefficients", "definitions"}), named_texts(root));
  if (problem.newton.load_steps > 1 && !has_boundary_values(problem) && !names.contains(solvers::load_factor_name))
    warn_unused(problem, "newton.load_steps",
                fmt::format("nothing grows with the load: [[dirichlet]] has no values but 0, and no text the name {}",
                            solvers::load_factor_name));
  warn_of_unused_names(root, problem);
}

} // namespace rafter::io
