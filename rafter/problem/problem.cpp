// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/problem.hpp>

#include <rafter/form/language.hpp>

namespace rafter::problem {
namespace {

form::FunctionalText text_of(const std::string& name, const form::Form& form) {
  auto number = std::make_shared<form::CoefficientData>();
  number->name = name;
  number->values = {1.0}; // a value is needed until the functional is evaluated
  return {.integrals = {{form, number}}, .value = form::coefficient(number)};
}

} // namespace

NamedFunctional::NamedFunctional(std::string of, const form::Form& form)
    : name(std::move(of)), text(text_of(name, form)), origin("functional '" + name + "'") {}

} // namespace rafter::problem
