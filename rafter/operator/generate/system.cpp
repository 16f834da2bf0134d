// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/system.hpp>

#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {

namespace {

void require_one_mesh(const System& system, const std::shared_ptr<const space::FunctionSpace>& space) {
  if (space->discretisation() != system.discretisation)
    throw base::InputError("the fields of a system must be on one discretisation, a mesh with its batches of cells; '" +
                           space->name + "' is on another one: make its space on the discretisation of the others");
}

} // namespace

EntryRange System::entries(std::size_t field) const {
  const std::int64_t begin = offset(field), end = begin + spaces[field]->num_local();
  return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
}

std::int64_t System::offset(std::size_t field) const {
  std::int64_t result = 0;
  for (std::size_t f = 1; f <= field; ++f) {
    const std::int64_t step = std::lcm(alignment, std::int64_t{spaces[f]->num_components()});
    result = (result + spaces[f - 1]->num_local() + step - 1) / step * step;
  }
  return result;
}

std::int64_t System::size() const {
  return spaces.empty() ? 0 : offset(spaces.size() - 1) + spaces.back()->num_local();
}

std::int64_t System::num_unknowns() const {
  std::int64_t result = 0;
  for (const auto& space : spaces) result += space->num_dofs();
  return result;
}

std::vector<EntryRange> System::owned_ranges() const {
  std::vector<EntryRange> result;
  for (std::size_t f = 0; f < spaces.size(); ++f) {
    const auto begin = offset(f), end = begin + spaces[f]->index_map().num_owned();
    result.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)});
  }
  return result;
}

std::vector<std::int32_t> System::padding() const {
  std::vector<std::int32_t> result;
  for (std::size_t f = 0; f + 1 < spaces.size(); ++f)
    for (auto entry = offset(f) + spaces[f]->num_local(); entry < offset(f + 1); ++entry)
      result.push_back(static_cast<std::int32_t>(entry));
  return result;
}

std::size_t System::index_of(const form::FieldSpace& space) const {
  for (std::size_t f = 0; f < spaces.size(); ++f)
    if (spaces[f].get() == &space) return f;
  throw base::InputError("the form uses field '" + space.name + "', which is not a field of this system");
}

System make_system(std::vector<std::shared_ptr<const space::FunctionSpace>> spaces) {
  if (spaces.empty()) throw base::InputError("a system needs at least one function space");
  const auto discretisation = spaces.front()->discretisation();
  System system{.discretisation = discretisation,
                .mesh = discretisation->mesh_ptr(),
                .batches = {discretisation, &discretisation->batches()},
                .spaces = std::move(spaces)};
  for (const auto& space : system.spaces) require_one_mesh(system, space);
  if (system.size() >= std::int64_t{1} << 31)
    throw base::InputError(
        fmt::format("the vectors of the system have {} entries; a process holds at most 2147483647", system.size()));
  return system;
}

Systems::Systems(System test_functions, System trial_functions)
    : test(std::move(test_functions)), trial(std::move(trial_functions)) {
  for (const auto& space : trial.spaces) require_one_mesh(test, space);
}

const mesh::CellGroup& group_of(const System& system, int group) {
  const auto& groups = system.mesh->groups;
  if (group < 0 || static_cast<std::size_t>(group) >= groups.size())
    throw base::InputError(fmt::format("the mesh has no group {} of cells; it has {}", group, groups.size()));
  return groups[static_cast<std::size_t>(group)];
}

int num_local_unknowns(const System& system, int group) {
  const auto shape = group_of(system, group).shape;
  int result = 0;
  for (const auto& space : system.spaces) result += space->num_components() * space->element(shape)->num_dofs();
  return result;
}

void check_size(const System& system, std::size_t size, const char* what) { check_size(system.size(), size, what); }
void check_size(std::int64_t expected, std::size_t size, const char* what) {
  if (static_cast<std::int64_t>(size) != expected)
    throw base::InputError(fmt::format("{} has {} entries, the system has {}", what, size, expected));
}

} // namespace rafter::op
