// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/device/buffer_registry.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/operator/run/ghosts.hpp>

namespace rafter::op {

struct System;

/// Holds what a form reads besides its trial functions: the values of its data fields, each in a vector of its own, and
/// those of its constants and parameters. They are bound by name and may change at any time; kernels read them at every
/// application and compute again what they have stored of them.
class FormData {
public:
  /// Constants begin with the values that they have in the form; parameters and data fields begin without values.
  FormData(const form::LoweredForm& form, std::shared_ptr<device::Device> device);

  /// Copies the values of a data field, which are a vector of its space. On a part of a mesh all processes do so
  /// together, and ghosts get the values of their owners. Throws InputError for a name that no data field of the form
  /// has or that several have, and for vectors of another size.
  void set(const std::string& name, const Vector& values);
  /// The same for values that are entries of a vector, such as those of a field in a vector of a system.
  void set(const std::string& name, const Vector& values, const EntryRange& range);
  /// Sets the components of a constant or parameter, row-major. Throws InputError for a name that none of the form has,
  /// for another number of components, and for values that are not finite.
  void set(const std::string& name, std::span<const double> values);
  void set(const std::string& name, double value) { set(name, std::span(&value, 1)); }
  /// Copies the values of all data fields whose spaces are among those of the system from a vector of it. Throws
  /// InputError for vectors of another size.
  void set_fields(const System& system, const Vector& values);
  /// Gives every data field and parameter without values numbers between 0.5 and 1, the same in every run: kernels are
  /// timed and compared on them.
  void set_missing();
  bool has_parameter(const std::string& name) const; ///< says whether the form has a parameter or constant of this name

  std::size_t num_fields() const { return fields_.size(); }
  /// Says whether all data fields and parameters have values.
  bool has_values() const { return missing_fields().empty() && missing_parameters().empty(); }
  /// Throws InputError that names the data fields or parameters without values, if there are any.
  void require_values() const;
  /// Values of data field i. Throws InputError where it has none.
  const Vector& field(std::size_t i) const;
  /// Values of constants and parameters, shape (parameter of the form); NaN: none is given.
  const Vector& parameters() const { return parameters_; }

  /// Registers constants and parameters, and as inputs from number `first` on the data fields that have values.
  void add_to(device::BufferRegistry& registry, std::size_t first) const;

  /// Version of the last change of data field i, of parameter i. Versions count the changes of all values from 1 on; 0:
  /// the field has no values yet.
  std::uint64_t field_version(std::size_t i) const { return fields_[i].version; }
  std::uint64_t parameter_version(std::size_t i) const { return parameter_versions_[i]; }
  std::uint64_t version() const { return version_; } ///< version of the last change of any value

private:
  struct Field {
    std::string name;
    std::shared_ptr<const form::FieldSpace> space;
    std::int64_t size = 0;
    std::optional<Vector> values;
    std::uint64_t version = 0;            ///< 0: it has no values yet
    std::unique_ptr<const Ghosts> ghosts; ///< null: the mesh is whole, or they were not asked for yet
  };
  /// Copies entries of a vector, from `begin` on, to the field.
  void copy(Field& field, const Vector& values, std::int32_t begin);
  void update_ghosts(Field& field);
  std::vector<std::string> missing_fields() const;
  std::vector<std::string> missing_parameters() const;
  std::shared_ptr<device::Device> device_;
  std::vector<Field> fields_;
  std::vector<form::CoefficientComponent> components_; ///< coefficient and component of each parameter
  Vector parameters_;
  std::vector<std::uint64_t> parameter_versions_;
  std::uint64_t version_ = 1;
};

} // namespace rafter::op
