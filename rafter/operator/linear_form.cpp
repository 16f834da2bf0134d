// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/linear_form.hpp>

#include <mutex>
#include <utility>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>

namespace rafter::op {

/// What computes vectors of cells, made on first use.
struct LinearForm::CellVectors {
  std::mutex mutex;
  std::unique_ptr<const CellVectorArrays> arrays;
};

LinearForm::LinearForm(const form::Form& form, const System& system, const OperatorOptions& options)
    : LinearForm(build_compiled(form, 1, system, options)) {}

LinearForm::LinearForm(std::shared_ptr<const GeneratedForm> built)
    : data_(std::make_shared<FormData>(built->form, built->options.device)),
      kernels_(std::make_unique<FormKernels>(std::move(built), data_)), usage_(std::make_unique<UsageCounter>()),
      cell_vectors_(std::make_unique<CellVectors>()) {}

LinearForm::LinearForm(LinearForm&&) noexcept = default;
LinearForm& LinearForm::operator=(LinearForm&&) noexcept = default;
LinearForm::~LinearForm() = default;

void LinearForm::set(const std::string& name, const Vector& values) { data_->set(name, values); }

void LinearForm::set(const std::string& name, const Vector& values, const EntryRange& range) {
  data_->set(name, values, range);
}

void LinearForm::set(const std::string& name, const std::vector<double>& values) { data_->set(name, values); }

void LinearForm::set(const std::string& name, double value) { data_->set(name, value); }

void LinearForm::set_fields(const System& system, const Vector& values) { data_->set_fields(system, values); }

void LinearForm::assemble(Vector& b) const {
  const auto timer = usage_->run();
  kernels_->run(nullptr, b, false);
}

const CellVectorArrays& LinearForm::cell_vector_arrays() const {
  const std::lock_guard lock(cell_vectors_->mutex);
  if (cell_vectors_->arrays == nullptr)
    cell_vectors_->arrays = std::make_unique<const CellVectorArrays>(kernels_->built(), data_);
  return *cell_vectors_->arrays;
}

void LinearForm::cell_vectors(std::span<const CellArray<double>> arrays) const { cell_vector_arrays().run(arrays); }

void LinearForm::cell_vectors(std::span<const CellArray<float>> arrays) const { cell_vector_arrays().run(arrays); }

Functional::Functional(const form::Form& form, const System& system, const OperatorOptions& options)
    : Functional(build_compiled(form, 0, system, options)) {}

Functional::Functional(std::shared_ptr<const GeneratedForm> built)
    : built_(std::move(built)), kernels_(std::make_unique<FormKernels>(built_)) {}

Functional::Functional(Functional&&) noexcept = default;
Functional& Functional::operator=(Functional&&) noexcept = default;
Functional::~Functional() = default;

void Functional::set(const std::string& name, const Vector& values) { kernels_->data().set(name, values); }

void Functional::set(const std::string& name, const Vector& values, const EntryRange& range) {
  kernels_->data().set(name, values, range);
}

void Functional::set(const std::string& name, const std::vector<double>& values) { kernels_->data().set(name, values); }

void Functional::set(const std::string& name, double value) { kernels_->data().set(name, value); }

double Functional::operator()(const Vector& fields) const { return values(fields).front(); }

double Functional::operator()() const { return values().front(); }

std::vector<double> Functional::values(const Vector& fields) const {
  kernels_->data().set_fields(built_->system, fields);
  return values();
}

std::vector<double> Functional::values() const { return kernels_->integrals(); }

} // namespace rafter::op
