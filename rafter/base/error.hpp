// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stdexcept>
#include <string>

namespace rafter::base {

/// Base of all exceptions thrown by Rafter. The library never prints and never exits; the command maps kinds to exit
/// codes.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The user's input is wrong (file, form, problem, option): exit code 2. The message says where the error is, what was
/// found and what would be right.
class InputError : public Error {
public:
  using Error::Error;
};

/// The environment is wrong (no compiler, no memory, disk full, no permission): exit code 3.
class EnvironmentError : public Error {
public:
  using Error::Error;
};

/// A solver failed in a way that has a name (divergence, breakdown, indefinite operator): exit code 1.
class SolverError : public Error {
public:
  using Error::Error;
};

/// A fault of Rafter's own (a verifier found a malformed program, an impossible state): exit code 4.
class InternalError : public Error {
public:
  using Error::Error;
};

} // namespace rafter::base
