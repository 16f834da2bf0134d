// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/operator/usage.hpp>

/// Assembles right-hand sides and evaluates functionals.
namespace rafter::op {

class CellVectorArrays;
class FormData;
class FormKernels;
template <class T> struct CellArray;

/// A linear form, which assembles its vector.
class LinearForm {
public:
  LinearForm(const form::Form& form, const System& system, const OperatorOptions& options = {});
  explicit LinearForm(std::shared_ptr<const GeneratedForm> built); ///< takes compiled kernels
  LinearForm(LinearForm&&) noexcept;
  LinearForm& operator=(LinearForm&&) noexcept;
  ~LinearForm();
  /// Binds values by name, as Operator::set and Operator::set_fields do.
  void set(const std::string& name, const Vector& values);
  void set(const std::string& name, const Vector& values, const EntryRange& range);
  void set(const std::string& name, const std::vector<double>& values);
  void set(const std::string& name, double value);
  void set_fields(const System& system, const Vector& values);
  void assemble(Vector& b) const; ///< computes b_i = L(phi_i), shape (entry of the system)
  /// Fills arrays with the vectors of cells, as Operator::cell_matrices does with matrices. The first call compiles
  /// kernels. Throws the errors of CellVectorArrays.
  void cell_vectors(std::span<const CellArray<double>> arrays) const;
  void cell_vectors(std::span<const CellArray<float>> arrays) const; ///< rounds the vectors to floats
  Usage usage() const { return usage_->usage(); }
  const FormKernels& kernels() const { return *kernels_; }

private:
  struct CellVectors;
  const CellVectorArrays& cell_vector_arrays() const;
  std::shared_ptr<FormData> data_; ///< data of both kinds of kernels
  std::unique_ptr<FormKernels> kernels_;
  std::unique_ptr<UsageCounter> usage_;
  std::unique_ptr<CellVectors> cell_vectors_;
};

/// A functional: a number that depends on data fields and parameters; or several that are computed together.
class Functional {
public:
  Functional(const form::Form& form, const System& system, const OperatorOptions& options = {});
  explicit Functional(std::shared_ptr<const GeneratedForm> built); ///< takes compiled kernels
  Functional(Functional&&) noexcept;
  Functional& operator=(Functional&&) noexcept;
  ~Functional();
  /// Binds values by name, as Operator::set does.
  void set(const std::string& name, const Vector& values);
  void set(const std::string& name, const Vector& values, const EntryRange& range);
  void set(const std::string& name, const std::vector<double>& values);
  void set(const std::string& name, double value);
  /// Returns the value for these values of the fields of the system, and for those that were set of other data fields.
  /// Throws InputError where values are missing.
  double operator()(const Vector& fields) const;
  double operator()() const; ///< returns the value for the values that were set
  /// Returns all values, in the order of the functionals that are computed together.
  std::vector<double> values(const Vector& fields) const;
  std::vector<double> values() const; ///< returns all values for the values that were set
  const FormKernels& kernels() const { return *kernels_; }

private:
  std::shared_ptr<const GeneratedForm> built_;
  std::unique_ptr<FormKernels> kernels_;
};

} // namespace rafter::op
