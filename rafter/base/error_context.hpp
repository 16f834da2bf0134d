// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/base/error.hpp>

namespace rafter::base {

/// Runs an operation. Its errors keep their kind and get "context: " before their message, so that users learn which of
/// several parts has failed. Faults of Rafter's own stay as they are.
template <class Operation> auto with_context(const std::string& context, const Operation& operation) {
  const auto text = [&](const Error& error) { return context + ": " + error.what(); };
  try {
    return operation();
  } catch (const InputError& error) {
    throw InputError(text(error));
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(text(error));
  } catch (const SolverError& error) {
    throw SolverError(text(error));
  }
}

} // namespace rafter::base
