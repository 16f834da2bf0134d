// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include <nlohmann/json.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/report/figures.hpp>
#include <rafter/report/report.hpp>

namespace rafter::report {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const FigureValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return Json();
        else
          return Json(held);
      },
      value);
}

/// A row without its empty figures.
template <class Row> Json row_json(std::span<const Figure<Row>> figures, const Row& row) {
  Json result = Json::object();
  for (const auto& figure : figures)
    if (const auto value = figure.value(row); !figure.key.empty() && !std::holds_alternative<std::monostate>(value))
      result[figure.key] = value_json(value);
  return result;
}

/// Says what the keys of the rows of a list mean.
template <class Row> Json legend_json(std::span<const Figure<Row>> figures) {
  Json result = Json::object();
  for (const auto& figure : figures)
    if (!figure.key.empty()) result[figure.key] = figure.meaning;
  return result;
}

Json operator_json(const OperatorReport& report) {
  Json result = row_json(operator_figures(), report);
  result["plans"] = Json::array();
  for (const auto& [kernel, plan] : report.plans) result["plans"].push_back({{"kernel", kernel}, {"plan", plan}});
  return result;
}

Json newton_json(const std::vector<NewtonStepReport>& steps) {
  Json list = Json::array();
  int iterations = 0;
  for (const auto& row : newton_rows(steps)) {
    list.push_back(row_json(newton_figures(), row));
    if (!row.step.is_last) iterations += row.step.linear_iterations;
  }
  return {{"linear_iterations", iterations}, {"steps", std::move(list)}};
}

Json machine_json(const MachineReport& machine) {
  Json result{{"name", machine.name},
              {"threads", machine.threads},
              {"gflops", machine.gflops},
              {"gbytes_per_second", machine.gbytes_per_second}};
  if (!machine.warning.empty()) result["warning"] = machine.warning;
  return result;
}

Json time_json(const TimeReport& time) {
  Json steps = Json::array();
  for (const auto& step : time.steps) {
    Json entry{{"time", step.time}, {"iterations", step.iterations}, {"residual", step.residual}};
    if (step.newton_steps > 0) entry["newton_steps"] = step.newton_steps;
    steps.push_back(std::move(entry));
  }
  return {{"start", time.start},
          {"end", time.end},
          {"step", time.step},
          {"theta", time.theta},
          {"steps", std::move(steps)}};
}

template <class T> Json object(const std::vector<std::pair<std::string, T>>& entries) {
  Json result = Json::object();
  for (const auto& [key, value] : entries) result[key] = value;
  return result;
}

} // namespace

std::string to_json(const SolveReport& report) {
  Json json;
  json["title"] = report.title;
  json["version"] = report.version.empty() ? RAFTER_VERSION : report.version;
  json["status"] = report.status;
  if (!report.message.empty()) json["message"] = report.message;
  json["dofs"] = report.dofs;
  json["cells"] = object(report.cells);
  if (!report.method.empty()) json["method"] = report.method;
  if (!report.reason.empty()) json["reason"] = report.reason;
  if (!report.preconditioner_name.empty()) json["preconditioner_name"] = report.preconditioner_name;
  if (!report.preconditioner.empty()) json["preconditioner"] = report.preconditioner;
  if (report.factors)
    json["factors"] = {{"kind", report.factors->kind},
                       {"entries", report.factors->entries},
                       {"fill", report.factors->fill},
                       {"bytes", report.factors->bytes},
                       {"negative_pivots", report.factors->negative_pivots}};
  for (const auto& [kernels, rule] : report.quadrature)
    json["quadrature"].push_back({{"kernels", kernels}, {"rule", rule}});
  json["iterations"] = report.iterations;
  json["residual"] = report.residual;
  json["history"] = report.history;
  if (!report.newton.empty()) json["newton"] = newton_json(report.newton);
  if (report.time) json["time"] = time_json(*report.time);
  if (report.residuals) {
    auto& residuals = json["residuals"];
    residuals["norm"] = report.residuals->norm;
    residuals["residual"] = report.residuals->residual;
    if (report.residuals->preconditioned) residuals["preconditioned"] = *report.residuals->preconditioned;
    residuals["of_first_residual"] = report.residuals->of_first_residual;
  }
  if (!report.warning.empty()) json["warning"] = report.warning;
  if (report.relative_error > 0) json["relative_error"] = report.relative_error;
  json["errors"] = Json::object();
  for (const auto& [field, errors] : report.errors) json["errors"][field] = {{"l2", errors.l2}, {"h1", errors.h1}};
  json["functionals"] = object(report.functionals);
  json["seconds"] = object(report.seconds);
  for (const auto& [phase, copies] : report.copies)
    json["copies"][phase] = {{"bytes_to_device", copies.bytes_to_device},
                             {"num_to_device", copies.num_to_device},
                             {"bytes_to_host", copies.bytes_to_host},
                             {"num_to_host", copies.num_to_host}};
  json["operators"] = Json::array();
  for (const auto& entry : report.operators) json["operators"].push_back(operator_json(entry));
  json["machine"] = machine_json(report.machine);
  if (report.peak_memory_bytes > 0) json["peak_memory_bytes"] = report.peak_memory_bytes;
  json["legend"]["operators"] = legend_json(operator_figures());
  if (!report.newton.empty()) json["legend"]["newton"] = legend_json(newton_figures());
  // Titles come from files that may be damaged: bytes that are not UTF-8 are replaced, not refused.
  return base::terminal_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

} // namespace rafter::report
