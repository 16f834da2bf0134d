// SPDX-License-Identifier: BSD-3-Clause
// This file reads the section time.

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/io/problem_sections.hpp>
#include <rafter/solve/theta_stepper.hpp>

namespace rafter::io {
namespace {

/// Refuses the name that stands for the time in problems with [time], so that nothing else may have it.
void refuse_time_name(const Problem& problem) {
  const auto require_other_name = [](const auto& entries, const std::string& section) {
    for (const auto& entry : entries)
      if (entry.name == form::time_name)
        refuse(entry.location, section + entry.name,
               "the name is that of the time in problems with [time]; choose another name");
  };
  require_other_name(problem.fields, "fields.");
  require_other_name(problem.coefficients, "coefficients.");
  require_other_name(problem.definitions, "definitions.");
}

/// Reads a positive number; messages call it the length of a time step.
double read_step(const TableReader& table) {
  const Value& value = table.require("step", "the length of a time step, a number above 0");
  const double step = read_number(value, "time.step", "the length of a time step, a number above 0");
  if (!(step > 0)) refuse_value(value, "time.step", "the length of a time step, a number above 0");
  return step;
}

double read_theta(const TableReader& table) {
  constexpr const char* accepted =
      "a number from 0 to 1: 1 is the implicit Euler method, 0.5 that of Crank and Nicolson";
  const Value* value = table.find("theta");
  if (value == nullptr) return 1;
  const double theta = read_number(*value, "time.theta", accepted);
  if (!(theta >= 0 && theta <= 1)) refuse_value(*value, "time.theta", accepted);
  return theta;
}

} // namespace

void read_time(const TableReader& table, Problem& problem) {
  table.accept_only(std::vector<std::string>{"start", "end", "step", "theta", "restart"});
  refuse_time_name(problem);
  const auto& own = table.value().location;
  Time time{.location = own, .end_location = own, .theta_location = own, .restart_location = own};
  time.step = read_step(table);
  time.theta = read_theta(table);
  if (const Value* theta = table.find("theta")) time.theta_location = theta->location;
  const Value& end = table.require("end", "the last time, a number");
  time.end = read_number(end, "time.end");
  time.end_location = end.location;
  time.start = table.number("start", -infinity, infinity).value_or(0);
  if (const Value* restart = table.find("restart")) {
    if (const Value* start = table.find("start"))
      refuse(start->location, "time.start", "stands beside time.restart, whose file gives the time to go on from");
    time.restart = read_string(*restart, "time.restart");
    if (time.restart.empty())
      refuse_value(*restart, "time.restart",
                   "the name of an output of a run with [time]; without the key a run begins "
                   "at time.start");
    time.restart_location = restart->location;
  } else if (!(time.end > time.start))
    refuse_value(end, "time.end", fmt::format("a time after time.start = {}", time.start));
  if (time.restart.empty()) try {
      static_cast<void>(solvers::TimeGrid(time.start, time.end, time.step, time.theta));
    } catch (const base::InputError& error) {
      refuse(time.location, "time", error.what());
    }
  problem.time = time;
}

} // namespace rafter::io
