// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mutex>
#include <optional>
#include <string>

#include <rafter/solve/hypre_interface.hpp>

/// Opens the adapter to hypre (adapters/hypre) at run time.
namespace rafter::solvers {

/// Returns the functions of the adapter, which stays open as long as the process. It is looked for at the place that
/// the environment variable RAFTER_HYPRE_MODULE names, or else where builds and installations of Rafter put it. Throws
/// EnvironmentError, with how to get it, where there is none that can be opened.
const RafterHypreFunctions& hypre_functions();

/// Must be held while a function of the adapter runs: hypre keeps state of its own in the process.
std::mutex& hypre_mutex();

/// Returns the version of hypre, or nothing where the adapter is not there.
std::optional<std::string> hypre_version();

} // namespace rafter::solvers
