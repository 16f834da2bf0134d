// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/operator/levels/injection.hpp>
#include <rafter/operator/operator.hpp>

namespace rafter::op {

/// Throws InputError where several data fields of a form have one name, as values are known by it.
void require_names_apart(const form::LoweredForm& form);

/// Brings the values of data fields, constants and parameters from an operator to that of the next coarser level, or to
/// one that a preconditioner works with in its place.
class LevelData {
public:
  /// Both operators have the same form on spaces of their own, or one is made of parts of the other's; names that both
  /// have are served. `refinement` and `nodes` connect their meshes as in InjectionSpecification. Throws the errors of
  /// Injection.
  LevelData(std::shared_ptr<const Operator> finer, std::shared_ptr<Operator> coarser,
            const mesh::Refinement* refinement, std::shared_ptr<const space::LowOrderRefinement> nodes = {});

  /// Gives the coarser operator the values that have changed since the last call, and those that the finer one has now
  /// at the first. Values that are not given yet are left out. Says whether there was any. It is for one thread at a
  /// time, while nobody applies the coarser operator.
  bool follow();
  /// Gives the coarser operator the values of data fields back that it had before the last follow(), as the law of a
  /// form need not have a value at an injected state. Parameters stay. False: nothing has changed, or there were no
  /// values before.
  bool retreat();

private:
  struct Field {
    std::string name;
    std::size_t number = 0;                     ///< number of the data field of the finer operator
    std::shared_ptr<const Injection> injection; ///< null: both are on the same space
    std::int64_t size = 0;                      ///< number of entries of the coarser vector
    std::uint64_t version = 0;                  ///< version of the values that the coarser operator has
    std::optional<Vector> values, before;       ///< values that the coarser operator has, and had before
    bool has_changed = false;                   ///< the last follow() changed the values
  };
  struct Parameter {
    std::string name;
    std::vector<double> values;            ///< shape (component); 0 where the form does not use one
    std::map<std::size_t, int> components; ///< number of the parameter of the finer operator -> component
    std::uint64_t version = 0;
  };
  void add_fields(const mesh::Refinement* refinement, const std::shared_ptr<const space::LowOrderRefinement>& nodes);
  void add_parameters();
  bool follow(Field& field);
  bool follow(Parameter& parameter);

  std::shared_ptr<const Operator> finer_;
  std::shared_ptr<Operator> coarser_;
  std::vector<Field> fields_;
  std::vector<Parameter> parameters_;
};

} // namespace rafter::op
